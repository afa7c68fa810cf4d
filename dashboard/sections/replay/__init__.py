"""The parts of the page Replay."""
