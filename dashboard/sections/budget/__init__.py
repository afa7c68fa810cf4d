"""The parts of the page Budget curves: curves, printed numbers, words around them."""
