"""The parts of the page Persons: table, one run."""
