"""The demo's script: what a new pack keeps of the one before."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import make_demo
import numpy as np
import pytest
from builders import make_outputs, make_result, make_spec_row

from mucore import analysis
from mucore.catalog.tuning import shipped
from mucore.spec import REVISION, RunSpec
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


def test_what_was_begun_elsewhere_is_completed(tmp_path, parts):
    """A comparison planned whole, half of it in the pack and the rest in a new home, holds both."""
    first, second = (
        [("one_class", method, 0) for method in ("retrain", "ssd")],
        [("one_class", method, 1) for method in ("retrain", "ssd")],
    )
    store_of(tmp_path / "old", OLD, {"ten": [*first, *second]})
    with open_store(tmp_path / "old") as store:
        for result in store.results():
            if result.spec["training_seed"]:
                store.delete_result(result.key)
    assert set(packed(tmp_path / "old", tmp_path / "out")) == set(first)
    store_of(tmp_path / "new", NEW, {"ten": [*first, *second]})
    with open_store(tmp_path / "new") as store:
        for result in store.results():
            if not result.spec["training_seed"]:
                store.delete_result(result.key)
    assert packed(tmp_path / "new", tmp_path / "out") == dict.fromkeys(first, OLD) | dict.fromkeys(
        second, NEW
    )
    with open_pack(tmp_path / "out") as pack:
        assert [len(one.keys) for one in pack.comparisons()] == [4]


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


def test_what_no_part_asks_for_any_more_leaves_the_pack(tmp_path, parts, monkeypatch):
    """Settings or code of a method have changed since, so its run is of another time."""
    retrain, scrub, ssd = (("one_class", method, 0) for method in ("retrain", "scrub", "ssd"))
    store_of(tmp_path / "old", OLD, {"ten": [retrain, scrub, ssd]}, loss=0.5)
    packed(tmp_path / "old", tmp_path / "out")
    today = {
        make_spec_row(scenario=scenario, method=method).key
        for scenario, method, _ in (retrain, scrub)
    }
    monkeypatch.setattr(make_demo, "asked_for", lambda store: today)
    with open_store(tmp_path / "empty"):
        pass
    assert packed(tmp_path / "empty", tmp_path / "out") == {retrain: OLD, scrub: OLD}


def test_runs_of_an_earlier_recipe_stay_until_their_retrain_is_made_anew(tmp_path, parts):
    def run(scenario: str | None, method: str, revision: int) -> RunSpec:
        made = make_spec_row(scenario=scenario, method=method)
        recipe = made.recipe.model_copy(update={"revision": revision})
        return made.model_copy(update={"recipe": recipe})

    earlier = [
        run(scenario, method, 1)
        for scenario in ("one_class", "class_wise")
        for method in ("retrain", "ssd")
    ]
    training = run("one_class", "retrain", 1).original()
    before = {spec.key: make_result(spec) for spec in (training, *earlier)}
    with open_store(tmp_path) as store:
        assert make_demo.staying(before, (), store) == before.keys()
        store.put_result(make_result(run("class_wise", "ssd", REVISION)))  # not a Retrain
        assert make_demo.staying(before, (), store) == before.keys()
        anew = make_result(run("class_wise", "retrain", REVISION), losses=(1.5, 0.25))
        store.put_result(anew)
        gone = {spec.key for spec in earlier[2:]}
        assert make_demo.staying(before, (), store) == before.keys() - gone
        store.put_result(make_result(run("one_class", "retrain", REVISION), losses=(1.5, 0.25)))
        store.put_result(make_result(run(None, "original", REVISION), losses=(1.5, 0.25)))
        assert make_demo.staying(before, (), store) == set()


def test_parts_ask_for_each_of_their_runs(tmp_path, monkeypatch):
    grids = (make_demo.grid(("class_wise",), ("ssd",), (0, 1)),)
    monkeypatch.setattr(make_demo, "PARTS", (make_demo.Part("one", "", grids),))
    with open_store(tmp_path) as store:
        asked = make_demo.asked_for(store)
    assert len(asked) == 2 * 4  # the training, Original, Retrain and SSD of each seed


def test_the_demo_asks_for_each_setting_that_a_search_found():
    asked = {
        (choice.id, scenario.id)
        for part in make_demo.PARTS
        for grid in part.grids
        for scenario in grid.scenarios
        for choice in grid.methods
        if choice.preset == "tuned"
    }
    assert asked == {(each.method, each.scenario) for each in shipped()}


def test_analyses_stay_with_the_runs_that_they_are_about(tmp_path, parts):
    retrain, ssd = (("one_class", method, 0) for method in ("retrain", "ssd"))
    store_of(tmp_path / "old", OLD, {"ten": [retrain, ssd, ("class_wise", "ssd", 0)]})
    packed(tmp_path / "old", tmp_path / "out")
    gone, stays = (
        make_spec_row(scenario=scenario, method="ssd").key
        for scenario in ("one_class", "class_wise")
    )
    maps = {
        f"map of {name}.npz": {"ids": np.arange(3), key: np.zeros((3, 2))}
        for name, key in (("gone", gone), ("stays", stays))
    }
    layers = {
        f"{analysis.key('layers', {'key': key, 'split': 'test'})}.npz": {"original": np.eye(2)}
        for key in (gone, stays)
    }
    (tmp_path / "out" / "analyses").mkdir()
    replays = {
        f"{analysis.key('replay', {'key': key})}.npz": {"steps": np.arange(2)}
        for key in (gone, stays)
    }
    for name, arrays in {**maps, **layers, **replays}.items():
        np.savez(tmp_path / "out" / "analyses" / name, allow_pickle=False, **arrays)
    # a new Retrain takes ssd of the same scenario away
    store_of(tmp_path / "new", NEW, {"every": [retrain]})
    packed(tmp_path / "new", tmp_path / "out")
    assert {path.name for path in (tmp_path / "out" / "analyses").iterdir()} == {
        "map of stays.npz",
        list(layers)[1],
        list(replays)[1],
    }


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
