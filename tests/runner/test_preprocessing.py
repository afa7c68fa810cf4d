"""How pixels are preprocessed: chosen once for a comparison, said or recognised of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from facts import tells
from launching import digits as spec
from launching import small_grid
from torch import Tensor, nn

import mucore.api as mu
from mucore import datasets, models
from mucore.datasets import Splits
from mucore.engine.data import Samples, on_device
from mucore.engine.run import NO_CALLBACKS
from mucore.errors import BadFile, BadValue
from mucore.forget_sets.identity import to_rows
from mucore.models.checkpoint_pixels import recognised
from mucore.runner.execute import _forgetting, model_of
from mucore.runner.grid import MethodChoice, expand
from mucore.runner.plan import make_plan
from mucore.runner.session import Session
from mucore.runs import make_recipe
from mucore.store import Store, open_store
from mucore.verdicts import judge_stored

# mean and deviation of pixels in 0..1; the last is a layer of the network
SCALES = {"0..1": (0.0, 1.0), "-1..1": (0.5, 0.5), "inside": (0.3, 0.7)}
KNOWN = ("mucore", "0..1", "-1..1")


NAMES = {" 0..1 ": "0..1", "0,0,0/1,1,1": "0..1", "0.5/0.5": "-1..1", "0.2860/.3530": "0.286/0.353"}


def test_a_choice_has_one_name_and_the_usual_one_leaves_keys_as_they_were():
    usual = make_recipe("quick")
    assert make_recipe("quick", {"preprocess": "mucore"}).model_dump() == usual.model_dump()
    for text, name in NAMES.items():
        recipe = make_recipe("quick", {"preprocess": text})
        assert recipe.preprocess == recipe.model_dump()["preprocess"] == name
        assert spec(recipe=recipe).key != spec(recipe=usual).key
    for text in ("0..255", "0.5", "1/0", "a/b", "0.5/0.5/0.5", "nan/1", ""):
        with pytest.raises(BadValue, match=r"preprocess must be mucore, 0..1, -1..1 or MEAN/STD"):
            make_recipe("quick", {"preprocess": text})


def test_every_network_of_a_comparison_gets_its_inputs_so(store: Store):
    recipe = make_recipe("quick", {"preprocess": "0.25/2"})
    session, pixels = Session(store, "cpu"), datasets.load("digits").train.pixels
    for each in (spec(recipe=recipe).original(), spec("retrain", recipe=recipe)):
        batch = next(iter(session.samples(each, "train").batches(session.run(each, 0), 4)))
        assert torch.equal(batch.x, (pixels[:4].float() / 255 - 0.25) / 2)
    with pytest.raises(BadValue, match="1 means"):
        session.splits(spec(recipe=make_recipe("quick", {"preprocess": "0,0,0/1,1,2"})))


def test_one_file_is_one_seed(tmp_path: Path):
    network = models.build("mlp", in_channels=1, classes=10, image_size=8, seed=5)
    torch.save(network.state_dict(), tmp_path / "a.pt")
    file = str(tmp_path / "a.pt")
    methods = [MethodChoice(id="uploaded", parameters={"file": file}), MethodChoice(id="finetune")]
    seeds = {"training_seeds": [3, 4, 5], "unlearning_seeds": [0, 1]}
    grid = small_grid().model_copy(update={"methods": methods, **seeds})

    def runs(original: str) -> set[tuple[str, int, int]]:
        specs, refused = expand(grid.model_copy(update={"original": original}))
        assert {each.reason.split(":")[0] for each in refused} == {"A file is one model"}
        return {(s.method, s.training_seed, s.unlearning_seed) for s in specs if s.scenario}

    retrains = {("retrain", seed, 0) for seed in (3, 4, 5)}
    every = {("finetune", seed, again) for seed in (3, 4, 5) for again in (0, 1)}
    originals, mine = {("original", seed, 0) for seed in (3, 4, 5)}, {("uploaded", 3, 0)}
    assert runs("") == retrains | originals | mine | every
    first = {each for each in originals | every if each[1] == 3}
    assert runs(file) == retrains | mine | first


# -- a plain loop, which knows nothing of mucore


def plain_loop(x: Tensor, y: Tensor, network: nn.Module, steps: int) -> nn.Module:
    optimizer, rng = torch.optim.Adam(network.parameters(), 1e-3), torch.Generator().manual_seed(0)
    network.train()
    for _ in range(steps):
        batch = torch.randint(len(x), (64,), generator=rng)
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x[batch]), y[batch]).backward()
        optimizer.step()
    return network.eval()


def scaled(splits: Splits, pixels: Tensor, name: str) -> Tensor:
    mean, std = SCALES.get(name) or (splits.mean[0], splits.std[0])
    return (pixels.float() / 255 - mean) / std


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mucore", *SCALES])
def test_a_genuine_retrain_has_the_accuracies_of_its_own_loop(tmp_path: Path, name: str):
    splits = datasets.load("digits")
    network = models.build("resnet9-small", in_channels=1, classes=10, image_size=8, seed=7)
    forgotten = torch.arange(len(splits.train)) % 10 == 0
    x, y = scaled(splits, splits.train.pixels, name), splits.train.labels
    parts = {"ra": (x[~forgotten], y[~forgotten]), "fa": (x[forgotten], y[forgotten])}
    parts["ta"] = (scaled(splits, splits.test.pixels, name), splits.test.labels)
    plain_loop(*parts["ra"], network, 150)
    with torch.no_grad():
        right = {part: int((network(x).argmax(1) == y).sum()) for part, (x, y) in parts.items()}
    state, path = network.state_dict(), tmp_path / "mine.pt"
    layer = {"normalize.mean": torch.full((1,), 0.3), "normalize.std": torch.full((1,), 0.7)}
    content = {
        "mucore": state,
        "-1..1": {"model": {f"backbone.{n}": t for n, t in state.items()}, "epoch": 3},
        "0..1": {"net": {f"_orig_mod.{n}": t for n, t in state.items()}, "acc": 1.0},
        "inside": {"state_dict": {f"module.{n}": t for n, t in (state | layer).items()}},
    }
    torch.save(content[name], path)
    ids = {"ids": to_rows(splits, splits.train.ids.numpy()[forgotten.numpy()]).tolist()}
    asked: dict[str, Any] = {"dataset": "digits", "model": "resnet9-small", "preset": "quick"}
    asked |= {"recipe": {"epochs": 3}, "scenario": "ids", "scenario_parameters": ids}
    asked |= {"methods": "uploaded", "parameters": {"uploaded": {"file": str(path)}}}
    asked["home"] = tmp_path / "home"
    if name in KNOWN[1:]:
        with pytest.raises(BadFile) as refusal:
            mu.compare(**asked)
        assert tells(str(refusal.value), "mine.pt", "pixels from", f"--preprocess {name}")
        asked["preprocess"] = name
    frame = mu.compare(**asked).set_index("method")
    for part, (_, y) in parts.items():
        assert frame.loc["uploaded", part] * len(y) == pytest.approx(right[part], abs=1e-6)
    with open_store(tmp_path / "home") as store:
        (found,) = judge_stored(store, method="uploaded").values()
        assert found.verdict is not None and found.verdict.word != "damaged"


def test_where_nothing_in_a_file_tells_it_must_be_said(store: Store, tmp_path: Path):
    network = models.build("mlp", in_channels=1, classes=10, image_size=8, seed=5)
    torch.save(network.state_dict(), tmp_path / "mine.pt")
    grid = small_grid(original=str(tmp_path / "mine.pt"))
    with pytest.raises(BadFile, match=r"mine.pt tells.*: 0\.\.1, -1\.\.1, .* mucore"):
        make_plan(grid, store)
    for said in KNOWN:
        recipe = grid.recipe | {"preprocess": said}
        made = make_plan(grid.model_copy(update={"recipe": recipe}), store)
        assert {each.recipe.preprocess for each in made.specs} == {said}


def assert_recognised(network: nn.Module, samples: Samples, right: str) -> None:
    found = {given: recognised(network, samples, given) for given in KNOWN}
    assert found == {given: "" if given == right else right for given in KNOWN}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["0..1"])
def test_what_a_network_was_trained_on_is_recognised(name: str):
    splits = datasets.load("digits", per_class=100)
    network = models.build("resnet9-small", in_channels=1, classes=10, image_size=8, seed=0)
    plain_loop(scaled(splits, splits.train.pixels, name), splits.train.labels, network, 150)
    assert_recognised(network, on_device(splits, "train", "cpu"), name)


@pytest.mark.slow
def test_what_methods_return_is_recognised_as_its_original_is(store: Store):
    name = "-1..1"
    recipe = make_recipe("quick", {"epochs": 6, "preprocess": name})
    session = Session(store, "cpu")
    for method in ("boundary_shrink", "finetune", "salun"):
        each = spec(method, model="resnet9-small", recipe=recipe)
        original = session.original(each)
        forget, data = _forgetting(each, session, original, session.run(each, 0))
        network, _ = model_of(each, session, original, forget, data, NO_CALLBACKS)
        assert_recognised(network, session.samples(each, "train"), name)
