"""The parts of the page Compare: its choice of runs, one sample, and one file a view."""
