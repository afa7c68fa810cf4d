"""Maps of training images that no run has seen."""

from __future__ import annotations

import numpy as np
import pytest

from mucore import analysis, catalog
from mucore.analysis import samples
from mucore.datasets import load
from mucore.errors import BadFile, BadValue
from mucore.points import SHAPES
from mucore.store import open_store
from mucore.userfiles import datasets


@pytest.fixture
def own(tmp_path) -> str:
    """Sixty images of two classes, dark and bright ones."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    x = (rng.integers(0, 40, (60, 8, 8)) + 200 * y[:, None, None]).astype(np.uint8)
    np.savez(tmp_path / "own.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    return f"npz:{tmp_path / 'own.npz'}"


def made(tmp_path, **parameters):
    with open_store(tmp_path / "home") as store:
        return analysis.compute("samples", parameters, store, tmp_path / "home").value


def test_alike_images_lie_together(own, tmp_path):
    value = made(tmp_path, dataset=own, data_hash=datasets.data_hash(own), samples=40)
    train = load(own).train
    assert len(value["ids"]) == 40 and np.bincount(value["labels"]).tolist() == [20, 20]
    place = {int(each): number for number, each in enumerate(train.ids)}
    assert [int(train.labels[place[each]]) for each in value["ids"].tolist()] == value[
        "labels"
    ].tolist()
    middles = [value["points"][value["labels"] == label].mean(axis=0) for label in (0, 1)]
    spread = [value["points"][value["labels"] == label].std() for label in (0, 1)]
    assert np.linalg.norm(middles[0] - middles[1]) > 3 * max(spread)


def test_other_content_than_was_asked_for_is_refused(own, tmp_path):
    with pytest.raises(BadValue, match="not what it was"):
        made(tmp_path, dataset=own, data_hash="0" * 64)
    with pytest.raises(BadFile):
        made(tmp_path, dataset=f"npz:{tmp_path}/none.npz", data_hash="0" * 64)


def test_a_map_comes_with_every_embedded_set_of_images():
    names = [card.id for card in catalog.datasets() if card.embedded]
    there = {name for name in names if analysis.find(samples.SHIPPED, "samples", {"dataset": name})}
    # points in the plane need no map: their own page draws them where they lie
    assert {name for name in names if name not in there} == {f"points-{each}" for each in SHAPES}
    assert sum(path.stat().st_size for path in samples.SHIPPED.rglob("*.npz")) < 300_000


@pytest.mark.parametrize(
    "dataset",
    [
        *("digits", "fashion-mnist-10k", "glyphs-hand"),
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("glyphs", "faces", "faces-attributes")
        ),
    ],
)
def test_a_map_is_of_the_images_that_it_names(dataset):
    found = analysis.find(samples.SHIPPED, "samples", {"dataset": dataset})
    assert found is not None
    train = load(dataset).train
    places = np.searchsorted(train.ids.numpy(), found.value["ids"])
    assert len(places) == min(samples.MOST, len(train))
    assert (train.ids.numpy()[places] == found.value["ids"]).all()
    labels = train.labels.numpy()[places]
    codes = labels if labels.ndim == 1 else labels @ (1 << np.arange(labels.shape[1]))
    assert (codes == found.value["labels"]).all()
    assert np.isfinite(found.value["points"]).all()
