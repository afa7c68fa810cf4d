"""What is kept: results, models, artifacts, comparisons and the job table. Nothing here imports
torch.

    with open_store() as store:
        frame = store.summaries(dataset="digits")

`rows.py` has the frozen records, `store.py` the `Store` they go into, `schema.py` its tables.
"""

from __future__ import annotations

from mucore.store.artifacts import Artifacts
from mucore.store.claims import LostJob
from mucore.store.gc import REMOVAL
from mucore.store.guests import GuestStore
from mucore.store.pack import open_pack, pack_provenance, write_pack
from mucore.store.rows import ACTIVE, Comparison, Job, Measured, Result, Talk
from mucore.store.store import Store, open_store
from mucore.store.talks import BallotBox
from mucore.userfiles.paths import default_home
