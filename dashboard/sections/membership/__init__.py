"""Membership: one run looked at closely (dashboard/views/membership.py)."""
