"""Measurements that need a live model, and give arrays for the plain functions of
mucore/metrics.
"""
