"""What the tests let other processes do with a store: `python child.py COMMAND HOME URL|-
[NUMBER]`; one JSON object a line.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import sqlalchemy as sa
from builders import make_result

from mucore.runs import RunSpec
from mucore.store import Store, open_store
from mucore.store.schema import store_info


def say(**content: Any) -> None:
    print(json.dumps(content), flush=True)


def work(store: Store, _number: int) -> None:
    """Take jobs until none is left, storing a result for each."""
    worker = store.register_worker("cpu", 1)
    say(ready=worker.id)
    sys.stdin.readline()  # all start together
    while store.jobs(states=["queued", "running"]):
        job = store.claim(worker.id)
        if job is None:
            time.sleep(0.005)
            continue
        begun = time.time()
        store.beat(job.id, worker.id, progress=0.5, step="half", losses=[1.0])
        store.put_result(make_result(RunSpec.model_validate(job.spec)))
        ended = time.time()
        store.finish_job(job.id, "done", worker_id=worker.id)
        say(key=job.key, begun=begun, ended=ended)
    store.remove_worker(worker.id)


def add(store: Store, number: int) -> None:
    """Read a number, add one in Python, write it: `number` times."""
    say(ready=True)
    sys.stdin.readline()
    mine = store_info.c.name == "results"
    begun = time.perf_counter()
    for _ in range(number):
        with store.write() as connection:
            value = connection.execute(sa.select(store_info.c.value).where(mine)).scalar_one()
            connection.execute(sa.update(store_info).where(mine).values(value=value + 1))
    say(seconds=time.perf_counter() - begun)


def hang(store: Store, _number: int) -> None:
    """Take a job and never finish it."""
    worker = store.register_worker("cpu", 1)
    job = store.claim(worker.id)
    say(worker=worker.id, job=job.id if job else None)
    time.sleep(600)


if __name__ == "__main__":
    command, home, url, *rest = sys.argv[1:]
    with open_store(home, url=None if url == "-" else url) as opened:
        {"work": work, "add": add, "hang": hang}[command](opened, int(rest[0]) if rest else 0)
