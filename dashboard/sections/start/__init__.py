"""The parts of the page Start: the living picture, and tiles of the results."""
