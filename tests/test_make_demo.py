"""The demo's script: what a new pack keeps of the one before."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import make_demo
import pytest
from builders import make_outputs, make_result, make_spec_row

from mucore.store import open_pack, open_store

OLD, NEW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)


def store_of(home: Path, moment: datetime, comparisons: dict[str, list[tuple[str, str, int]]]) -> None:
    """A home with named comparisons of (scenario, method, training seed), all finished at `moment`."""
    with open_store(home) as store:
        for name, runs in comparisons.items():
            keys = []
            for scenario, method, seed in runs:
                outputs = store.artifacts.put_outputs(make_outputs(splits=("forget", "retain", "test")))
                spec = make_spec_row(scenario=scenario, method=method, training_seed=seed)
                result = make_result(spec, finished=moment, outputs=outputs, metrics={"ta": 0.9, "rte": 0.5})
                store.put_result(result)
                keys.append(result.key)
            store.create_comparison(name, "", {}, keys)


@pytest.fixture
def parts(monkeypatch):
    names = {"ten": True, "every": True, "numbers": False}
    monkeypatch.setattr(make_demo, "PARTS", tuple(make_demo.Part(name, "", (), inside=inside) for name, inside in names.items()))


def packed(home: Path, out: Path, *, busy: bool = False) -> dict[tuple[str, str, int], datetime | None]:
    """Pack a home over what is in `out`: when each run of the pack was finished."""
    with open_store(home) as store:
        make_demo.pack(store, out, fresh=False, busy=busy)
    with open_pack(out) as pack:
        return {
            (result.spec["scenario"], result.spec["method"], result.spec["training_seed"]): result.finished for result in pack.results()
        }


def test_the_newest_run_stays_and_what_was_compared_with_another_retrain_leaves(tmp_path, parts):
    retrain, scrub, ssd = (("one_class", method, 0) for method in ("retrain", "scrub", "ssd"))
    elsewhere = [("class_wise", method, 0) for method in ("retrain", "ssd")]
    store_of(tmp_path / "old", OLD, {"ten": [retrain, scrub, ssd, *elsewhere], "gone": [("one_class", "finetune", 0)]})
    packed(tmp_path / "old", tmp_path / "out")
    store_of(tmp_path / "new", NEW, {"every": [retrain, scrub]})
    found = packed(tmp_path / "new", tmp_path / "out")
    assert found == {retrain: NEW, scrub: NEW} | dict.fromkeys(elsewhere, OLD)
    with open_pack(tmp_path / "out") as pack:
        assert {one.name: len(one.keys) for one in pack.comparisons()} == {"every": 2, "ten": 4}


def test_predictions_travel_with_the_first_authors_runs_alone(tmp_path, parts):
    store_of(
        tmp_path / "home", NEW, {"every": [("one_class", "scrub", 0), ("one_class", "scrub", 1)], "numbers": [("one_class", "ssd", 0)]}
    )
    with open_store(tmp_path / "home") as store:
        spec = make_spec_row(scenario="one_class", method="scrub")
        spec = spec.model_copy(update={"method_preset": "tuned", "parameters": {**spec.parameters, "lr": 0.2}})
        store.put_result(make_result(spec, outputs=store.artifacts.put_outputs(make_outputs(splits=("test",)))))
        store.create_comparison("every (2)", "", {}, [spec.key])
    packed(tmp_path / "home", tmp_path / "out")
    with open_pack(tmp_path / "out") as pack:
        inside = [(r.spec["method"], r.spec["training_seed"], r.spec["method_preset"]) for r in pack.results() if r.outputs is not None]
    assert inside == [("scrub", 0, "authors")]


def test_times_of_a_busy_machine_are_left_out_with_the_reason(tmp_path, parts):
    store_of(tmp_path / "home", NEW, {"every": [("one_class", "scrub", 0)]})
    packed(tmp_path / "home", tmp_path / "out", busy=True)
    with open_pack(tmp_path / "out") as pack:
        (result,) = pack.results()
    assert result.metrics["rte"].value is None and result.metrics["rte"].error == make_demo.BUSY == result.notes[-1]
    assert result.metrics["ta"].value == 0.9
