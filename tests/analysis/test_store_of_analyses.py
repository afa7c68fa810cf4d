"""Analyses as files: named by what they are of, written whole, found again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel, ConfigDict

from mucore import analysis, cli
from mucore.analysis import Kind
from mucore.datasets import load
from mucore.errors import BadFile, BadValue, StoreError, UnknownName
from mucore.forget_sets.identity import numbers
from mucore.store import open_store
from tests.builders import make_outputs, make_result

KEYS = ["a" * 24, "b" * 24]


class Parameters(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    keys: list[str]
    power: int = 2


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "default"))  # --home moves it


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "home") as store:
        yield store


@pytest.fixture
def calls(monkeypatch):
    """A kind `squares` that counts how often it was computed, and `words` without arrays."""
    seen = []

    def squares(results, parameters, progress):
        seen.append(parameters)
        progress(0.5, "half")
        return {
            "values": np.arange(3) ** parameters.power,
            "keys": parameters.keys,
            "nested": {"a": None},
        }

    kinds = {
        "squares": Kind(squares, Parameters, 1),
        "words": Kind(lambda *_: {"text": "ä", "list": [1, None]}, Parameters, 1),
    }
    monkeypatch.setattr(analysis, "KINDS", {**analysis.KINDS, **kinds})
    return seen


def test_an_analysis_is_computed_once_and_comes_back_as_it_was(store, calls):
    told = []
    made = analysis.compute(
        "squares", {"keys": KEYS}, store, store.home, lambda done, what: told.append((done, what))
    )
    found = analysis.find(store.home, "squares", {"keys": KEYS, "power": 2})  # the default, named
    again = analysis.compute("squares", {"keys": KEYS}, store, store.home)
    assert told == [(0.5, "half")] and len(calls) == 1
    assert found is not None
    assert found.path == made.path == again.path
    assert made.path.parent == store.home / "analyses"
    for each in (made, found, again):
        assert each.value["values"].tolist() == [0, 1, 4]
        assert each.value["values"].dtype == made.value["values"].dtype
        assert each.value["keys"] == KEYS and each.value["nested"] == {"a": None}


def test_another_parameter_run_kind_or_revision_is_another_analysis(store, calls, monkeypatch):
    keys = {
        analysis.key("squares", {"keys": KEYS}),
        analysis.key("squares", {"keys": KEYS, "power": 3}),
        analysis.key("squares", {"keys": KEYS[::-1]}),
        analysis.key("words", {"keys": KEYS}),
    }
    raised = Kind(analysis.KINDS["squares"].compute, Parameters, 2)
    monkeypatch.setattr(analysis, "KINDS", {**analysis.KINDS, "squares": raised})
    keys.add(analysis.key("squares", {"keys": KEYS}))
    assert len(keys) == 5


def test_a_damaged_file_is_computed_anew(store, calls):
    made = analysis.compute("squares", {"keys": KEYS}, store, store.home)
    made.path.write_bytes(made.path.read_bytes()[:-20])
    assert analysis.find(store.home, "squares", {"keys": KEYS}) is None
    analysis.compute("squares", {"keys": KEYS}, store, store.home)
    assert len(calls) == 2 and analysis.find(store.home, "squares", {"keys": KEYS}) is not None


def test_what_cannot_be_used_is_said_in_a_sentence(store, calls, tmp_path):
    with pytest.raises(UnknownName, match="no analysis named 'tsn'. Did you mean tsne"):
        analysis.key("tsn", {})
    with pytest.raises(BadValue, match="analysis squares: power.*two"):
        analysis.key("squares", {"keys": KEYS, "power": "two"})
    with pytest.raises(BadValue, match="analysis squares: colour"):
        analysis.key("squares", {"keys": KEYS, "colour": 1})
    with pytest.raises(BadFile, match="is no pack"):
        analysis.place(tmp_path, tmp_path / "nowhere")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="could not be written"):
        analysis.compute("squares", {"keys": KEYS}, store, tmp_path / "file")
    assert not list(tmp_path.rglob("*.part"))


def test_importing_the_kinds_leaves_torch_alone():
    code = (
        "import sys, mucore.runner.analyses; print(*[name for name in sys.modules if name "
        "in ('torch', 'openTSNE')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.strip() == ""


def neighbour_store(home: Path) -> list[str]:
    """A store with two runs whose predictions were kept."""
    keys = []
    with open_store(home) as store:
        for number, method in enumerate(("original", "retrain")):
            outputs = store.artifacts.put_outputs(
                make_outputs(number, splits=("forget", "retain", "validation"))
            )
            result = make_result(method=method, outputs=outputs)
            store.put_result(result)
            keys.append(result.key)
    return keys


# -- on the command line


def test_the_command_prints_the_analysis(tmp_path, capsys):
    keys = neighbour_store(tmp_path)
    asked = [
        "analyse",
        "neighbours",
        "--params",
        json.dumps({"keys": keys, "count": 4, "k": 3}),
        "--home",
        str(tmp_path),
    ]
    assert cli.main([*asked, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["kind"] == "neighbours" and len(content["value"]["queries"]) == 4
    assert Path(content["path"]).is_file() and Path(content["path"]).stem == content["key"]
    assert cli.main(asked) == 0
    assert capsys.readouterr().out.strip() == content["path"]
    # samples are rows on both ways, and other numbers inside
    inside = analysis.find(tmp_path, "neighbours", json.loads(asked[3]))
    rows, known = content["value"]["queries"], numbers(load("digits"))
    assert inside is not None and known[inside.value["queries"]].tolist() == rows
    assert inside.value["queries"].tolist() != rows
    asked[3] = json.dumps({"keys": keys, "queries": rows, "k": 3})
    assert cli.main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["value"] == content["value"]
    asked[3] = json.dumps({"keys": keys, "queries": [99_999], "k": 3})
    assert cli.main(asked) == 2 and "99999" in capsys.readouterr().err
