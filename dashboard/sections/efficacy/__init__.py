"""The parts of the page Efficacy: spread, ranking, membership, what the paper says."""
