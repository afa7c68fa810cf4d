"""A worker of a cluster, without the cluster: what it answers. And what commands refuse."""

import os
import sys

import pytest
from launching import launched
from waiting import wait_for

from mucore.cli import main
from mucore.cluster.member import Member, Order
from mucore.store import open_store
from mucore.store.storage import MARK


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "home") as opened:
        yield opened


def test_it_answers_while_a_run_computes_and_hands_the_run_back(store):
    launched(store, epochs=2000)
    member = Member(Order(home=str(store.home)))
    job = wait_for(
        lambda: next((job for job in store.jobs(states=["running"]) if job.progress > 0), None),
        seconds=200,
    )
    report = member.report()
    assert (report.state, report.worker, report.pid) == ("working", job.worker, os.getpid())
    assert member.end()
    assert member.report().state == "ended" and store.workers() == []
    assert store.job(job.id).state == "queued" and store.job(job.id).deaths == 0


def test_trouble_is_told_and_tried_again(store, tmp_path):
    made = launched(store, epochs=2)
    url = f"sqlite:///{store.home / 'store.sqlite'}"
    with open_store(store.home, url=url) as once:
        mark = once.artifacts.storage.read(MARK)
    store.artifacts.storage.write(MARK, b"7")  # as of other files
    member = Member(Order(home=str(store.home), url=url))
    problem = wait_for(lambda: member.report().problem or None, 200)
    assert member.report().state == "in trouble" and str(store.artifacts.storage) in problem
    store.artifacts.storage.write(MARK, mark)
    wait_for(lambda: store.known(made.keys) == set(made.keys), 200)
    assert member.report().problem == "" and member.end()


def test_without_ray_a_sentence_says_how_to_install_it(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["cluster", "status"]) == 2
    assert ".[cluster]" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere"])
def test_an_address_where_nobody_answers_is_said_at_once(address, monkeypatch, capsys, tmp_path):
    pytest.importorskip("ray")
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    assert main(["cluster", "up", "--workers", "1", "--address", address]) == 2
    assert address in capsys.readouterr().err
