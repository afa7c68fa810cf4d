"""What holds for all tests."""

from hypothesis import settings

# How long an example takes depends on what else the machine does, and says nothing about the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
