"""What is kept: results, models, artifacts, comparisons and the job table. Nothing here imports
torch.

    with open_store() as store:
        frame = store.summaries(dataset="digits")

`Store` is one class in parts that inherit, a file each. The modules, in reading order:

The ground
- `records`: the frozen records that go in and come out; `schema`: the tables
- `database`: opening, transactions, the clock, the counter of changes
- `transient_errors`: what may pass and is tried again, told from what stays

The queue
- `jobs`: the job table: queue, cancel, retry, list
- `claims`: which job a worker takes next, and how it ends it or gives it back
- `workers`: who takes jobs, how they say that they live, when one counts as dead, and what then

What is kept
- `results`: results and models, and many of them as frames; `result_rows`: records as rows
- `comparisons`: names, grids, keys; `talks`: lessons before a room, and votes
- `artifacts`: weights and predictions as files; `storage`: the folder or object store they lie in
- `gc`: what is removed, what stays because something needs it, how much there is

All of it
- `store`: `Store`, and `open_store`; `guests`: the same for who may only read
- `pack`: results as files that travel
"""

from __future__ import annotations

from mucore.store.artifacts import Artifacts
from mucore.store.claims import LostJob
from mucore.store.gc import REMOVAL
from mucore.store.guests import GuestStore
from mucore.store.pack import open_pack, pack_provenance, write_pack
from mucore.store.records import ACTIVE, Comparison, Job, Measured, Result, Talk
from mucore.store.store import Store, open_store
from mucore.store.talks import BallotBox
from mucore.userfiles.paths import default_home
