"""`Session`: what a process has in hand for runs: its device, data, networks and forget sets, each
made once or read from the store.
"""

from __future__ import annotations

from mucore.runner.forget_set import ForgetSets
from mucore.runner.models import Models


class Session(Models, ForgetSets):
    """One process's view of store and device."""
