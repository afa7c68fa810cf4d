"""The catalogued data sets: what comes with the repository, and the loaders on tiny files in the
published layout.
"""

from __future__ import annotations

import hashlib
import importlib
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import archives
import numpy as np
import pytest
import torch

from mucore import catalog, datasets
from mucore.datasets import fashion_mnist, torchvision_sets
from mucore.datasets.splits import assemble, hold_out, image_hashes, normalisation, split_of
from mucore.errors import BadFile


def published(name: str) -> Any:
    """torchvision's class; imported late because `mucore` must be imported first
    (mucore/_torchvision_cpu.py).
    """
    return getattr(importlib.import_module("torchvision.datasets"), name)


@pytest.fixture(autouse=True)
def forget_loaded() -> Iterator[None]:
    """Loads are cached by name and folder; tests that move the sources need fresh ones."""
    yield
    datasets._load.cache_clear()


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Debian package, and every download fails at once."""

    def refuse(*args: object, **kwargs: object) -> None:
        raise RuntimeError("Error downloading: no network")

    monkeypatch.setattr(torchvision_sets, "DEBIAN", Path("/nonexistent"))
    monkeypatch.setattr("torchvision.datasets.mnist.download_and_extract_archive", refuse)
    monkeypatch.setattr("torchvision.datasets.cifar.download_and_extract_archive", refuse)


# -- what every set promises


@pytest.mark.parametrize("name", ["digits", "fashion-mnist-10k"])
def test_embedded_sets_keep_what_their_card_says(name: str) -> None:
    card, splits = catalog.dataset(name), datasets.load(name)
    parts = (splits.train, splits.validation, splits.test)
    assert tuple(len(part) for part in parts) == card.sizes
    assert splits.shape == card.shape
    assert splits.class_names == card.class_names
    assert splits.natural == card.augmentation
    for part in parts:
        assert part.pixels.dtype == torch.uint8
        assert part.labels.dtype == torch.int64
        assert part.ids.dtype == torch.int64
        assert set(part.labels.tolist()) == set(range(10)) and part.identities is None
    assert torch.cat([part.ids for part in parts]).tolist() == list(range(sum(card.sizes or ())))
    scaled = splits.train.pixels.double() / 255
    assert splits.mean == pytest.approx([scaled.mean().item()])
    assert splits.std == pytest.approx([scaled.std(correction=0).item()])
    assert datasets.load(name) is splits


def test_digits_are_stratified_and_scaled_to_255() -> None:
    splits = datasets.load("digits")
    assert splits.data_hash == "b424464075a5f7f0d93586feff82203ba73a1a1b0541ae5d2645c1edc0992a7a"
    for part, share in (
        (splits.train, 1200 / 1797),
        (splits.validation, 197 / 1797),
        (splits.test, 400 / 1797),
    ):
        # images of each digit in scikit-learn's set
        whole = np.array([178, 182, 177, 183, 181, 182, 181, 179, 174, 180])
        assert np.abs(part.labels.bincount().numpy() - whole * share).max() <= 1.01
    assert splits.train.pixels.max() == 255
    assert set(splits.train.pixels.unique().tolist()) == {
        round(level * 255 / 16) for level in range(17)
    }


def test_fashion_mnist_10k_content() -> None:
    with np.load(fashion_mnist.EMBEDDED, allow_pickle=False) as content:
        arrays = {key: content[key] for key in content.files}
    digest = hashlib.sha256()
    for key in sorted(arrays):
        digest.update(arrays[key].tobytes())
    assert digest.hexdigest() == "691f90b1d8c641c248e71d9e88ddbe39f1d7ce6e80de6e3d0a4d6655ef9f58c7"
    assert np.intersect1d(arrays["index_train"], arrays["index_validation"]).size == 0
    assert fashion_mnist.EMBEDDED.stat().st_size < 8e6
    assert "Copyright © 2017 Zalando SE" in fashion_mnist.EMBEDDED.with_suffix(
        ".LICENSE.txt"
    ).read_text(encoding="utf-8")


@pytest.mark.skipif(
    not torchvision_sets.DEBIAN.is_dir(),
    reason="Debian's package dataset-fashion-mnist is not installed",
)
def test_fashion_mnist_10k_comes_from_the_published_files() -> None:
    train_x, train_y, test_x, test_y = torchvision_sets.mnist_arrays(
        "fashion-mnist", Path("/nonexistent")
    )
    assert train_x.shape == (60_000, 28, 28) and test_x.shape == (10_000, 28, 28)
    with np.load(fashion_mnist.EMBEDDED, allow_pickle=False) as content:
        for split, x, y in (
            ("train", train_x, train_y),
            ("validation", train_x, train_y),
            ("test", test_x, test_y),
        ):
            index = content[f"index_{split}"]
            np.testing.assert_array_equal(content[f"x_{split}"], x[index])
            np.testing.assert_array_equal(content[f"y_{split}"], y[index])


def test_a_damaged_subset_says_where_it_is_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fashion_mnist.EMBEDDED.read_bytes()
    monkeypatch.setattr(fashion_mnist, "EMBEDDED", tmp_path / "subset.npz")
    for content in (None, b"\0" * 100, whole[:1000], whole[:1000] + whole[2000:], b""):
        if content is not None:
            (tmp_path / "subset.npz").write_bytes(content)
        datasets._load.cache_clear()
        with pytest.raises(BadFile, match="comes with the repository"):
            datasets.load("fashion-mnist-10k", tmp_path)


# -- Fashion-MNIST in full


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("inside", [".", "FashionMNIST/raw"])
def test_fashion_mnist_from_idx_files(
    tmp_path: Path, offline: None, packed: bool, inside: str
) -> None:
    arrays = archives.idx_files(tmp_path / "data" / inside, packed=packed)
    splits = datasets.load("fashion-mnist", tmp_path / "data")
    assert [len(part) for part in (splits.train, splits.validation, splits.test)] == [36, 4, 10]
    np.testing.assert_array_equal(
        splits.test.pixels[:, 0].numpy(), arrays["t10k-images-idx3-ubyte"]
    )
    both = torch.cat([splits.train.pixels, splits.validation.pixels])
    assert set(image_hashes(both)) == set(
        image_hashes(torch.from_numpy(arrays["train-images-idx3-ubyte"]))
    )


def test_fashion_mnist_as_torchvision_reads_it(tmp_path: Path, offline: None) -> None:
    archives.idx_files(tmp_path / "FashionMNIST" / "raw", packed=False)
    theirs = published("FashionMNIST")(str(tmp_path), train=False)
    ours = datasets.load("fashion-mnist", tmp_path)
    np.testing.assert_array_equal(ours.test.pixels[:, 0].numpy(), theirs.data.numpy())
    np.testing.assert_array_equal(ours.test.labels.numpy(), theirs.targets.numpy())


@pytest.mark.parametrize("content", [b"", archives.idx(np.zeros(7, np.uint8))[:-2]])
def test_fashion_mnist_damaged(tmp_path: Path, offline: None, content: bytes) -> None:
    archives.idx_files(tmp_path / "data", packed=False)
    for wrong in (content, archives.idx(np.zeros(7, np.uint8))):
        (tmp_path / "data" / "t10k-labels-idx1-ubyte").write_bytes(wrong)
        with pytest.raises(BadFile, match="Fashion-MNIST cannot be read"):
            datasets.load("fashion-mnist", tmp_path / "data")


# -- CIFAR-10


def test_cifar10_from_a_packed_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = archives.cifar(tmp_path / "data", monkeypatch)["train"]
    splits = datasets.load("cifar10", tmp_path / "data")
    assert splits.shape == (3, 32, 32) and splits.natural and splits.class_names[0] == "airplane"
    assert len(splits.train) + len(splits.validation) == 20 and len(splits.test) == 20
    both = torch.cat([splits.train.pixels, splits.validation.pixels])
    assert set(image_hashes(both)) == set(image_hashes(torch.from_numpy(pixels.copy())))


def test_cifar10_archive_that_is_not_the_published_one_is_never_opened(
    tmp_path: Path, offline: None
) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, tuple[Path]]:
            return (Path.touch, (tmp_path / "executed",))  # what a hostile pickle would do

    cifar = published("CIFAR10")
    folder = tmp_path / "data" / cifar.base_folder
    folder.mkdir(parents=True)
    for name in [entry[0] for entry in (*cifar.train_list, *cifar.test_list)] + ["batches.meta"]:
        (folder / name).write_bytes(pickle.dumps(Trap()))
    with pytest.raises(BadFile, match="CIFAR-10 is not in"):
        datasets.load("cifar10", tmp_path / "data")
    assert not (tmp_path / "executed").exists()


# -- names, helpers


def test_every_card_has_a_loader_and_says_where_it_is() -> None:
    for card in catalog.datasets():
        module, function = card.loader.split(":")
        assert callable(getattr(importlib.import_module(f"mucore.datasets.{module}"), function))
    assert all(card.where.endswith(".") for card in catalog.datasets())


def test_data_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MUCORE_DATA", str(tmp_path))
    assert datasets.default_root() == tmp_path
    monkeypatch.delenv("MUCORE_DATA")
    assert datasets.default_root() == Path.home() / ".mucore" / "data"


def test_normalisation_of_a_constant_channel_stays_finite() -> None:
    pixels = torch.stack(
        [torch.full((4, 2, 2), 51), torch.tensor([0, 255, 0, 255]).view(4, 1, 1).expand(4, 2, 2)], 1
    ).to(torch.uint8)
    mean, std = normalisation(pixels)
    assert mean == pytest.approx((0.2, 0.5)) and std == pytest.approx((1.0, 0.5))


def test_hold_out_takes_the_same_share_of_each_class() -> None:
    labels = np.repeat([0, 1, 2], [50, 30, 20])
    kept, held = hold_out(labels, 10)
    assert np.bincount(labels[held]).tolist() == [5, 3, 2]
    np.testing.assert_array_equal(np.sort(np.concatenate([kept, held])), np.arange(100))
    np.testing.assert_array_equal(held, hold_out(labels, 10)[1])


def test_data_hash_depends_on_pixels_and_labels_alone() -> None:
    def of(name: str, **changes: np.ndarray) -> str:
        part = split_of(
            x=changes.get("x", np.zeros((2, 4, 4), np.uint8)), y=changes.get("y", np.array([0, 1]))
        )
        return assemble(
            name, train=part, validation=part, test=part, class_names=("a", "b"), natural=False
        ).data_hash

    assert of("one") == of("two")
    assert (
        len({of("one"), of("one", x=np.ones((2, 4, 4), np.uint8)), of("one", y=np.array([1, 0]))})
        == 3
    )
