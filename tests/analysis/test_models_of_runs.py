"""Layers and relearn time from stored weights of real runs on digits."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from builders import execute_all

from mucore import analysis
from mucore.engine.features import penultimate
from mucore.engine.run import Run
from mucore.errors import BadValue
from mucore.metrics.representation import linear_cka
from mucore.probes.activations import layer_features
from mucore.runs import make_recipe, make_spec
from mucore.store import open_pack
from mucore.store.pack import write_pack
from tests import toy

RECIPE = make_recipe("quick", {"epochs": 6, "batch_size": 64})


def spec(method: str, **changes):
    return make_spec(
        dataset="digits",
        model="mlp",
        recipe=RECIPE,
        method=method,
        scenario="class_wise",
        mia_samples=20,
        **changes,
    )


SPECS = {name: spec(name) for name in ("original", "retrain", "finetune")}
KEYS = {name: each.key for name, each in SPECS.items()}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    execute_all(folder, SPECS.values())
    return folder


def compute(kind, store, **parameters):
    return analysis.KINDS[kind].compute(
        store, analysis.complete(kind, parameters), lambda done, what: None
    )


# -- layers


def test_a_model_is_its_own_layers(store):
    """The original under the scenario is the original: 1 on the diagonal, and as far from Retrain
    as the original is.
    """
    value = compute("layers", store, key=KEYS["original"], samples=100)
    assert value["layers"] == ["hidden1", "hidden2", "hidden3", "relu3"]
    assert np.diagonal(value["original"]) == pytest.approx(np.ones(4))
    assert np.allclose(value["original"], value["original"].T)
    assert np.diagonal(value["retrain"]) == pytest.approx(value["original_retrain"])
    assert (value["original_retrain"] < 0.999).all()
    assert len(value["samples"]) == 100 and "Linear CKA on 100 samples" in value["note"]
    assert np.diagonal(
        compute("layers", store, key=KEYS["retrain"], samples=100)["retrain"]
    ) == pytest.approx(np.ones(4))


def test_the_last_layer_is_the_penultimate_features(store):
    """Its CKA on the forget set is that of the features that the runs stored."""
    value = compute("layers", store, key=KEYS["finetune"], split="forget", samples=2000)
    features = {}
    for name in ("finetune", "retrain"):
        split = store.artifacts.get_outputs(store.get_result(KEYS[name]).outputs)["forget"]
        features[name] = split.features[np.argsort(split.ids)]
        assert sorted(value["samples"]) == sorted(split.ids)
    # stored features are float16
    assert value["retrain"][-1, -1] == pytest.approx(
        linear_cka(features["finetune"], features["retrain"]), abs=1e-3
    )


def test_feature_maps_are_averaged_over_the_image():
    samples = toy.problem("conv").samples(torch.arange(20), "test")
    convolutions = {
        f"layer{number}": torch.nn.Conv2d(wide, 3, 3, padding=1)
        for number, wide in ((1, 3), (2, 3))
    }
    network = torch.nn.Sequential()
    for name, layer in {
        "stem": torch.nn.Conv2d(samples.images.shape[0], 3, 3, padding=1),
        **convolutions,
        "pool": torch.nn.AdaptiveAvgPool2d(1),
        "flat": torch.nn.Flatten(),
        "fc": torch.nn.Linear(3, 4),
    }.items():
        network.add_module(name, layer)
    run = Run(seed=0)
    found = layer_features(network, samples, run)
    assert list(found) == ["stem", "layer1", "layer2", "flat"]
    (batch,) = samples.batches(run, 100)
    with torch.no_grad(), penultimate(network) as seen:
        first = network.get_submodule("stem")(batch.x)
        network(batch.x)
    assert found["stem"] == pytest.approx(first.mean(dim=(2, 3)).numpy(), abs=1e-5)
    assert found["layer2"] == pytest.approx(seen[0].numpy(), abs=1e-5)


@pytest.mark.parametrize("shape", [(2, 5, 5, 3), (2, 7, 3), (2, 3, 5, 5), (2, 3)])
def test_channels_of_every_layout(shape):
    """Channel c holds c everywhere, wherever the channels stand."""
    from mucore.probes.activations import _channels

    values = torch.arange(3.0)
    output = (
        values.view(1, 3, 1, 1).expand(shape) if shape == (2, 3, 5, 5) else values.expand(shape)
    )
    assert _channels(output).tolist() == [[0, 1, 2], [0, 1, 2]]


# -- relearn time


def test_curves_start_where_the_runs_ended(store):
    value = compute("relearn", store, keys=list(KEYS.values()), epochs=4)
    for key in KEYS.values():
        fa, target = store.get_result(key).metrics["fa"].value, value["targets"][key]
        curve = value[key]
        assert curve[0] == pytest.approx(fa) and len(curve) == 5
        assert target == pytest.approx(store.get_result(KEYS["original"]).metrics["fa"].value)
        reached = [epoch for epoch, each in enumerate(curve) if each >= target]
        assert value["epochs"][key] == (reached[0] if reached else None)
    assert value["epochs"][KEYS["original"]] == 0
    # a model that never saw the class
    assert value[KEYS["retrain"]][0] == 0 and value["epochs"][KEYS["retrain"]] != 0


# -- sentences


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [("layers", {"key": KEYS["finetune"]}), ("relearn", {"keys": [KEYS["finetune"]]})],
)
def test_removed_weights_are_said_to_be_removed(store, kind, parameters):
    store.gc("outputs", young_seconds=0)
    with pytest.raises(
        BadValue, match=r"The weights of finetune \(training seed 0\) are not in " r"the store"
    ):
        compute(kind, store, **parameters)


@pytest.mark.parametrize("kind", ["layers", "relearn"])
def test_a_pack_has_no_weights(store, tmp_path, kind):
    pack = write_pack(store, tmp_path / "pack")
    parameters = {"key": KEYS["finetune"]} if kind == "layers" else {"keys": [KEYS["finetune"]]}
    with open_pack(pack) as packed, pytest.raises(BadValue, match="results came without them"):
        compute(kind, packed, **parameters)
