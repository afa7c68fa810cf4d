"""Replays of real runs on digits: they end in the stored result bit by bit, and say so where they
do not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from builders import attributes_file, execute_all

from mucore import analysis
from mucore.analysis.replay import MAPPED, SETS
from mucore.errors import BadValue
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.runs import make_recipe, make_spec
from mucore.store import open_pack, open_store
from mucore.store.pack import write_pack

pytestmark = pytest.mark.slow

RECIPE = make_recipe("quick", {"epochs": 4, "batch_size": 64})


def spec(method: str, **changes: Any):
    given: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "recipe": RECIPE,
        "scenario": "class_wise",
        "mia_samples": 20,
    } | changes
    return make_spec(method=method, **given)


SPECS = {name: spec(name) for name in ("original", "retrain", "finetune", "scrub", "salun", "ssd")}
SPECS["finetune"] = spec("finetune", parameters={"epochs": 3, "lr": 0.1})
SPECS["noisy"] = SPECS["finetune"].model_copy(update={"noise": 0.01, "unlearning_seed": 3})
SPECS["confined"] = SPECS["finetune"].model_copy(update={"scope": "classifier"})
SPECS["later"] = spec("scrub", scenario_parameters={"class_ids": [1]}).model_copy(
    update={"after": SPECS["finetune"]}
)
SPECS["later retrain"] = SPECS["later"].retrained()
KEYS = {name: each.key for name, each in SPECS.items()}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replay")
    execute_all(folder, SPECS.values())
    return folder


@pytest.fixture
def plain_map(monkeypatch):
    """Where the map does not matter: it stays at its start, which takes no time."""
    monkeypatch.setattr(analysis.tsne, "embed", lambda features, start, *_, **__: start)


def compute(store, name, **parameters):
    told = []
    value = analysis.KINDS["replay"].compute(
        store,
        analysis.complete(
            "replay", {"key": KEYS[name], "frames": 4, "samples": 2000, **parameters}
        ),
        lambda done, what: told.append(done),
    )
    assert told == sorted(told) and 0 <= told[0] and told[-1] <= 1
    return value


@pytest.mark.parametrize("name", [name for name in SPECS if name != "original"])
def test_a_replay_ends_in_the_stored_weights_and_its_ends_are_the_stored_predictions(
    store, name, plain_map
):
    value = compute(store, name)
    assert value["same"] is True and value["notes"] == []
    result = store.get_result(KEYS[name])
    total = result.cost["steps"]
    assert value["steps"][0] == 0 and value["steps"][-1] == total
    assert value["between"] == (total > 1) == (name != "ssd")
    assert len(value["steps"]) == (4 if total > 3 else 2 + max(total - 1, 0))
    assert value["work"][0] == 0 and value["work"][-1] == 1 and (np.diff(value["work"]) >= 0).all()
    ends = {-1: store.artifacts.get_outputs(result.outputs)}
    if name not in ("retrain", "later", "later retrain"):
        ends[0] = store.artifacts.get_outputs(store.get_result(KEYS["original"]).outputs)
    for place, outputs in ends.items():
        for split in SETS:
            stored = outputs[split]
            order = np.argsort(stored.ids)
            mine = np.argsort(value[f"{split}/ids"])
            assert (value[f"{split}/ids"][mine] == stored.ids[order]).all()
            assert (
                value[f"{split}/predicted"][place][mine] == stored.logits[order].argmax(1)
            ).all()
            assert (value[f"{split}/labels"][mine] == stored.labels[order]).all()
    share = (value["forget/predicted"] == value["forget/labels"]).mean(axis=1)
    assert share[-1] == pytest.approx(result.metrics["fa"].value)


def test_a_retrain_starts_from_what_it_was_trained_from(store, plain_map):
    """Before the first step it knows nothing, of a forgotten or of a retained class."""
    value = compute(store, "retrain")
    assert (value["test/predicted"] == value["test/labels"]).mean(axis=1)[0] < 0.4
    assert value["gone"] == [0] and compute(store, "later")["gone"] == [0, 1]


def test_one_map_of_all_frames(store):
    value = compute(store, "salun", samples=100)
    frames, many = len(value["steps"]), min(MAPPED["forget"], 100) + min(MAPPED["retain"], 100)
    assert value["map/points"].shape == (frames, many, 2) and np.isfinite(value["map/points"]).all()
    assert value["map/forgotten"].sum() == 100
    assert (value["map/labels"][value["map/forgotten"]] == 0).all()
    assert set(value["map/ids"]) <= {*value["forget/ids"], *value["retain/ids"]}
    assert value["totals"]["test"] == 400 and len(value["test/ids"]) == 100
    assert value["test/probability"].dtype == np.float16 and value["test/probability"].shape == (
        frames,
        100,
    )
    assert value["stayed"][0] == pytest.approx(1)
    assert value["stayed"][-1] < 0.999
    assert value["stayed"].shape == (frames,)
    assert 0 < value["nearest"] < 1
    same = compute(store, "salun", samples=100)
    assert all(
        (value[each] == same[each]).all() for each in value if isinstance(value[each], np.ndarray)
    )


def test_other_weights_are_told_of(store, plain_map):
    """A result from another machine: the replay stays what it is, and says by how much it
    differs.
    """
    record = store.get_model(SPECS["finetune"].model_key)
    arrays = {
        name: array.copy() for name, array in store.artifacts.get_arrays(record.weights).items()
    }
    next(iter(arrays.values())).flat[0] += 0.25
    store.put_model(replace(record, weights=store.artifacts.put_arrays(arrays)))
    value = compute(store, "finetune")
    assert value["same"] is False
    assert value["notes"][0].startswith(
        "This replay ended in other weights than the stored run, by 0.25 at most."
    )


def drop_weights(store, name):
    record = store.get_model(SPECS[name].model_key)
    store.put_model(replace(record, weights=None))


def test_without_the_runs_own_weights_nothing_is_said_of_them(store, plain_map):
    drop_weights(store, "finetune")
    value = compute(store, "finetune")
    assert value["same"] is None and "weights are gone" in value["notes"][0]


# -- sentences


def test_what_cannot_be_replayed_is_said_in_a_sentence(store, tmp_path):
    with pytest.raises(BadValue, match="run of original has none"):
        compute(store, "original")
    with pytest.raises(BadValue, match="There is no run with the key 'x'"):
        compute(store, "original", key="x")
    with (
        open_pack(write_pack(store, tmp_path / "pack")) as packed,
        pytest.raises(BadValue, match="results came without them"),
    ):
        compute(packed, "finetune")
    drop_weights(store, "original")
    with pytest.raises(BadValue, match=r"The weights of original .* another home"):
        compute(store, "finetune")


def test_ensembles_and_attributes_are_refused(tmp_path):
    path = attributes_file(tmp_path / "faces.npz")
    attributes = spec(
        "finetune",
        dataset=f"npz:{path}",
        scenario="all_classes",
        recipe=make_recipe("quick", {"epochs": 1, "batch_size": 64}),
    )
    with open_store(tmp_path / "home") as store:
        session = Session(store, "cpu")
        for each in (
            attributes,
            spec("sisa", recipe=make_recipe("quick", {"epochs": 1, "batch_size": 64})),
        ):
            execute(each, session)
            with pytest.raises(BadValue, match="attributes. Choose another|run of sisa has none"):
                analysis.KINDS["replay"].compute(
                    store, analysis.complete("replay", {"key": each.key}), lambda done, what: None
                )


# -- the file


def test_a_replay_is_the_same_small_file_again(store, tmp_path):
    asked = {"key": KEYS["salun"], "frames": 4, "samples": 60}
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        files.append(analysis.compute("replay", asked, store, tmp_path / name).path)
    assert files[0].stem == analysis.key("replay", asked)
    first, again = (file.read_bytes() for file in files)
    assert first == again
