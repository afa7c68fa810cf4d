"""The parts of the page Budget curves: which panels, distances, other metrics, verdicts."""
