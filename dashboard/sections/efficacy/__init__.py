"""Efficacy, one page: the exposure of each method, and against membership."""
