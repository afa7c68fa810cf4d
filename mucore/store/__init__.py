"""What is kept: results, models, artifacts, comparisons and the job table. Nothing here imports
torch.

    with open_store() as store:
        frame = store.summaries(dataset="digits")

`rows.py` has the frozen records, `store.py` the `Store` they go into, `schema.py` its tables.
"""

from __future__ import annotations

from mucore.store.artifacts import Artifacts
from mucore.store.claims import LostJob
from mucore.store.guests import GuestStore
from mucore.store.pack import open_pack, pack_provenance, write_pack
from mucore.store.rows import (
    ACTIVE,
    Comparison,
    Job,
    JobState,
    Measured,
    Model,
    Result,
    Talk,
    Worker,
)
from mucore.store.store import REMOVAL, Store, open_store
from mucore.store.talks import BallotBox
from mucore.userfiles.paths import default_home

__all__ = [
    "ACTIVE",
    "REMOVAL",
    "Artifacts",
    "BallotBox",
    "Comparison",
    "GuestStore",
    "Job",
    "JobState",
    "LostJob",
    "Measured",
    "Model",
    "Result",
    "Store",
    "Talk",
    "Worker",
    "default_home",
    "open_pack",
    "open_store",
    "pack_provenance",
    "write_pack",
]
