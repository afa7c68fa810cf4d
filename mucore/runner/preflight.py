"""What is asked of a plan before this process works on it, so that nothing is queued that cannot
end. Imports torch.
"""

from __future__ import annotations

from mucore.engine import chunks
from mucore.engine.device import resolve_device
from mucore.runner import estimate
from mucore.runner.models import Models
from mucore.runner.plan import Plan
from mucore.runner.weight_files import uploaded_files
from mucore.store import Store
from mucore.userfiles import weights


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
    _check_uploaded(plan, store)
    return warning


def _check_uploaded(plan: Plan, store: Store) -> None:
    """Raise `BadFile` now, not after the first training, where weights that a user uploaded for
    some of the runs cannot be used.
    """
    networks = Models(store, "cpu")
    for text in uploaded_files(plan.grid):
        sha256, path = weights.file_hash(text, what="A run"), weights.stored(store.artifacts, text)
        needing = [s for s in plan.to_run if sha256 in (s.original_hash, *s.parameters.values())]
        for spec in needing[:1]:
            networks.given(spec, path, str(path))
