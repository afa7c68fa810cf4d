"""For tests and for the authors of methods: the contract that `check` tests, small problems, filled
stores, measured speed.
"""
