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
    assert store.job(job.id).state == "queued" and store.job(job.id).attempts == 0


@pytest.mark.slow
def test_it_finishes_what_it_has_in_hand_and_takes_no_more(store):
    launched(store, epochs=30)
    member = Member(Order(home=str(store.home)))
    job = wait_for(lambda: next(iter(store.jobs(states=["running"])), None), 200)
    assert member.end(finish_seconds=100.0)
    assert store.job(job.id).state == "done"
    assert {each.state for each in store.jobs() if each.id != job.id} == {"queued"}


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


def test_a_head_that_is_gone_is_said_at_once(monkeypatch, capsys, tmp_path):
    """Ray would ask the address that it remembers for minutes."""
    pytest.importorskip("ray")
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    assert main(["cluster", "status"]) == 2
    assert ":1 " in capsys.readouterr().err  # Ray puts this machine's address before it


@pytest.mark.parametrize("command", [["status"], ["up", "--workers", "1"]])
def test_a_machine_without_ray_running_is_said(command, monkeypatch, capsys, tmp_path):
    pytest.importorskip("ray")
    from ray._private import services

    def none(*_):
        raise ConnectionError("Could not find any running Ray instance.")

    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(services, "canonicalize_bootstrap_address", none)
    assert main(["cluster", *command]) == 2
    assert "ray start --head" in capsys.readouterr().err
