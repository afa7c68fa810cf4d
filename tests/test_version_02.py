"""What version 0.2 left on people's disks still works: a home is opened and its unfinished runs are
brought to their end, and a pack is read. tests/fixtures/v02/README.md says how the files were made.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mucore import catalog
from mucore.export.records import describe
from mucore.forget_sets import saved
from mucore.runner.worker import work
from mucore.runs import RunSpec
from mucore.store import Result, Store, open_store
from mucore.suite import pack as packs
from mucore.verdicts import judge_stored

FIXTURES = Path(__file__).with_name("fixtures") / "v02"
HOME, PACK = (
    json.loads((FIXTURES / f"{name}.json").read_text(encoding="utf-8")) for name in ("home", "pack")
)
# What the machine decides; `rte` needs the threads and the processor of Retrain.
MEASURED = {"unlearning_seconds", "peak_memory_bytes", "rte"}
# What is told from so many samples on, and CKA, which is unbiased since.
NEEDY = {card.id for card in catalog.metrics() if card.least}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with zipfile.ZipFile(FIXTURES / "home.zip") as archive:
        archive.extractall(tmp_path / "home")
    with open_store(tmp_path / "home") as store:
        yield store


def content(result: Result) -> dict[str, Any]:
    """As the recorded files have it."""
    kept = ("spec", "model_key", "status", "forget_hash", "forget_count", "outputs", "weights")
    metrics = result.metrics.items()
    return {
        **{name: getattr(result, name) for name in kept},
        "values": {name: each.value for name, each in metrics if each.value is not None},
        "gaps": {name: each.gap for name, each in metrics if each.gap is not None},
        "missing": sorted(name for name, each in metrics if each.value is None),
    }


def words(store: Store) -> dict[str, str]:
    judged = judge_stored(store).items()
    return {key: line.verdict.word for key, line in judged if line.verdict is not None}


def test_a_home_is_read_as_it_was(store):
    results = store.results()
    assert {result.key: content(result) for result in results} == HOME["results"]
    assert words(store) == HOME["words"]
    assert [
        {"name": each.name, "note": each.note, "keys": list(each.keys), "grid": each.grid}
        for each in store.comparisons()
    ] == HOME["comparisons"]
    assert {job.key: job.state for job in store.jobs()} == HOME["jobs"]
    (named,), problems = saved.listed(store.home)
    assert [named.name, named.dataset, named.ids.tolist()] == [
        HOME["forget_sets"][0][name] for name in ("name", "dataset", "ids")
    ]
    assert not problems
    for result in results:
        assert RunSpec.model_validate(result.spec).key == result.key
        assert describe(result)["key"] == result.key
        outputs = store.artifacts.get_outputs(result.outputs)
        right = np.trace(outputs["test"].confusion) / outputs["test"].confusion.sum()
        assert right == result.metrics["ta"].value
        if result.weights is not None:
            assert store.artifacts.get_arrays(result.weights)["head.weight"].shape == (3, 64)


def test_unfinished_runs_go_on_to_the_results_of_then(store):
    """One is queued; the other's worker died on a machine that nobody can ask."""
    left = {key for key, state in HOME["jobs"].items() if state != "done"}
    work(store, device="cpu", only=left, until_done=True)
    assert {job.state for job in store.jobs()} == {"done"}
    found = {result.key: content(result) for result in store.results(keys=left)}
    assert found.keys() == left == HOME["resumed"].keys()
    for key, now in found.items():
        then = HOME["resumed"][key]
        exact = ("spec", "model_key", "status", "forget_hash", "forget_count")
        assert [now[name] for name in exact] == [then[name] for name in exact]
        assert now["values"].keys() - MEASURED - NEEDY == then["values"].keys() - MEASURED - NEEDY
        for name in then["values"].keys() - MEASURED - NEEDY:
            # a sample at the edge may fall to the other side on another processor
            value = pytest.approx(then["values"][name], abs=0.05, rel=0.01)
            assert now["values"][name] == value, name
    assert words(store) == HOME["words_resumed"]
    others = {each.key: content(each) for each in store.results() if each.key not in left}
    assert others == HOME["results"]


def test_a_pack_is_read_as_it_was():
    with packs.opened(Path(__file__).parent / "suite" / "packs" / "quick-line.zip") as pack:
        for key, result in pack.results.items():
            now, then = content(result), PACK[key]
            few = {name for name in NEEDY & then["values"].keys() if name.endswith("_tpr_01")}
            assert now.pop("missing") == sorted({*then.pop("missing"), *few})
            assert len(few) in (0, 5), "of the originals' trainings there is none"
            for part in ("values", "gaps"):
                then[part] = {name: it for name, it in then[part].items() if name not in few}
            assert now == then
        assert pack.results.keys() == PACK.keys()
        assert {key: spec.key for key, spec in pack.specs.items()} == {key: key for key in PACK}
