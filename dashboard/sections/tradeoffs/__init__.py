"""The parts of the page Trade-offs: the front, its goals; many requests."""
