"""The parts of the page Board: all tasks of a suite, and one of them."""
