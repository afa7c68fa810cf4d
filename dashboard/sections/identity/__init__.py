"""The parts of the page Identity: table, figures, one run."""
