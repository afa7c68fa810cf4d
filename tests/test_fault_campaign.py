"""The short form of scripts/fault_campaign.py: a little of each kind of trouble, every promise
kept.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fault_campaign
import psutil
import pytest
from builders import make_spec_row
from faults.deaths import _Fate, _stands_still
from faults.ground import Tally

from mucore.store import open_store

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(sys.platform != "linux", reason="sends signals and looks into /proc")
def test_every_promise_is_kept_under_fire(tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    script = ROOT / "scripts" / "fault_campaign.py"
    done = subprocess.run(
        [sys.executable, str(script), "--short", "--folder", str(folder)],
        capture_output=True,
        text=True,
        timeout=1100,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-5000:]
    kept = json.loads((folder / "campaign.json").read_text(encoding="utf-8"))
    for group in fault_campaign.GROUPS:
        tally = Tally.from_json(kept["tallies"][group.id])
        assert tally.skipped or group.so_far(tally) >= group.short, group.id
        assert tally.kept


def test_a_broken_promise_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    campaign = fault_campaign.Campaign(tmp_path, 1, fault_campaign.GROUPS, short=True)
    assert campaign.kept
    for name, tally in (
        ("kills", Tally(planned=7, done=6)),
        ("locks", Tally(planned=7, done=7, lost=1)),
        ("disk", Tally(planned=7, done=7, twice=1)),
        ("files", Tally(planned=7, done=7, unequal=1)),
        ("inputs", Tally(broken=["It burns."])),
    ):
        campaign.tallies = {group.id: Tally() for group in fault_campaign.GROUPS} | {name: tally}
        assert not campaign.kept
    assert "It burns." in campaign.report()


def test_a_group_may_come_too_late_but_not_always(tmp_path: Path) -> None:
    hits = iter([1, 0, 0, 0, 1, 0, 0, 0, 0])

    def round_of(ground, rng, tally, most) -> None:
        tally.did["hit"] += next(hits)

    group = replace(fault_campaign.GROUPS[0], round=round_of, counted=("hit",))
    campaign = fault_campaign.Campaign(tmp_path, 1, [group], short=True)
    ground: Any = SimpleNamespace(canary=tmp_path / "canary")
    tally = campaign.tallies[group.id]
    for _ in range(8):
        campaign._round(ground, group, tally)
        assert not tally.broken and not tally.skipped
    campaign._round(ground, group, tally)
    assert len(tally.broken) == 1 and tally.skipped


def test_half_of_the_deaths_leave_a_way_to_get_further(tmp_path: Path) -> None:
    """Such a worker does not die where its job has died before, however long it takes there."""
    with open_store(tmp_path) as store:
        (seen,) = store.enqueue([make_spec_row().original()])
    died = {"training: epoch 1 of 3, 0 %": 9}
    spared = 0
    for seed in range(200):
        fate = _Fate(random.Random(seed), 0.0)
        kept = not fate.strikes(replace(seen, step="starting"))
        spared += kept
        again = replace(seen, step="training: epoch 1 of 3", deaths=died)
        assert fate.strikes(again) is not kept
        assert fate.strikes(replace(again, step="training: epoch 2 of 3"))
    assert 70 < spared < 130


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="sends signals and looks into /proc")
def test_a_worker_is_not_stopped_while_it_holds_the_database(tmp_path: Path) -> None:
    holds = (
        "import sqlite3, sys; base = sqlite3.connect(sys.argv[1], isolation_level=None); "
        "base.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.readline(); "
        "base.execute('ROLLBACK'); print('free', flush=True); sys.stdin.readline()"
    )
    with open_store(tmp_path) as store:
        holder = subprocess.Popen(
            [sys.executable, "-c", holds, str(tmp_path / "store.sqlite")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert holder.stdin is not None and holder.stdout is not None
        try:
            assert holder.stdout.readline() == "held\n"
            assert not _stands_still(store, holder.pid)
            print(file=holder.stdin, flush=True)
            assert holder.stdout.readline() == "free\n"  # so it was woken
            assert _stands_still(store, holder.pid)
            assert psutil.Process(holder.pid).status() == psutil.STATUS_STOPPED
        finally:
            holder.kill()
            holder.communicate()
