"""The parts of the page Replay: the choice of runs, and the player."""
