"""Workers, `run` and disks as their users lose them: by commands alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from launching import essence, launched
from waiting import wait_for

from mucore.store import Store, open_store
from mucore.store.records import Job

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
FIXTURES = Path(__file__).parents[1] / "fixtures"
LONG = 200.0  # seconds that something on a busy machine may take; waiting ends once it is there
RUN = "run --dataset digits --model mlp --preset quick --scenario one_class --methods finetune"


def command(home: Path, line: str) -> subprocess.Popen:
    arguments = [sys.executable, "-m", "mucore", *line.split(), "--home", str(home)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL)


def running(store: Store, going: Callable[[Job], bool] = lambda job: True) -> Job:
    return wait_for(lambda: next(filter(going, store.jobs(states=["running"])), None), LONG)


@pytest.mark.slow
def test_a_run_whose_worker_is_killed_three_times_is_lost_and_goes_on_when_retried(tmp_path):
    with open_store(tmp_path) as store:
        made = launched(store)
        first = store.jobs()[0]
        for _ in range(3):
            worker = command(tmp_path, "worker --device cpu --threads 1")
            assert running(store).id == first.id
            worker.kill()
            worker.wait()
            store.reap()
        assert (store.job(first.id).state, store.job(first.id).deaths) == ("lost", 3)
        assert {job.state for job in store.jobs()[1:]} == {"failed"}
        store.retry(store.jobs()[-1].id)
        assert command(tmp_path, "worker --device cpu --idle-exit 0.5").wait(LONG) == 0
        assert len(store.known(made.keys)) > 0
        retried = {job.key: job.state for job in store.jobs()}
        assert retried[first.key] == "done"


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_and_equals_an_undisturbed_one(tmp_path):
    homes = tmp_path / "killed", tmp_path / "undisturbed"
    line = f"{RUN} --set recipe.epochs=25 --device cpu"  # some seconds a training
    with open_store(homes[0]) as store, open_store(homes[1]) as other:
        for begun in (1, 2):
            process = command(homes[0], line)
            running(store, lambda job, begun=begun: job.id >= begun)
            time.sleep(0.5)  # in its training; progress is told every other second alone
            process.kill()
            process.wait()
        assert [command(home, line).wait(LONG) for home in homes] == [0, 0]
        expected = {one.key: essence(one) for one in other.results()}
        assert {one.key: essence(one) for one in store.results()} == expected and expected
        assert {job.state for job in store.jobs()} == {"done"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "state"),
    [
        ("worker --device cpu --threads 1", 0, "queued"),
        (f"{RUN} --set recipe.epochs=2000", 130, "cancelled"),
    ],
)
def test_what_is_told_to_end_ends_within_ten_seconds(line, code, state, tmp_path):
    with open_store(tmp_path) as store:
        if line.startswith("worker"):
            launched(store, epochs=2000)
        process = command(tmp_path, line)
        running(store, lambda job: job.progress > 0)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == code and store.workers() == []
        assert {(job.state, job.deaths) for job in store.jobs()} == {(state, 0)}


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs a file system of its own")
@pytest.mark.parametrize("mount", ["full", "ro"])
def test_results_are_read_on_a_full_and_on_a_read_only_disk(mount, tmp_path):
    """On a full one `gc` makes space."""
    with zipfile.ZipFile(FIXTURES / "v02" / "home.zip") as archive:
        archive.extractall(tmp_path / "home")
    mucore = f"{sys.executable} -m mucore"
    script = f"""
        mount -t tmpfs -o size=4m tmpfs {tmp_path}/disk || exit 77
        cp -r {tmp_path}/home {tmp_path}/disk/home && cd {tmp_path}/disk
        find home/artifacts -type f -exec touch -d '3 hours ago' {{}} +
        if [ {mount} = ro ]; then mount -o remount,ro .; else cat /dev/zero > fill; fi 2> /dev/null
        {mucore} results --json --home home > {tmp_path}/before
        {mucore} gc --keep numbers --home home; echo $? > {tmp_path}/code
        {mucore} results --json --home home > {tmp_path}/after
        ls home/artifacts/* > {tmp_path}/left
    """
    (tmp_path / "disk").mkdir()
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script], capture_output=True, check=False)
    if done.returncode == 77:
        pytest.skip("no file system may be mounted here")
    before, after = (json.loads((tmp_path / name).read_text()) for name in ("before", "after"))
    assert [one["key"] for one in after] == [one["key"] for one in before] and len(before) > 5
    code, left = ((tmp_path / name).read_text() for name in ("code", "left"))
    expected = ("0\n", 5) if mount == "full" else ("2\n", 8)
    assert (code, left.count(".parquet")) == expected
