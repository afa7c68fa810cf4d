"""The parts of the page Launch: data and recipe, what to forget, who forgets it, what results
depend on, and what it comes to.
"""
