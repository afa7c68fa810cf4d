"""The life of a job in a worker: done, failed, cancelled, killed, taken over; with real processes
where processes matter.
"""

import signal
import subprocess
import sys
import threading
from unittest.mock import Mock

import pytest
import torch
from launching import small_grid
from waiting import wait_for

from mucore.runner.grid import ScenarioChoice
from mucore.runner.plan import launch, make_plan
from mucore.runner.spawn import start_worker
from mucore.runner.worker import work
from mucore.unforeseen import foreseen


def plan(store, *, scenario=None, **choices):
    chosen = ScenarioChoice(id="one_class", parameters=scenario or {})
    return make_plan(small_grid(scenarios=[chosen], **choices), store)


def test_a_worker_runs_a_comparison_to_its_end(store):
    made = plan(store, methods=("finetune", "ssd"))
    comparison = launch(made, store, name="first")
    events = []
    work(
        store,
        device="cpu",
        only=set(made.keys),
        until_done=True,
        on_event=lambda event, job: events.append((event, job.key)),
    )
    assert store.known(made.keys) == set(made.keys)
    jobs = store.jobs(comparison=comparison.id)
    assert {job.state for job in jobs} == {"done"}
    assert [key for event, key in events if event == "done"] == list(made.keys)
    assert store.workers() == []
    text = next((store.home / "logs").glob(f"*{jobs[0].id}*")).read_text()
    assert jobs[0].label in text or "after" in text


def test_a_worker_in_a_thread_leaves_signals_alone_and_hands_its_job_back(store):
    """As where another program places workers in processes of its own."""
    made = plan(store, epochs=2000)
    launch(made, store, name="beside something else")
    handlers = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(store,), kwargs={"device": "cpu", "stop": stop})
    thread.start()
    wait_for(lambda: any(job.progress > 0 for job in store.jobs(states=["running"])))
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == handlers
    stop.set()
    thread.join(timeout=60)
    assert not thread.is_alive() and store.workers() == []
    assert {job.state for job in store.jobs()} == {"queued"}
    assert {job.deaths for job in store.jobs()} == {0}


def test_a_failed_reference_fails_what_needs_it_with_the_reason(store):
    made = plan(store, scenario={"budget": 500})
    launch(made, store, name="too much")
    work(store, device="cpu", only=set(made.keys), until_done=True)
    states = {job.label.split(" ")[0]: job for job in store.jobs()}
    assert states["train"].state == "done"
    assert states["retrain"].state == "failed" and "500" in states["retrain"].error
    assert states["finetune"].state == "failed" and "500" in states["finetune"].error


def test_memory_that_runs_out_in_a_block_or_an_evaluation_is_told_with_a_way_out(
    store, monkeypatch
):
    out = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    for place in ("blocks.teacher.Teacher.__call__", "runner.evaluate.squared_gradient_norms"):
        monkeypatch.setattr(f"mucore.{place}", Mock(side_effect=out))
    made = plan(store, methods=("scrub", "finetune"))
    launch(made, store, name="too large")
    work(store, device="cpu", only=set(made.keys), until_done=True)
    (failed,) = store.jobs(states=["failed"])
    assert failed.label.startswith("scrub") and failed.error == str(foreseen(out))
    (done,) = [each for each in store.results() if each.spec["method"] == "finetune"]
    assert str(foreseen(out)) in done.metrics["efficacy"].error


def test_cancel_reaches_a_running_job(store):
    made = plan(store, epochs=2000)
    launch(made, store, name="long")
    runner = threading.Thread(
        target=work,
        args=(store,),
        kwargs={"device": "cpu", "only": set(made.keys), "until_done": True},
    )
    runner.start()
    job = wait_for(lambda: next(iter(store.jobs(states=("running",))), None))
    for each in store.jobs(states=("queued", "running")):
        store.cancel(each.id)
    runner.join(timeout=30)
    assert not runner.is_alive()
    assert store.job(job.id).state == "cancelled"
    assert not store.known(made.keys)


@pytest.mark.slow
def test_a_worker_of_a_vanished_parent_leaves_when_the_queue_is_empty(store):
    made = plan(store)
    launch(made, store, name="orphan")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    process = start_worker(store, device="cpu", threads=1, parent_pid=gone.pid)
    assert process.wait(timeout=90) == 0
    assert store.known(made.keys) == set(made.keys)


@pytest.mark.slow
def test_a_worker_is_ready_before_it_has_loaded_what_only_some_jobs_need():
    names = ("torchvision", "timm", "sklearn", "scipy.stats", "pandas", "openTSNE")
    code = f"import sys, mucore.runner.worker; print(*(set({names}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
