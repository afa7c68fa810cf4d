"""Points in the plane: places by hand, shapes as their formulas say, the same in every process."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mucore import catalog, datasets, points
from mucore.datasets.thumbnails import thumbnails

NAMES = [f"points-{shape}" for shape in points.SHAPES]
HASHES = {
    "points-moons": "4c734aee3202",
    "points-blobs": "6e14d3df8235",
    "points-spiral": "ae06507f44f6",
    "points-xor": "d3722f2bbbbf",
}
STEP = 2 / 255  # from one place to the next


def test_coordinates_become_places_and_come_back() -> None:
    places = points.to_bytes(np.array([[-1.0, 1.0], [0.2, -0.2], [-7.0, 7.0]]))
    # (0.2 + 1) / 2 * 255 = 153
    assert places.tolist() == [[0, 255], [153, 102], [0, 255]]
    assert points.from_bytes(np.array([0, 153, 255])) == pytest.approx([-1, 0.2, 1])
    every = np.arange(256, dtype=np.uint8)
    assert np.array_equal(points.to_bytes(points.from_bytes(every)), every)


@pytest.mark.parametrize("name", NAMES)
def test_data_sets_keep_what_their_card_says(name: str) -> None:
    card, splits = catalog.dataset(name), datasets.load(name)
    parts = (splits.train, splits.validation, splits.test)
    assert tuple(len(part) for part in parts) == card.sizes
    assert splits.shape == card.shape == (2, 1, 1) and splits.class_names == card.class_names
    for part in parts:
        assert part.pixels.dtype == torch.uint8
        assert len(set(part.labels.bincount().tolist())) == 1  # of each class as many
    assert splits.train.ids.tolist() == list(range(240))


@pytest.mark.parametrize("shape", points.SHAPES)
def test_the_first_point_of_each_class_is_an_outlier(shape: str) -> None:
    for seed in range(5):
        train = points.draw(shape, seed=seed)[0]
        apart = np.linalg.norm(train.xy[:, None] - train.xy, axis=2)
        near = apart.argsort(axis=1)[:, 1:11]
        for outlier in range(points.CLASSES[shape]):
            assert train.labels[outlier] == outlier
            assert not (train.labels[near[outlier]] == outlier).any()


def test_shapes_without_noise_lie_where_their_formulas_say() -> None:
    train, validation, _ = points.draw("moons", seed=3, noise=0.0)
    scale = 0.8 * 2 / 3  # of half circles of radius 1 around (-0.5, -0.25) and (0.5, 0.25)
    for part, first in ((train, 2), (validation, 0)):
        xy, labels = part.xy[first:] / scale, part.labels[first:]
        centre = np.where(labels[:, None] == 0, [[-0.5, -0.25]], [[0.5, 0.25]])
        radius = np.linalg.norm(xy - centre, axis=1)
        assert np.abs(radius - 1).max() <= STEP / scale
    xor = points.draw("xor", seed=3, noise=0.0)[1]
    assert np.array_equal(xor.xy.prod(axis=1) > 0, xor.labels == 0)


def test_points_around_others_have_their_classes_and_the_noise_asked_for() -> None:
    two = points.Points(np.array([[-0.5, 0.0], [0.5, 0.0]]), np.array([1, 0]))
    found = points.around(two, count=4000, seed=0, noise=0.1, purpose="test")
    assert np.array_equal(found.labels, (found.xy[:, 0] < 0).astype(int))
    assert 0.45 < found.labels.mean() < 0.55
    spread = (found.xy - np.where(found.labels[:, None] == 1, two.xy[:1], two.xy[1:])).std(axis=0)
    assert spread == pytest.approx([0.1, 0.1], rel=0.05)


def test_a_picture_has_a_dot_at_the_place_of_its_point() -> None:
    # the lower left corner, the middle, and x = 1, y = -1
    dark = points.pictures(np.array([[0, 0], [127, 128], [255, 0]], np.uint8))[..., 0] == 0
    assert dark.shape == (3, 32, 32)
    for each, rows, columns in ((0, (30, 31), (0, 1)), (2, (30, 31), (30, 31))):
        found = np.argwhere(dark[each])
        assert (found.min(axis=0), found.max(axis=0)) == (
            pytest.approx([rows[0], columns[0]]),
            pytest.approx([rows[1], columns[1]]),
        )
    assert np.argwhere(dark[1]).mean(axis=0) == pytest.approx([15.5, 15.5], abs=0.6)
    splits = datasets.load("points-xor")
    shown = thumbnails(splits, np.array([5, 300]))
    places = torch.cat([splits.train.pixels, splits.validation.pixels, splits.test.pixels])
    assert np.array_equal(shown, points.pictures(places[[5, 300]].flatten(1).numpy()))


def test_a_seed_gives_the_same_points_everywhere_and_another_seed_others() -> None:
    assert {name: datasets.load(name).data_hash[:12] for name in NAMES} == HASHES
    first, second = (points.draw("spiral", seed=seed)[0].xy for seed in (0, 1))
    assert not np.array_equal(first, second)
