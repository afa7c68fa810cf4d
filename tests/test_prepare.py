"""`prepare`: what a talk needs is said, computed once, and found the next time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from experiments import MODELS, put_experiment

from dashboard import data, needs
from dashboard.lessons import LESSONS
from dashboard.pages import PAGES
from mucore import analysis, cli
from mucore.cli import prepare
from mucore.errors import MucoreError, UnknownName
from mucore.store import open_store

GRID = {
    "dataset": "digits",
    "model": "mlp",
    "recipe": {"epochs": 1},
    "scenarios": [{"id": "class_wise", "parameters": {"class_ids": [0]}}],
    "methods": [{"id": "finetune"}],
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Pages that answer with these lessons and analyses; what they were asked."""

    def answer(**found: Any) -> list[str]:
        told: list[str] = []

        def ask(what: str, name: str) -> dict[str, Any]:
            told.append(f"{what} {name}")
            return {"lessons": [], "analyses": [], "experiments": [], "problems": []} | found

        monkeypatch.setattr(prepare, "ask", ask)
        return told

    return answer


def test_the_runs_of_a_lesson_are_planned_then_run_then_found(home, asked, capsys):
    lesson = {"id": "one", "title": "One", "question": "Which?", "grid": GRID}
    told = asked(lessons=[lesson])

    def missing(*flags: str) -> int:
        assert cli.main(["prepare", "lesson", "one", "--json", *flags]) == 0
        (found,) = json.loads(capsys.readouterr().out)["lessons"]
        assert found["id"] == "one" and found["runs"] == 4
        return found["missing"]

    assert missing("--plan") == 4
    with open_store(home) as store:
        assert not store.jobs()
    assert missing() == 0
    with open_store(home) as store:
        (comparison,) = store.comparisons()
        assert comparison.name == "Lesson: One" and len(store.summaries()) == 4
    assert missing("--plan") == 0
    assert told == ["lesson one"] * 3


def test_an_analysis_that_fails_leaves_the_others_to_come(home, asked, monkeypatch, capsys):
    wanted = [
        {"page": "compare", "kind": "tsne", "parameters": {"keys": [key]}, "pack": None}
        for key in ("lost", "there")
    ]
    asked(analyses=wanted)

    def compute(kind: str, parameters: dict, store: object, pack: Path | None) -> analysis.Found:
        if parameters["keys"] == ["lost"]:
            raise MucoreError("Its predictions were removed.")
        return analysis.Found("there", home / "there.npz", {})

    monkeypatch.setattr("mucore.cli.analyse.compute", compute)
    assert cli.main(["prepare", "page", "compare", "--json"]) == 1
    said = capsys.readouterr()
    lost, there = json.loads(said.out)["analyses"]
    assert lost["error"] == "Its predictions were removed." and lost["error"] in said.err
    assert "error" not in there and there["path"].endswith("there.npz")
    assert there["key"] == analysis.key("tsne", {"keys": ["there"]})


def test_lessons_and_pages_are_found_by_name():
    assert needs.named("lesson", "backdoor") == (["backdoor"], [])
    assert needs.named("lesson", "all") == ([each.id for each in LESSONS.values() if each.grid], [])
    _, pages = needs.named("page", "all")
    assert pages == [page.id for page in PAGES if not page.works]
    with pytest.raises(UnknownName):
        needs.named("page", "no_such_page")


@pytest.mark.slow
def test_the_numbers_of_forgetting_quality_are_computed_before_the_page_is_opened(
    home, monkeypatch, capsys
):
    monkeypatch.setattr(data, "DEMO", home / "no-demo")
    monkeypatch.setattr(prepare, "ask", needs.needs)
    with open_store(home) as store:
        put_experiment(store, methods={"finetune": 0.5, "salun": 8.0})

    def wanted(*flags: str) -> list[dict[str, Any]]:
        st.cache_resource.clear()
        assert cli.main(["prepare", "page", "quality", "--json", *flags]) == 0
        return json.loads(capsys.readouterr().out)["experiments"]

    missing = {"page": "quality", "models": MODELS, "methods": 2}
    assert wanted("--plan") == [missing] and not (home / "quality").exists()
    assert wanted() == [missing]
    assert len(list((home / "quality").glob("*.json"))) == 2
    assert wanted("--plan") == []
    assert not needs.drawn("quality").experiments


def test_a_lesson_tells_its_grid():
    (lesson,) = needs.needs("lesson", "encoder")["lessons"]
    assert lesson["grid"] == LESSONS["encoder"].grid
    assert json.loads(json.dumps(lesson)) == lesson
