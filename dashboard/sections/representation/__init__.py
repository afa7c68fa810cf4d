"""The parts of the page Representation: one file a view, and what they share."""
