"""The parts of the page Report: what goes in, and the files."""
