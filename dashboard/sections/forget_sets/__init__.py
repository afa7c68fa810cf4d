"""The parts of the page Forget sets: the ways to put samples together, what a set comes to, and the
sets that are kept.
"""
