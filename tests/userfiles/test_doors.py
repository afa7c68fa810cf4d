"""Doors to files that a user names: one list of what opens them, each closed to who only reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mucore.catalog import plugins
from mucore.errors import ReadOnly
from mucore.forget_sets import lists, saved
from mucore.userfiles import datasets, doors, methods, weights

SET = "a" * 32


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_why_closed", "_why_no_code"):  # back to what they were, after the test
        monkeypatch.setattr(doors, name, None)
    doors.guard(lambda: "Closed here.")


@pytest.fixture
def plugin(tmp_path: Path) -> plugins.Plugin:
    """A method whose file leaves a trace where it runs."""
    source = (
        "from pathlib import Path\n"
        "from mucore.catalog.cards import MethodCard\n"
        "CARD = MethodCard(id='mine', title='Mine', family='own', source='a test', "
        "summary='x', reads=frozenset({'retain'}))\n"
        f"Path({str(tmp_path / 'ran')!r}).touch()\n"
        "def mine(model, data, run):\n    pass\n"
    )
    (tmp_path / "mine.py").write_text(source)
    return plugins.read(tmp_path / "mine.py")


OPENERS: dict[str, Callable[[Path], object]] = {
    "npz": lambda home: datasets.path_of(f"npz:{home}/x.npz"),
    "folder": lambda home: datasets.path_of(f"folder:{home}"),
    "its hash": lambda home: datasets.data_hash(f"npz:{home}/x.npz"),
    "its task": lambda home: datasets.task_of(f"npz:{home}/x.npz"),
    "weights": lambda home: weights.file_hash(f"{home}/x.pt", what="A run"),
    "weights by hash": lambda home: weights.file_hash("a" * 64, what="A run"),
    "a saved set": lambda home: saved.load(home, "may"),
    "a kept set": lambda home: saved.resolve(home, f"kept:{SET}"),
    "the list of sets": saved.listed,
    "deleting a set": lambda home: saved.delete(home, "may"),
    "saving a set": lambda home: saved.save(home, saved.make("digits", np.arange(3), name="may")),
    "keeping a set": lambda home: saved.keep(home, saved.make("digits", np.arange(3))),
    "a typed method": lambda home: methods.read("CARD = 1"),
    "keeping a method": lambda home: methods.keep("CARD = 1"),
    "deleting a method": lambda home: methods.delete("mine"),
    "the draft of a method": lambda home: methods.draft(),
    "keeping a draft": lambda home: methods.keep_draft(""),
    "a zip of images": lambda home: datasets.class_names(f"folder:{home}/x.zip"),
    "a list of ids": lambda home: lists.read_file(home / "ids.csv"),
}


@pytest.mark.parametrize("what", OPENERS)
def test_each_door_is_closed_to_who_only_reads(what, closed, tmp_path):
    with pytest.raises(ReadOnly, match=r"Closed here\."):
        OPENERS[what](tmp_path)
    assert not list(tmp_path.iterdir())


def test_the_file_of_an_own_method_does_not_run(closed, plugin, tmp_path):
    with pytest.raises(ReadOnly):
        plugins.function(plugin)
    assert not (tmp_path / "ran").exists()
    doors.guard(lambda: "")
    plugins.function(plugin)
    assert (tmp_path / "ran").exists()
    doors.guard(lambda: "Closed here.")
    with pytest.raises(ReadOnly):  # nor is what ran for somebody else handed out
        plugins.function(plugin)
