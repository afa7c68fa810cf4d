"""The parts of the page Budget curves: which panels, curves, verdicts."""
