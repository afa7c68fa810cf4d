"""Measurements that need a live model, and give arrays for the functions of mucore/metrics."""
