"""Jobs that a process of their own takes: one that is started for this job and nothing else, and is
no worker to anybody. Imports no torch.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

from mucore.runner.heartbeat import Heartbeat, Listener
from mucore.runner.jobs import run_job
from mucore.runner.spawn import start_process
from mucore.store import Store
from mucore.store.records import Job
from mucore.store.transient_errors import waiting
from mucore.store.workers import process_id

# A process that was started for a job takes it within seconds, on a busy machine, too.
PATIENCE = timedelta(seconds=30)
UNTAKEN = "No process has taken up the computation (logs/workers.log may say why). Start it again."

STARTED: list[subprocess.Popen] = []  # by this process


def start(store: Store, job: Job) -> None:
    """Start a detached process that takes this job, unless one is at it already. Raises
    `StoreError`, `ReadOnly`.
    """
    if job.state == "running":
        return
    # a child that has ended counts as a process until its parent takes note
    STARTED[:] = [process for process in STARTED if process.poll() is None]
    STARTED.append(start_process(store, ["worker", "--job", str(job.id)]))


def untaken(job: Job) -> bool:
    """Whether the process that was started for a queued job has not come, or has died."""
    return (
        job.state == "queued"
        and job.waits_for is None
        and datetime.now(UTC) - job.queued > PATIENCE
    )


def work_on(
    store: Store,
    job: Job,
    compute: Callable[[Job, Store, Heartbeat], None],
    *,
    stop: threading.Event | None = None,
    on_event: Listener | None = None,
) -> Job:
    """Take this job, if it still waits, to its end; the job as it is then. Once `stop` is set it
    goes back to the queue.
    """
    with waiting(lambda _what, seconds: time.sleep(seconds)):
        store.reap()
        while True:
            claimed = store.claim(process_id(), only=[job.key])
            if claimed is not None:
                heartbeat = Heartbeat(store, process_id(), stop, on_event=on_event)
                try:
                    run_job(claimed, store, heartbeat, partial(compute, claimed, store, heartbeat))
                finally:
                    heartbeat.close()
            job = store.job(job.id)
            if job.state != "queued" or job.waits_for is None or (stop and stop.is_set()):
                return job
            time.sleep(1.0)  # it met trouble that passes
