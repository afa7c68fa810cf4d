"""The sections of the page that compares runs, one file each, with a function `show`; what they
share stands in parts.py.
"""
