"""The parts of the page Methods: card, settings, results."""
