"""The parts of the page Depoisoning: bars, attacked images."""
