"""The parts of the page Budget curves: curves, printed numbers, what to read in them."""
