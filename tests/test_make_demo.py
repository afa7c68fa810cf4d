"""The demo's script: what a new pack keeps of the one before."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import make_demo
import pytest
from builders import make_outputs, make_result, make_spec_row

from mucore.store import open_pack, open_store

DEMO = Path(make_demo.__file__).resolve().parents[1] / "data" / "demo"
OLD, NEW = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)


def store_of(
    home: Path,
    moment: datetime,
    comparisons: dict[str, list[tuple[str, str, int]]],
    *,
    loss: float | None = None,
) -> None:
    """A home with named comparisons of (scenario, method, training seed), all finished at `moment`;
    trainings end at `loss`, which differs from moment to moment unless it is given.
    """
    with open_store(home) as store:
        for name, runs in comparisons.items():
            keys = []
            for scenario, method, seed in runs:
                outputs = store.artifacts.put_outputs(
                    make_outputs(splits=("forget", "retain", "test"))
                )
                spec = make_spec_row(scenario=scenario, method=method, training_seed=seed)
                losses = (1.5, moment.month / 10 if loss is None else loss)
                result = make_result(
                    spec,
                    finished=moment,
                    outputs=outputs,
                    losses=losses,
                    metrics={"ta": 0.9, "rte": 0.5},
                )
                store.put_result(result)
                keys.append(result.key)
            store.create_comparison(name, "", {}, keys)


def every_key() -> set[str]:
    """Of all runs that these tests make."""
    methods = ("retrain", "scrub", "ssd", "finetune", "fisher")
    return {
        make_spec_row(scenario=scenario, method=method, training_seed=seed).key
        for scenario in ("one_class", "class_wise", "worst_case")
        for method in methods
        for seed in (0, 1)
    }


@pytest.fixture
def parts(monkeypatch):
    monkeypatch.setattr(make_demo, "asked_for", lambda store: every_key())
    names = {"ten": None, "every": 1, "numbers": 0}
    grids = (make_demo.grid(("one_class",), ("ssd",)),) * 2
    monkeypatch.setattr(
        make_demo,
        "PARTS",
        tuple(make_demo.Part(name, "", grids, inside=inside) for name, inside in names.items()),
    )


def packed(home: Path, out: Path) -> dict[tuple[str, str, int], datetime | None]:
    """Pack a home over what is in `out`: when each run of the pack was finished."""
    with open_store(home) as store:
        make_demo.pack(store, out, fresh=False)
    with open_pack(out) as pack:
        return {
            (
                result.spec["scenario"],
                result.spec["method"],
                result.spec["training_seed"],
            ): result.finished
            for result in pack.results()
        }


def test_the_newest_run_stays_and_what_was_compared_with_another_retrain_leaves(tmp_path, parts):
    retrain, scrub, ssd = (("one_class", method, 0) for method in ("retrain", "scrub", "ssd"))
    elsewhere = [("class_wise", method, 0) for method in ("retrain", "ssd")]
    store_of(
        tmp_path / "old",
        OLD,
        {"ten": [retrain, scrub, ssd, *elsewhere], "gone": [("one_class", "finetune", 0)]},
    )
    packed(tmp_path / "old", tmp_path / "out")
    store_of(tmp_path / "new", NEW, {"every": [retrain, scrub]})
    found = packed(tmp_path / "new", tmp_path / "out")
    assert found == {retrain: NEW, scrub: NEW} | dict.fromkeys(elsewhere, OLD)
    with open_pack(tmp_path / "out") as pack:
        assert {one.name: len(one.keys) for one in pack.comparisons()} == {"every": 2, "ten": 4}


def test_a_retrain_that_agrees_leaves_the_pack_as_it_is(tmp_path, parts):
    """A machine that rounds alike trains the same network again, so what was compared with it
    stays, and what was missing comes beside.
    """
    retrain, scrub, ssd = (("one_class", method, 0) for method in ("retrain", "scrub", "ssd"))
    store_of(tmp_path / "old", OLD, {"ten": [retrain, scrub]}, loss=0.5)
    packed(tmp_path / "old", tmp_path / "out")
    store_of(
        tmp_path / "new",
        NEW,
        {"every": [retrain, ssd], "a trial of mine": [("one_class", "fisher", 0)]},
        loss=0.5,
    )
    assert packed(tmp_path / "new", tmp_path / "out") == {retrain: OLD, scrub: OLD, ssd: NEW}


def test_what_is_missing_is_computed_alone_beside_a_retrain_that_agrees_and_else_with_everything(
    tmp_path,
):
    specs = [
        make_spec_row(scenario=scenario, method=method, training_seed=seed)
        for scenario in ("one_class", "class_wise")
        for method in ("retrain", "scrub", "ssd")
        for seed in (0, 1)
    ]
    lacks = next(
        spec
        for spec in specs
        if (spec.scenario, spec.method, spec.training_seed) == ("class_wise", "ssd", 1)
    )
    before = {spec.key: make_result(spec) for spec in specs if spec is not lacks}
    group = {
        spec.key for spec in specs if spec.scenario == "class_wise" and spec.training_seed == 1
    }
    assert make_demo.references_to_train(specs, before) == {lacks.retrained().key}
    assert make_demo.references_to_train(specs, before | {lacks.key: make_result(lacks)}) == set()
    with open_store(tmp_path) as store:
        # nobody trained the Retrain again
        assert make_demo.unfinished(specs, before, store) == group and len(group) == 3
        store.put_result(make_result(lacks.retrained(), losses=(1.5, 0.25)))
        assert make_demo.unfinished(specs, before, store) == group
        store.put_result(make_result(lacks.retrained()))
        assert make_demo.unfinished(specs, before, store) == {lacks.key}
        assert make_demo.unfinished(specs, before | {lacks.key: make_result(lacks)}, store) == set()


def test_predictions_travel_with_the_first_runs_that_pages_open_on(tmp_path, parts):
    store_of(
        tmp_path / "home",
        NEW,
        {
            "ten (2)": [("one_class", "finetune", 0)],
            "every": [("one_class", "scrub", 0), ("one_class", "scrub", 1)],
            "every (2)": [("one_class", "fisher", 0)],
            "numbers": [("one_class", "ssd", 0)],
        },
    )
    with open_store(tmp_path / "home") as store:
        spec = make_spec_row(scenario="one_class", method="scrub")
        spec = spec.model_copy(
            update={"method_preset": "tuned", "parameters": {**spec.parameters, "lr": 0.2}}
        )
        store.put_result(
            make_result(spec, outputs=store.artifacts.put_outputs(make_outputs(splits=("test",))))
        )
        store.create_comparison("numbers (2)", "", {}, [spec.key])
    packed(tmp_path / "home", tmp_path / "out")
    with open_pack(tmp_path / "out") as pack:
        inside = [
            (r.spec["method"], r.spec["training_seed"], r.spec["method_preset"])
            for r in pack.results()
            if r.outputs is not None
        ]
    assert sorted(inside) == [("finetune", 0, "authors"), ("scrub", 0, "tuned")]


@pytest.mark.slow
def test_the_demo_has_the_features_that_lessons_look_at():
    wanted = make_demo.told_by_features()
    with open_pack(DEMO) as pack:
        found = {
            (r.spec["scenario"], r.spec["method"])
            for r in pack.results()
            if r.outputs is not None and r.spec["method_preset"] == "authors"
        }
    assert wanted and wanted <= found
