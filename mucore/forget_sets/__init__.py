"""Forget sets that somebody put together: kept by name, read from lists of ids, and searched for
exact copies of their images. No torch.
"""
