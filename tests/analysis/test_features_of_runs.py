"""Maps and neighbours from stored features: values derived by hand, the samples all runs share,
sentences where it cannot be done.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from mucore import analysis
from mucore.analysis import tsne
from mucore.errors import BadValue
from mucore.outputs import Outputs, SplitOutputs
from mucore.store import open_store
from tests.builders import make_result


def quiet(done: float, what: str) -> None:
    pass


def split(ids, labels, features, *, classes=3) -> SplitOutputs:
    labels = np.asarray(labels)
    rows = labels if labels.ndim == 1 else labels[:, 0]
    confusion = (
        np.diag(np.bincount(rows, minlength=classes))
        if labels.ndim == 1
        else np.full((labels.shape[1], 2, 2), 5)
    )
    return SplitOutputs(
        logits=np.zeros((len(ids), classes), np.float32),
        labels=labels,
        ids=np.asarray(ids),
        confusion=confusion,
        features=None if features is None else np.asarray(features, np.float16),
    )


def put(store, outputs: Mapping[str, SplitOutputs] | None, **of) -> str:
    name = None if outputs is None else store.artifacts.put_outputs(Outputs(outputs))
    result = make_result(outputs=name, **of)
    store.put_result(result)
    return result.key


@pytest.fixture
def store(tmp_path):
    with open_store(tmp_path / "home") as store:
        yield store


def clusters(seed: int, *, shift: float = 0.0) -> dict[str, SplitOutputs]:
    """Forget: ids 100 to 111, class 0; retain: ids 0 to 59, classes 1 and 2 in turn, the last ten
    without features; test: 10 a class.
    """
    draw = np.random.default_rng(seed)
    centres = np.array([[4, 0, 0, 0], [0, 4, 0, 0], [0, 0, 4, shift]])
    labels = {
        "forget": np.zeros(12, int),
        "retain": 1 + np.arange(60) % 2,
        "test": np.arange(30) % 3,
    }
    kept = {"forget": 12, "retain": 50, "test": 30}
    start = {"forget": 100, "retain": 0, "test": 200}
    return {
        name: split(
            start[name] + np.arange(len(each)),
            each,
            (centres[each] + draw.normal(0, 0.3, (len(each), 4)))[: kept[name]],
        )
        for name, each in labels.items()
    }


# -- neighbours


def test_neighbours_by_hand(store):
    """In the plane, at angles: the query (id 50, forgotten) at 0 degrees; retained ones at 10, 20,
    40 and 90 in one of the runs.
    """

    def at(*degrees):
        return np.stack(
            [np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=1
        ) * np.array([[2.0]])

    first = {
        "forget": split([50, 51], [0, 0], at(0, 30)),
        "retain": split([7, 3, 9, 5], [1, 1, 2, 2], at(10, 20, 40, 90)),
    }
    second = {
        "forget": split([50, 51], [0, 0], at(0, 180)),
        "retain": split([3, 5, 7, 9], [1, 2, 1, 2], at(90, 10, 45, 20)),
    }
    keys = [put(store, first, method="original"), put(store, second, method="retrain")]
    value = analysis.KINDS["neighbours"].compute(
        store, analysis.complete("neighbours", {"keys": keys, "queries": [50], "k": 3}), quiet
    )
    assert value["queries"].tolist() == [50] and value["labels"].tolist() == [0]
    assert value[keys[0]].tolist() == [[7, 3, 51]]
    assert value[f"{keys[0]}/labels"].tolist() == [[1, 1, 0]]
    assert value[f"{keys[0]}/forgotten"].tolist() == [[False, False, True]]
    # features are float16
    assert value[f"{keys[0]}/cosines"] == pytest.approx(
        np.cos(np.radians([[10, 20, 30]])), abs=1e-3
    )
    assert value[keys[1]].tolist() == [[5, 9, 7]]
    assert value["note"] == "Searched are the 6 of 6 training samples whose features were kept."


# -- maps


def test_a_map_has_the_samples_that_all_runs_kept(store):
    fewer = clusters(1)
    kept = fewer["retain"]
    assert kept.features is not None
    fewer["retain"] = split(
        kept.ids[20:50][::-1], kept.labels[20:50][::-1], kept.features[20:50][::-1]
    )
    keys = [put(store, clusters(0), method="original"), put(store, fewer, method="retrain")]
    value = tsne.compute(store, tsne.Parameters(keys=keys, samples=8, classes=[0, 2]), quiet)
    labels = dict(zip(fewer["retain"].ids, fewer["retain"].labels, strict=True))
    assert len(value["ids"]) == 16 and (np.diff(value["ids"]) > 0).all()
    for number, label, gone in zip(value["ids"], value["labels"], value["forgotten"], strict=True):
        assert gone == (number >= 100) and label == (0 if gone else 2)
        assert gone or (20 <= number < 50 and labels[number] == 2)
    for key in keys:
        assert value[key].shape == (16, 2)
        assert value[key].dtype == np.float32
        assert np.isfinite(value[key]).all()
    assert value["classes"] == [0, 2] and "original's features" in value["note"]


def test_clusters_stay_together_and_on_their_side(store):
    """Two runs of the same clusters, apart by noise: in both maps each class is one cluster, in
    about the same place.
    """
    keys = [put(store, clusters(0), method="original"), put(store, clusters(1), method="retrain")]
    value = tsne.compute(store, tsne.Parameters(keys=keys), quiet)
    means = [
        np.stack([value[key][value["labels"] == label].mean(axis=0) for label in range(3)])
        for key in keys
    ]
    for key, mean in zip(keys, means, strict=True):
        nearest = np.linalg.norm(value[key][:, None] - mean[None], axis=2).argmin(axis=1)
        assert (nearest == value["labels"]).mean() > 0.95
    moved = np.linalg.norm(means[0] - means[1], axis=1)
    apart = np.linalg.norm(means[0][1] - means[0][2])
    assert (moved < 0.1 * apart).all()


def test_the_start_is_the_first_two_principal_components():
    """Points on the axes: 3, -3 along x, 1, -1 along y, so that the components are the axes, scaled
    by the spread along x, sqrt(4.5).
    """
    features = np.array([[3.0, 0, 5], [-3, 0, 5], [0, 1, 5], [0, -1, 5]])
    points = tsne.principal(features)
    assert (features[:, 2] == 5).all(), "the map that follows is of the features as they are"
    assert points == pytest.approx(
        np.array([[3, 0], [-3, 0], [0, 1], [0, -1]]) / np.sqrt(4.5) * 1e-4
    )
    assert points[:, 0].std() == pytest.approx(1e-4)


# -- which samples are forgotten, and what is refused


def test_before_a_request_nothing_is_forgotten_but_another_run_says_what_will_be(store):
    after = clusters(0)
    forget, retain = after["forget"], after["retain"]
    assert forget.features is not None and retain.features is not None
    train = split(
        np.concatenate([forget.ids, retain.ids[:50]]),
        np.concatenate([forget.labels, retain.labels[:50]]),
        np.concatenate([forget.features, retain.features]),
    )
    trained = put(store, {"train": train, "test": after["test"]}, scenario=None, method="original")
    both = tsne.compute(store, tsne.Parameters(keys=[trained, put(store, after)], samples=5), quiet)
    assert both["forgotten"].sum() == 5 and (both["ids"][both["forgotten"]] >= 100).all()
    alone = tsne.compute(store, tsne.Parameters(keys=[trained], samples=5), quiet)
    assert not alone["forgotten"].any()


def test_attributes_are_told_apart_by_their_bits(store):
    labels = np.tile([[0, 0], [1, 0], [0, 1], [1, 1]], (5, 1))
    features = np.random.default_rng(0).normal(size=(20, 3))
    forget, retain = (
        split(range(*span), labels[slice(*span)], features[slice(*span)], classes=2)
        for span in ((0, 8), (8, 20))
    )
    key = put(store, {"forget": forget, "retain": retain})
    value = tsne.compute(store, tsne.Parameters(keys=[key]), quiet)
    assert value["labels"].tolist() == [0, 1, 2, 3] * 5


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda f: np.full_like(f, np.inf), "not finite: the model has diverged"),
        (lambda f: np.ones_like(f), "gives all samples the same features"),
        (lambda f: None, "its model is an ensemble"),
    ],
    ids=["diverged", "collapsed", "ensemble"],
)
def test_features_that_say_nothing_are_refused(store, change, sentence):
    broken = {
        name: split(part.ids, part.labels, change(part.features))
        for name, part in clusters(0).items()
        if part.features is not None
    }
    with pytest.raises(BadValue, match=sentence):
        tsne.compute(store, tsne.Parameters(keys=[put(store, broken)]), quiet)
