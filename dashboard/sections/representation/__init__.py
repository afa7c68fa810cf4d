"""The sections of the page about encoders, one file each, with a function `show`; what they share
stands in parts.py.
"""
