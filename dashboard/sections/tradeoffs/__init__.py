"""The parts of the page Trade-offs: the front, its goals and scatter; ranks, agreement, tests."""
