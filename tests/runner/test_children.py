"""A process of its own for code that is not mucore's: whatever that does ends that process alone,
soon, and with one sentence.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from mucore import fitting
from mucore.errors import BadValue, Cancelled, MethodFailed, Refused
from mucore.runner import children
from mucore.runner.children import Limits

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="misbehaves in ways of Unix"),
]
LIMITS = Limits(seconds=30.0, memory=400e6)


def run(what: str, folder: Path, limits: Limits = LIMITS, **others: Any) -> list[dict[str, Any]]:
    """The messages that came."""
    heard: list[dict[str, Any]] = []
    children.run(
        f"misbehaving:{what}", folder, limits, who="mine", on_message=heard.append, **others
    )
    return heard


def gone(pid: int) -> bool:
    """Whether a process has ended, or will at once."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def of_test(folder: Path) -> list[int]:
    """The processes that were started for a test."""
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if each.environ().get("MUCORE_TEST") == str(folder):
                found.append(each.pid)
    return found


def test_a_child_does_its_work_in_a_folder_and_tells_of_it(tmp_path):
    (tmp_path / "question").write_text("abc", encoding="utf-8")
    assert run("well", tmp_path) == [{"at": 0.5}, {"at": 1.0}]
    assert (tmp_path / "answer").read_text(encoding="utf-8") == "cba"


def test_it_finds_the_same_modules_and_starts_without_torch(tmp_path):
    (message,) = run("surroundings", tmp_path)
    assert message["path"] == sys.path and not message["torch"]
    assert message["pid"] != os.getpid() and gone(message["pid"])


# What goes wrong -> what the sentence names
FAILURES = {
    "raises": "ZeroDivisionError: no luck at all",
    "leaves": "sys.exit",
    "drops_dead": "exit code 0",
    "crashes": "SIGSEGV",
    "asks": "EOFError",
    "never_ends": children.SECONDS,
    "closes_everything": children.SECONDS,
    "fills_memory": children.GIGABYTES,
    "multiplies": "processes",
}


@pytest.mark.slow
@pytest.mark.parametrize("what, words", FAILURES.items())
def test_whatever_happens_costs_one_sentence(tmp_path, monkeypatch, what, words):
    slow = words == children.SECONDS
    monkeypatch.setenv("MUCORE_TEST", str(tmp_path))
    with pytest.raises(MethodFailed) as raised:
        run(what, tmp_path, Limits(seconds=1.0 if slow else 30.0, memory=400e6))
    said = str(raised.value)
    assert said.startswith("mine ") and words in said and said.endswith(".") and "\n" not in said
    assert len(said) < 600
    assert all(gone(pid) for pid in of_test(tmp_path))  # nothing is left of a fork bomb


def test_a_refusal_stays_one(tmp_path):
    with pytest.raises(Refused, match="^Not with me. Choose another.$"):
        run("refuses", tmp_path)


def test_cancelling_ends_it_within_seconds(tmp_path):
    wish = threading.Event()
    heard: list[dict[str, Any]] = []

    def asked() -> None:
        if wish.is_set():
            raise Cancelled

    def listen(message: dict[str, Any]) -> None:
        heard.append(message)
        wish.set()

    with pytest.raises(Cancelled):
        children.run(
            "misbehaving:hears_nothing",
            tmp_path,
            LIMITS,
            who="mine",
            on_message=listen,
            asked=asked,
        )
    assert gone(heard[0]["pid"])


def test_what_it_leaves_behind_is_ended_too(tmp_path):
    (message,) = run("leaves_others_behind", tmp_path)
    assert gone(message["pid"])


def test_what_it_prints_is_heard_while_it_works(tmp_path):
    printed: list[str] = []

    def asked() -> None:
        if printed:
            raise Cancelled

    with pytest.raises(Cancelled):
        run("prints_and_never_ends", tmp_path, on_print=printed.append, asked=asked)
    assert printed == ["here I am"]


def test_it_does_not_outlive_its_parent(tmp_path):
    code = (
        "import sys; from pathlib import Path; from mucore.runner import children; "
        "children.run('misbehaving:hears_nothing', Path(sys.argv[1]), "
        "children.Limits(seconds=600.0, memory=4e8), who='mine', "
        "on_message=lambda message: print(message['pid'], flush=True))"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; {code}", str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert gone(pid)


# -- settings


def test_limits_follow_retrain_the_machine_and_settings(monkeypatch):
    for name in (children.SECONDS, children.GIGABYTES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fitting, "free_memory", lambda: 8e9)
    assert children.limits() == Limits(seconds=600.0, memory=6e9)
    assert children.limits(10.0).seconds == 600.0
    assert children.limits(100.0).seconds == 2000.0
    monkeypatch.setenv(children.SECONDS, "7.5")
    monkeypatch.setenv(children.GIGABYTES, "2")
    assert children.limits(100.0) == Limits(seconds=7.5, memory=2e9)


@pytest.mark.parametrize("text", ["", "soon", "0", "nan"])
def test_a_setting_that_is_no_number_is_said(monkeypatch, text):
    monkeypatch.setenv(children.SECONDS, text)
    if not text:  # as not set
        assert children.limits().seconds == 600.0
        return
    with pytest.raises(BadValue, match=children.SECONDS):
        children.limits()
