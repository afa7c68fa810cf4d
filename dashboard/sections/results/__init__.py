"""The parts of the page Results: the table and the figure beside it."""
