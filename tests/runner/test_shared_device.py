"""Whose times are called shared: of who computes on one device with another worker."""

import dataclasses
import os

from builders import make_spec_row

from mucore.runner.session import Session
from mucore.store.workers import process_id


def shared(store, **options) -> bool:
    session = Session(store, "cpu", **options)
    return session.cost(session.run(make_spec_row(), 0))["shared_device"]


def test_times_are_shared_with_workers_of_this_device_alone(store):
    me = store.register_worker("cpu", 1, facts={"device_id": "cpu"})
    store.beat_worker(me.id, "busy")
    assert not shared(store)
    other = dataclasses.replace(me, state="busy", id=process_id(os.getppid()))
    for changes in (
        {"id": "elsewhere-1-1.00"},
        {"facts": {"device_id": "GPU-1"}},
        {"state": "idle"},
    ):
        store._put_worker(dataclasses.replace(other, **changes))
        assert not shared(store)
        store.remove_worker(changes.get("id", other.id))
    store._put_worker(other)
    assert shared(store)


def test_times_on_a_part_of_a_gpu_are_shared_always(store):
    assert shared(store, gpu_share=0.5)
