"""Workers as the queue page groups them."""

from datetime import timedelta
from typing import Any

from builders import START

from dashboard.frames.queue import devices
from mucore.store.records import Worker


def worker(name: str, *, state: str = "idle", beat: int = 0, **facts: object) -> Worker:
    host, _, number = name.partition("-")
    return Worker(
        id=f"{host}.abc-{number}-1.00",
        host=host,
        pid=int(number),
        pid_created=1.0,
        device="cuda",
        threads=4,
        state=state,  # ty: ignore[invalid-argument-type]
        started=START,
        heartbeat=START + timedelta(seconds=beat),
        facts=facts,
    )


def test_workers_are_grouped_by_machine_and_device():
    shared: dict[str, Any] = {"device_id": "GPU-1", "device_name": "A GPU", "memory_total": 80}
    found = devices(
        [
            worker("two-1", device_id="GPU-1"),
            worker("one-1", state="busy", **shared, memory_used=10, load=0.5),
            worker("one-2", beat=5, **shared, memory_used=30, load=0.25),
            worker("one-3", device_id="GPU-2", device_name="B GPU"),
            worker("old-1"),  # of an earlier version
        ]
    )
    counts = found[["machine", "device", "workers", "busy", "threads"]].to_numpy().tolist()
    assert counts == [
        ["old", "cuda", 1, 0, 4],
        ["one", "A GPU", 2, 1, 8],
        ["one", "B GPU", 1, 0, 4],
        ["two", "cuda", 1, 0, 4],
    ]
    facts = found[["memory_used", "memory_total", "load"]]
    assert facts.loc[1].tolist() == [30, 80, 0.25] and facts.loc[0].isna().all()
