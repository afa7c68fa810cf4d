"""What is asked of a plan before this process works on it, so that nothing is queued that cannot
end. Imports torch.
"""

from __future__ import annotations

from mucore.engine import chunks
from mucore.engine.device import resolve_device
from mucore.runner import estimate
from mucore.runner.grid import uploaded_files
from mucore.runner.models import check_uploaded
from mucore.runner.plan import Plan
from mucore.store import Store


def check(plan: Plan, store: Store, *, device: str, anyway: bool, insist: str) -> str:
    """The warning of runs that may not fit into memory, "" where there is none.

    Raises `BadValue` for a device that is not there, and for runs that cannot fit unless they are
    wanted `anyway`; `insist` tells a person how to say so. Raises `BadFile` for uploaded weights
    that cannot be used.
    """
    resolved = resolve_device(device)
    whole = estimate.whole_memory(store.home, str(resolved))
    fit = estimate.fit_of(plan.to_run, str(resolved), chunks.free_bytes(resolved), whole)
    warning = estimate.check_fit(fit, anyway=anyway, insist=insist)
    if files := uploaded_files(plan.grid):
        check_uploaded(plan.to_run, files, store)
    return warning
