"""Weights that a user gives: as the original, as a method's result, and as the start of
training.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from facts import tells
from launching import digits as spec
from launching import small_grid
from safetensors.torch import save_file

import mucore.api as mu
from mucore import models
from mucore.cli.commands import main
from mucore.errors import BadFile, Refused
from mucore.runner.execute import execute
from mucore.runner.grid import Grid, MethodChoice, expand
from mucore.runner.plan import launch, make_plan
from mucore.runner.session import Session
from mucore.runs import make_recipe
from mucore.store import Store, open_store
from mucore.userfiles import weights

pytestmark = pytest.mark.slow


def weights_file(path: Path, *, model: str = "mlp", seed: int = 5, classes: int = 10) -> Path:
    state = models.build(
        model, in_channels=1, classes=classes, image_size=8, seed=seed
    ).state_dict()
    save_file(state, path) if path.suffix == ".safetensors" else torch.save(state, path)
    return path


def grid(*methods: str, original: object = "", file: object = "", **recipe: Any) -> Grid:
    choices = [
        MethodChoice(id=name, parameters={"file": str(file)} if name == "uploaded" else {})
        for name in methods
    ]
    changes: dict[str, Any] = {"methods": choices, "original": str(original)}
    changes["recipe"] = {"epochs": 1, "preprocess": "mucore"} | recipe
    return small_grid().model_copy(update=changes)


def stored(session: Session, key: str) -> dict[str, np.ndarray]:
    record = session.store.get_model(key)
    assert record is not None and record.weights is not None
    return session.store.artifacts.get_arrays(record.weights)


# -- the key


def test_only_the_content_of_a_file_counts(tmp_path: Path) -> None:
    here, there, other = (
        weights_file(tmp_path / "a.pt"),
        tmp_path / "b" / "c.pt",
        weights_file(tmp_path / "d.pt", seed=6),
    )
    there.parent.mkdir()
    there.write_bytes(here.read_bytes())
    keys = [spec("uploaded", parameters={"file": str(path)}).key for path in (here, there, other)]
    assert keys[0] == keys[1] != keys[2]
    digest = weights.file_hash(str(here), what="A test")
    assert spec("uploaded", parameters={"file": digest}).key == keys[0]
    assert spec(original_hash=digest).key != spec().key
    assert spec(original_hash=digest).retrained().original_hash == digest
    assert spec(original_hash=digest).original().original_hash == digest


def test_without_uploaded_weights_keys_are_what_they_were() -> None:
    assert {"original_hash", "pretrained_hash"}.isdisjoint(spec().canonical())
    assert "pretrained" not in spec().canonical()["recipe"]
    assert (
        spec(recipe=make_recipe("quick", {"epochs": 3, "batch_size": 64, "pretrained": False})).key
        == spec().key
    )
    assert (
        spec(recipe=make_recipe("quick", {"epochs": 3, "batch_size": 64, "pretrained": True})).key
        != spec().key
    )


def test_uploaded_needs_a_file() -> None:
    with pytest.raises(
        Refused, match="uploaded needs a file and got none. Set uploaded.file to its path"
    ):
        spec("uploaded")


# -- as the original


def test_an_uploaded_original_is_not_trained_and_retrain_is(store: Store, tmp_path: Path) -> None:
    path = weights_file(tmp_path / "mine.pt")
    plan = make_plan(grid("finetune", original=path), store)
    launch(plan, store, name="mine")
    path.unlink()  # the store has a copy
    session = Session(store, "cpu")
    results = {(s.method, s.scenario): execute(s, session) for s in plan.specs}
    base = results["original", None]
    source = models.build("mlp", in_channels=1, classes=10, image_size=8, seed=5).state_dict()
    kept = stored(session, base.model_key)
    assert all(np.array_equal(kept[key], t.numpy()) for key, t in source.items())
    assert base.cost["seconds"] is None and base.cost["steps"] == 0
    assert base.metrics["unlearning_seconds"].value is None
    assert tells(base.metrics["unlearning_seconds"].error or "", "file")
    assert any(tells(note, "original", "file", "not trained") for note in base.notes)
    retrain = results["retrain", "one_class"]
    assert retrain.cost["steps"] > 0 and retrain.metrics["rte"].value == 1
    assert results["finetune", "one_class"].metrics["rte"].value is not None
    assert store.comparisons()[0].grid["original"] == weights.file_hash(
        plan.specs[0].original_hash, what="A test"
    )


def test_methods_that_need_the_training_of_the_original_refuse_with_a_reason(
    tmp_path: Path,
) -> None:
    path = weights_file(tmp_path / "mine.pt")
    specs, refused = expand(
        grid(*"finetune amnesiac l_codec eu_k ntk unrolling pgu sisa".split(), original=path)
    )
    reasons = {each.method: each.reason for each in refused}
    assert set(reasons) == {"amnesiac", "l_codec", "eu_k", "ntk", "unrolling"}
    assert tells(reasons["amnesiac"], "amnesiac", "record", "trained elsewhere")
    assert tells(reasons["eu_k"], "initial weights", "eu_k.reset_from to kaiming")
    assert {s.method for s in specs} == {"original", "retrain", "finetune", "pgu", "sisa"}
    digest = weights.file_hash(str(path), what="A test")
    for method, values in (
        ("eu_k", {"reset_from": "kaiming"}),
        ("ntk", {"scale": "fixed"}),
        ("unrolling", {"variant": "posthoc"}),
    ):
        assert spec(method, parameters=values, original_hash=digest).original_hash == digest


# -- as a method


def test_uploaded_weights_are_measured_as_a_method_and_cost_nothing_that_is_known(
    store: Store, tmp_path: Path
) -> None:
    """A copy of Retrain's weights has Retrain's numbers."""
    session = Session(store, "cpu")
    retrain = execute(spec("retrain"), session)
    save_file(
        {key: torch.from_numpy(a) for key, a in stored(session, retrain.model_key).items()},
        tmp_path / "mine.safetensors",
    )
    weights.keep(store.artifacts, [str(tmp_path / "mine.safetensors")])
    wanted = spec("uploaded", parameters={"file": str(tmp_path / "mine.safetensors")})
    result = execute(wanted, session)
    for name in ("ta", "ra", "fa", "mia_confidence"):
        assert (
            result.metrics[name].value == retrain.metrics[name].value
            and result.metrics[name].gap == 0
        )
    assert result.metrics["l2"].value == 0
    unknown = "rte rte_work work unlearning_seconds samples_read optimizer_steps persistent_bytes"
    for name in (*unknown.split(), "peak_memory_bytes"):
        assert result.metrics[name].value is None
        assert tells(result.metrics[name].error or "", "file", "not known")
    digest = result.spec["parameters"]["file"][:12]
    assert any(tells(note, "file", f"hash {digest}") for note in result.notes)
    (flag,) = result.flags  # it is a copy
    assert tells(flag, "weights", "Retrain")


def test_a_file_that_was_never_copied_is_missed_with_a_way_out(
    store: Store, tmp_path: Path
) -> None:
    wanted = spec("uploaded", parameters={"file": str(weights_file(tmp_path / "mine.pt"))})
    with pytest.raises(BadFile, match="is not in .*Launch the run again with the file's path"):
        execute(wanted, Session(store, "cpu"))


# -- the store's copies


def test_copies_survive_every_sweep_and_damage_is_noticed(store: Store, tmp_path: Path) -> None:
    path = weights_file(tmp_path / "mine.pt")
    digest = store.artifacts.put_given(path.read_bytes())
    assert digest == weights.file_hash(str(path), what="A test")
    store.gc("numbers", young_seconds=0)
    copy = store.artifacts.file(digest)
    assert copy.read_bytes() == path.read_bytes()
    assert store.disk_use()["given"] == path.stat().st_size
    copy.write_bytes(b"else")
    with pytest.raises(BadFile, match="is damaged"):
        store.artifacts.file(digest)


# -- from outside


@pytest.mark.parametrize(("classes", "words"), [(7, "head.weight has shape"), (0, "it is none")])
def test_unusable_files_are_refused_before_anything_is_trained(
    store: Store, tmp_path: Path, classes: int, words: str
) -> None:
    path = tmp_path / "mine.pt"
    weights_file(path, classes=classes) if classes else path.write_bytes(b"nonsense")
    common: dict[str, Any] = {"dataset": "digits", "model": "mlp", "home": store.home}
    common |= {"preset": "quick", "preprocess": "mucore"}
    with pytest.raises(BadFile, match=words):
        mu.compare(**common, methods="uploaded", parameters={"uploaded": {"file": str(path)}})
    with pytest.raises(BadFile, match=words):
        mu.compare(**common, methods="finetune", original=path)
    assert not store.jobs() and not store.comparisons()


def test_the_command_line_takes_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    original, mine = (
        weights_file(tmp_path / "o.pt"),
        weights_file(tmp_path / "m.safetensors", seed=6),
    )
    common = "--dataset digits --model mlp --preset quick --set recipe.epochs=1".split()
    common += ["--scenario", "one_class", "--preprocess", "mucore"]
    own = ["--methods", "uploaded", "--set", f"uploaded.file={mine}", "--original", str(original)]
    assert main(["run", *common, *own]) == 0
    with open_store(tmp_path / "home") as store:
        rows = {(result.spec["method"], result.spec["scenario"]) for result in store.results()}
        assert rows == {
            ("original", None),
            ("original", "one_class"),
            ("retrain", "one_class"),
            ("uploaded", "one_class"),
        }
        assert {result.spec["original_hash"] for result in store.results()} == {
            weights.file_hash(str(original), what="A test")
        }


# -- as the start of training


def test_a_pretrained_start_is_shared_by_original_and_retrain_and_said(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUCORE_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "weights").mkdir(parents=True)
    path = weights_file(tmp_path / "data" / "weights" / "mlp.safetensors", classes=7)
    (base, retrain, *_), _ = expand(grid("finetune", epochs=0, pretrained=True))
    assert (
        base.pretrained_hash == weights.file_hash(str(path), what="A test")
        and base.recipe.pretrained
    )
    session = Session(store, "cpu")
    first, second = execute(base, session), execute(retrain, session)
    source = models.build("mlp", in_channels=1, classes=7, image_size=8, seed=5).state_dict()
    for result in (first, second):
        kept = stored(session, result.model_key)
        assert np.array_equal(kept["hidden1.weight"], source["hidden1.weight"].numpy())
        assert any(
            "Started from pretrained weights: mlp.safetensors" in note and "The head is new" in note
            for note in result.notes
        )
    weights_file(path, seed=8)
    (changed, *_), _ = expand(grid("finetune", epochs=0, pretrained=True))
    assert changed.key != base.key
    with pytest.raises(BadFile, match="has changed since this run was planned"):
        execute(base.model_copy(update={"training_seed": 1}), session)
