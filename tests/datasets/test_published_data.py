"""The loaders of published data sets, each on a tiny archive in the published layout
(tests/archives.py).
"""

from __future__ import annotations

import hashlib
import importlib
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import archives
import numpy as np
import pytest
import torch
from facts import tells
from PIL import Image

from mucore import catalog, datasets
from mucore.datasets import folders, torchvision_sets
from mucore.datasets.files import AHEAD, FileImages, decode, decode_all
from mucore.datasets.splits import Split, Splits, split_of
from mucore.engine.data import on_device
from mucore.engine.run import Run
from mucore.errors import BadFile

pytestmark = pytest.mark.slow

SMALL = 16  # streamed images are this small here, so that a thousand of them are read in a moment

FOLDERS = {
    "tiny-imagenet": "tiny-imagenet-200",
    "tiny-imagenet-50": "tiny-imagenet-200",
    "imagenet": "imagenet",
    "office-home": "OfficeHomeDataset_10072016",
    "office-home-art": "OfficeHomeDataset_10072016",
    "domainnet-126": "domainnet-126",
    "domainnet-126-real": "domainnet-126",
    "cub-200": "CUB_200_2011",
    "mufac": "custom_korean_family_dataset_resolution_128",
    "mucac": "CelebAMask-HQ",
    "utkface": "UTKFace",
}


@pytest.fixture(autouse=True)
def forget_loaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(folders, "SIDE", SMALL)
    yield
    datasets._load.cache_clear()


def published(name: str) -> Any:
    return getattr(importlib.import_module("torchvision.datasets"), name)


def refusal(name: str, root: Path) -> str:
    datasets._load.cache_clear()
    with pytest.raises(BadFile) as caught:
        datasets.load(name, root)
    assert str(caught.value).endswith(".")
    return str(caught.value)


def sizes(splits: Splits) -> list[int]:
    return [len(getattr(splits, name)) for name in splits.names]


def every_id(splits: Splits) -> list[int]:
    return torch.cat([getattr(splits, name).ids for name in splits.names]).tolist()


def replace_line(path: Path, number: int, line: str) -> None:
    lines = path.read_text().splitlines()
    lines[number] = line
    path.write_text("\n".join(lines) + "\n")


# -- what every card promises


def test_a_missing_set_says_what_to_fetch_and_where_to_put_it(tmp_path: Path) -> None:
    for name, folder in FOLDERS.items():
        card = catalog.dataset(name)
        text = f"{card.title} is not in {tmp_path}: there is no folder {folder}. {card.where}"
        assert refusal(name, tmp_path) == text
        assert folder in card.where and "fetch " in card.where.lower()
    for name, folder in FOLDERS.items():
        (tmp_path / folder).mkdir(exist_ok=True)
        text = refusal(name, tmp_path)
        assert folder in text and catalog.dataset(name).where in text


def test_a_set_that_is_not_as_published_says_what_is_wrong(tmp_path: Path) -> None:
    folder = archives.tiny_imagenet(tmp_path, images=1)
    image = folder / "train" / archives.wnids(1)[0] / "images" / f"{archives.wnids(1)[0]}_0.JPEG"
    whole = image.read_bytes()
    image.write_bytes(whole[:200])
    assert image.name in refusal("tiny-imagenet", tmp_path)
    image.write_bytes(whole)
    (folder / "val" / "images" / "val_0.JPEG").unlink()
    assert "val_0.JPEG" in refusal("tiny-imagenet", tmp_path)
    archives.office_home(tmp_path, images=1, classes=64)
    assert tells(refusal("office-home", tmp_path), "64 of 65 classes")
    folder = archives.mufac(tmp_path, families=(1, 1, 1))
    replace_line(folder / "custom_train_dataset.csv", 1, "F0001,D,a,F0001_AGE_D_18_a7.jpg")
    assert tells(refusal("mufac", tmp_path), "lacks", "F0001_AGE_D_18_a7.jpg")
    (archives.mucac(tmp_path) / "CelebA-HQ-img" / "0.jpg").unlink()
    assert "0.jpg is missing" in refusal("mucac", tmp_path)
    listing = archives.domainnet(tmp_path) / "sketch_list.txt"
    replace_line(listing, 0, "sketch/class_000/x.jpg zero")
    assert "DomainNet-126, sketch cannot be read" in refusal("domainnet-126-sketch", tmp_path)
    listing.write_text("sketch/class_000/x.jpg 0\n")
    assert tells(refusal("domainnet-126-sketch", tmp_path), "1 of 126 classes")
    folder = archives.cub_200(tmp_path)
    replace_line(folder / "image_class_labels.txt", 0, "1 201")
    assert tells(refusal("cub-200", tmp_path), "lacks", "201")
    for path in archives.utkface(tmp_path).iterdir():
        path.unlink()
    assert "names no image" in refusal("utkface", tmp_path)


# -- torchvision


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise RuntimeError("Error downloading: no network")

    for place in (
        "mnist.download_and_extract_archive",
        "cifar.download_and_extract_archive",
        "svhn.download_url",
    ):
        monkeypatch.setattr(f"torchvision.datasets.{place}", refuse)
    monkeypatch.setattr(torchvision_sets, "DEBIAN", Path("/nonexistent"))


@pytest.mark.parametrize("name", ["cifar10", "cifar100", "svhn", "mnist", "fashion-mnist"])
def test_what_torchvision_cannot_download_is_told(tmp_path: Path, offline: None, name: str) -> None:
    text = refusal(name, tmp_path)
    assert "could not be downloaded (" in text
    assert "no network" in text
    assert catalog.dataset(name).where in text


@pytest.mark.parametrize("name", ["cifar10", "cifar100", "svhn", "mnist", "fashion-mnist"])
def test_what_is_looked_at_is_not_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    asked: list[object] = []

    def ask(*arguments: object, **_: object) -> None:
        asked.append(arguments)
        raise urllib.error.URLError("no network")

    monkeypatch.setattr("urllib.request.urlopen", ask)
    monkeypatch.setattr(torchvision_sets, "DEBIAN", tmp_path / "none")
    with pytest.raises(BadFile) as caught:
        datasets.load(name, tmp_path / "data", download=False)
    card, text = catalog.dataset(name), str(caught.value)
    assert text.startswith(card.title) and f"load('{name}')" in text and card.where in text
    assert not asked and not list(tmp_path.rglob("*"))
    with pytest.raises(BadFile):
        datasets.load(name, tmp_path / "data")
    assert asked  # a run does


@pytest.mark.parametrize("download", [True, False])
def test_cifar100_from_a_packed_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, download: bool
) -> None:
    pixels = archives.cifar(tmp_path, monkeypatch, classes=100, train=200, test=200)
    splits = datasets.load("cifar100", tmp_path, download=download)
    assert sizes(splits) == [180, 20, 200]
    assert splits.classes == 100
    assert splits.natural
    assert splits.class_names[99] == "worm"
    np.testing.assert_array_equal(splits.test.pixels.numpy(), pixels["test"])
    assert splits.test.labels.tolist() == [number % 100 for number in range(200)]


def svhn_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Forty images a file; digit 0 is labelled 10 there. Returns the test pixels (h, w, c, n)."""
    from scipy.io import savemat

    pixels = np.random.default_rng(0).integers(256, size=(32, 32, 3, 40), dtype=np.uint8)
    listed = {}
    for split in ("train", "test"):
        path = root / f"{split}_32x32.mat"
        savemat(
            str(path),
            {
                "X": pixels if split == "test" else pixels[::-1],
                "y": np.arange(40, dtype=np.uint8)[:, None] % 10 + 1,
            },
        )
        listed[split] = ["http://nowhere", path.name, hashlib.md5(path.read_bytes()).hexdigest()]
    monkeypatch.setattr(published("SVHN"), "split_list", listed)
    return pixels


def test_svhn_from_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = svhn_files(tmp_path, monkeypatch)
    splits = datasets.load("svhn", tmp_path)
    assert sizes(splits) == [36, 4, 40] and not splits.natural
    np.testing.assert_array_equal(splits.test.pixels.numpy(), pixels.transpose(3, 2, 0, 1))
    assert splits.test.labels.tolist() == [(number % 10 + 1) % 10 for number in range(40)]


@pytest.mark.parametrize("packed", [True, False])
def test_mnist_from_idx_files_and_never_from_those_of_fashion_mnist(
    tmp_path: Path, offline: None, packed: bool
) -> None:
    arrays = archives.idx_files(tmp_path / "FashionMNIST" / "raw", packed=packed)
    assert "MNIST is not in" in refusal("mnist", tmp_path)
    (tmp_path / "MNIST" / "raw").rmdir()
    (tmp_path / "FashionMNIST" / "raw").rename(tmp_path / "MNIST" / "raw")
    splits = datasets.load("mnist", tmp_path)
    assert sizes(splits) == [36, 4, 10] and not splits.natural
    np.testing.assert_array_equal(
        splits.test.pixels[:, 0].numpy(), arrays["t10k-images-idx3-ubyte"]
    )


# -- TinyImageNet


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tiny")
    archives.tiny_imagenet(root)
    return root


def test_tiny_imagenet_and_its_first_fifty_classes(tiny: Path) -> None:
    whole, fifty = datasets.load("tiny-imagenet", tiny), datasets.load("tiny-imagenet-50", tiny)
    assert sizes(whole) == [360, 40, 200] and sizes(fifty) == [90, 10, 50]
    assert (
        fifty.class_names
        == tuple(f"word{number}" for number in range(50))
        == whole.class_names[:50]
    )
    assert every_id(fifty) == list(range(150)) and fifty.shape == (3, 64, 64)
    # val_0 is of the last class, so the test set of all classes begins with it, and that of fifty
    # with val_150, of class 49.
    folder = tiny / "tiny-imagenet-200" / "val" / "images"
    for splits, file, label in ((whole, "val_0.JPEG", 199), (fifty, "val_150.JPEG", 49)):
        assert splits.test.labels[0] == label
        np.testing.assert_array_equal(
            splits.test.pixels[0].numpy(), np.asarray(Image.open(folder / file)).transpose(2, 0, 1)
        )
    known = {
        bytes(decode(path, 64).tobytes()): int(path.parent.parent.name[1:])
        for path in folder.parents[1].glob("train/*/images/*")
    }
    labels = [
        (known[bytes(image.numpy().tobytes())] - 1_000_000) // 7 for image in whole.train.pixels
    ]
    assert labels == whole.train.labels.tolist()


# -- ImageNet, streamed


@pytest.fixture(scope="module")
def imagenet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("imagenet")
    archives.imagenet(root, truth="csv")
    return root


def test_imagenet_is_read_from_its_files_alone(imagenet: Path) -> None:
    splits = datasets.load("imagenet", imagenet)
    assert sizes(splits) == [1800, 200, 1000]
    assert splits.shape == (3, SMALL, SMALL)
    assert splits.classes == 1000
    assert splits.natural
    assert all(
        isinstance(getattr(splits, name).pixels, FileImages)
        and getattr(splits, name).digests is None
        for name in splits.names
    )
    assert splits.train.labels.bincount().max() == 2
    assert splits.test.labels.bincount().tolist() == [1] * 1000
    assert tells(splits.notes[0], "mean", "1,000 of 1,800")
    some = torch.tensor([1799, 3])
    for place, name in zip(
        some.tolist(), [splits.train.pixels.names[i] for i in some.tolist()], strict=True
    ):
        wnid = name.split("/")[1]
        assert (int(wnid[1:]) - 1_000_000) // 7 == splits.train.labels[place]
        np.testing.assert_array_equal(
            splits.train.pixels.take(torch.tensor([place]))[0].numpy(),
            decode(imagenet / "imagenet" / name, SMALL, folders.MARGIN),
        )


def test_imagenet_validation_labels_from_csv_and_folders_agree(
    imagenet: Path, tmp_path: Path
) -> None:
    archives.imagenet(tmp_path, truth="folders", images=1)
    folders_ = datasets.load("imagenet", tmp_path).test
    csv = datasets.load("imagenet", imagenet).test
    assert csv.labels.tolist() == [(7 * number) % 1000 for number in range(1000)]
    files = [Path(name).name for name in folders_.pixels.names]
    of = dict(zip(files, folders_.labels.tolist(), strict=True))
    assert [of[Path(name).name] for name in csv.pixels.names] == csv.labels.tolist()


def test_a_damaged_file_is_named_when_its_batch_is_read(imagenet: Path, tmp_path: Path) -> None:
    names = [f"{number}.jpg" for number in range(3)]
    for number, name in enumerate(names):
        archives.picture(tmp_path / name, number)
    (tmp_path / "1.jpg").write_bytes(b"\xff\xd8 no more")
    images = FileImages(tmp_path, names, size=SMALL)
    images.prefetch(torch.tensor([0, 2]))
    assert images.take(torch.tensor([0, 2])).shape == (2, 3, SMALL, SMALL)
    with pytest.raises(BadFile, match=r"1\.jpg is missing, damaged or no image"):
        images.take(torch.tensor([0, 1]))


# -- streaming


@pytest.fixture
def streamed(tmp_path: Path) -> FileImages:
    """Twenty-three images of different sizes and kinds."""
    for number in range(20):
        archives.picture(tmp_path / f"{number:02d}.jpg", number, size=(20 + number, 40 - number))
    archives.picture(tmp_path / "20.jpg", 20, mode="L")
    archives.picture(tmp_path / "21.jpg", 21, mode="CMYK")
    Image.fromarray(np.arange(256, dtype=np.uint8).reshape(16, 16)).convert("P").save(
        tmp_path / "22.png", transparency=3
    )
    names = sorted(path.name for path in tmp_path.iterdir())
    return FileImages(tmp_path, names, size=SMALL, margin=1.25)


def as_splits(images: FileImages) -> tuple[Splits, Splits]:
    """The same training images streamed and in memory."""
    count = len(images)
    every = images.take(torch.arange(count))

    def made(pixels: Any) -> Splits:
        split = Split(pixels=pixels, labels=torch.arange(count) % 3, ids=torch.arange(count))
        return Splits(
            name="made",
            train=split,
            validation=split,
            test=split,
            class_names=("a", "b", "c"),
            mean=(0.5,) * 3,
            std=(0.2,) * 3,
            natural=True,
            data_hash="",
        )

    return made(images), made(every)


@pytest.mark.parametrize("shuffle", [True, False])
def test_streamed_batches_are_those_from_memory(streamed: FileImages, shuffle: bool) -> None:
    batches = []
    for splits in as_splits(streamed):
        samples = on_device(splits, "train", "cpu")[torch.tensor([5, 3, 22, 1, 0, 21, 20, 9, 8, 7])]
        run = Run(seed=3, device=torch.device("cpu"))
        batches.append(list(samples.batches(run, 4, shuffle=shuffle, augment=True)))
        assert run.cost.reads["train/forward"] == 10
    for one, other in zip(*batches, strict=True):
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.y, other.y)
        assert torch.equal(one.ids, other.ids)


def test_the_next_batch_is_read_ahead_and_little_waits(streamed: FileImages) -> None:
    samples = on_device(as_splits(streamed)[0], "train", "cpu")
    batches = samples.batches(Run(seed=0, device=torch.device("cpu")), 5)
    next(batches)
    (waiting,) = streamed._ahead
    assert np.frombuffer(waiting, np.int64).tolist() == [5, 6, 7, 8, 9]
    for first in range(20):  # passes that are begun and left
        streamed.prefetch(torch.arange(first, first + 3))
        assert len(streamed._ahead) <= AHEAD
    assert torch.equal(
        streamed.take(torch.tensor([19, 2])), streamed.take(torch.arange(23))[[19, 2]]
    )
    assert streamed.take(torch.arange(0)).shape == (0, 3, SMALL, SMALL)


def test_decoding_crops_the_centre_and_never_distorts(tmp_path: Path) -> None:
    wide = np.zeros((10, 30, 3), np.uint8)
    wide[:, 10:20] = (200, 100, 50)
    Image.fromarray(wide).save(tmp_path / "wide.png")
    np.testing.assert_array_equal(
        decode(tmp_path / "wide.png", 10),
        np.tile(np.array([200, 100, 50], np.uint8)[:, None, None], (10, 10)),
    )
    Image.fromarray(np.full((300, 200, 3), 77, np.uint8)).save(tmp_path / "large.jpg")
    assert decode(tmp_path / "large.jpg", 8).shape == (3, 8, 8)
    assert (decode(tmp_path / "large.jpg", 8) == 77).all()
    assert decode_all([tmp_path / "wide.png"], 10).shape == (1, 10, 10, 3)


# -- downstream sets


def test_office_home_by_domain_and_together(tmp_path: Path) -> None:
    archives.office_home(tmp_path)
    whole = datasets.load("office-home", tmp_path)
    assert sum(sizes(whole)) == 4 * 65 * 5
    assert len(whole.test) == 260
    assert whole.test.labels.bincount().tolist() == [4] * 65
    assert whole.class_names[:2] == ("Class 00", "Class 01")
    assert "a fifth of the images" in whole.notes[0]
    for domain, folder in (
        ("art", "Art"),
        ("clipart", "Clipart"),
        ("product", "Product"),
        ("real-world", "Real World"),
    ):
        one = datasets.load(f"office-home-{domain}", tmp_path)
        assert sum(sizes(one)) == 65 * 5
        assert {
            name.split("/")[0]
            for split in (one.train, one.validation, one.test)
            for name in split.pixels.names
        } == {folder}
        assert [
            int(name.split("/")[1][-2:]) for name in one.train.pixels.names
        ] == one.train.labels.tolist()


def test_domainnet_126_has_the_classes_of_its_lists(tmp_path: Path) -> None:
    archives.domainnet(tmp_path)
    whole = datasets.load("domainnet-126", tmp_path)
    sketch = datasets.load("domainnet-126-sketch", tmp_path)
    assert sum(sizes(whole)) == 4 * 126 * 5 and sum(sizes(sketch)) == 126 * 5
    assert sketch.classes == 126 and sketch.class_names[125] == "class 125"
    assert {name.split("/")[0] for name in sketch.train.pixels.names} == {"sketch"}


def test_cub_200_keeps_the_published_division(tmp_path: Path) -> None:
    archives.cub_200(tmp_path)
    splits = datasets.load("cub-200", tmp_path)
    assert sizes(splits) == [360, 40, 400] and splits.class_names[:2] == (
        "Some Bird 1",
        "Some Bird 2",
    )
    assert all(int(name.split("_")[-2]) % 2 == 0 for name in splits.test.pixels.names)
    assert [
        int(Path(name).parts[1][:3]) - 1 for name in splits.test.pixels.names
    ] == splits.test.labels.tolist()


# -- faces


def test_mufac_divides_by_its_csvs_and_knows_persons(tmp_path: Path) -> None:
    folder = archives.mufac(tmp_path)
    splits = datasets.load("mufac", tmp_path)
    assert splits.names == ("train", "validation", "test", "unseen")
    assert splits.shape == (3, 128, 128)
    assert splits.classes == 8
    # Six families of three persons with eight images each; a tenth of the 18 persons, two of them,
    # are held out.
    assert sizes(splits) == [128, 16, 72, 72]
    assert every_id(splits) == list(range(288))
    assert splits.notes == ()
    persons = [set(getattr(splits, name).identities.tolist()) for name in splits.names]
    assert [len(each) for each in persons] == [16, 2, 9, 9] and len(set.union(*persons)) == 36
    assert splits.unseen is not None
    for split, part in (("val", splits.test), ("test", splits.unseen)):
        rows = (folder / f"custom_{split}_dataset.csv").read_text().splitlines()[1:]
        assert [archives.AGES.index(row.split(",")[2]) for row in rows] == part.labels.tolist()
        first = Image.open(folder / f"{split}_images" / rows[0].split(",")[3])
        np.testing.assert_array_equal(part.pixels[0].numpy(), np.asarray(first).transpose(2, 0, 1))
    # eight images of the daughter, then the second daughter
    assert splits.unseen.identities is not None
    assert splits.unseen.identities[0] == splits.unseen.identities[7] != splits.unseen.identities[8]


def test_mufac_copies_across_families_and_persons_in_two_splits_are_told(tmp_path: Path) -> None:
    folder = archives.mufac(tmp_path, copies=2)
    (note,) = datasets.load("mufac", tmp_path).notes
    assert tells(note, "training images", "2 of 74 test")
    table = folder / "custom_val_dataset.csv"
    (folder / "val_images" / "F0001_AGE_D_18_a9.jpg").write_bytes(
        archives.picture(tmp_path / "new.jpg", 12345, size=(128, 128)).read_bytes()
    )
    table.write_text(table.read_text() + "F0001,D,a,F0001_AGE_D_18_a9.jpg\n")
    datasets._load.cache_clear()
    splits = datasets.load("mufac", tmp_path)
    assert splits.train.identities is not None and splits.test.identities is not None
    assert len(set(splits.train.identities.tolist()) & set(splits.test.identities.tolist())) == 1
    assert [note for note in splits.notes if tells(note, "1 of 16 persons", "another split")]


def test_mucac_divides_by_person_and_reads_attributes_by_name(tmp_path: Path) -> None:
    archives.mucac(tmp_path)
    splits = datasets.load("mucac", tmp_path)
    assert splits.task == "attributes"
    assert splits.class_names == ("male", "young", "smiling")
    assert splits.names[3] == "unseen"
    assert splits.test.identities is not None
    assert splits.unseen is not None
    assert splits.unseen.identities is not None
    assert splits.test.identities.tolist() == [3] * 3 + [4] * 3 + [189] * 3
    assert splits.unseen.identities.tolist() == [4855] * 3 + [6216] * 3
    # a whole person of six
    assert len(splits.train) + len(splits.validation) == 6 * 3 and len(splits.validation) == 3
    assert splits.train.labels.dtype == torch.int64 and splits.train.labels.shape == (15, 3)
    assert splits.test.labels.tolist() == [
        [number & 1, number >> 2 & 1, number >> 1 & 1] for number in range(9)
    ]
    samples = on_device(splits, "train", "cpu")
    batch = next(samples.batches(Run(seed=0, device=torch.device("cpu")), 4))
    assert batch.x.shape == (4, 3, 128, 128) and torch.equal(batch.y, splits.train.labels[:4])
    parts = samples[torch.arange(5, 15)].joined(samples[torch.arange(5)])
    assert torch.equal(parts.labels, samples.labels) and torch.equal(parts.ids, samples.ids)


def test_one_attribute_of_mucac_alone_is_a_column_of_the_three(tmp_path: Path) -> None:
    archives.mucac(tmp_path)
    three = datasets.load("mucac", tmp_path)
    for place, name in enumerate(("male", "young", "smiling")):
        one = datasets.load(f"mucac-{name}", tmp_path)
        assert one.class_names == (f"not {name}", name) and one.task == "classes"
        for part in ("train", "validation", "test"):
            ours, whole = getattr(one, part), getattr(three, part)
            assert torch.equal(ours.labels, whole.labels[:, place])
            assert torch.equal(ours.identities, whole.identities)


def test_utkface_by_decade(tmp_path: Path) -> None:
    archives.utkface(tmp_path)
    splits = datasets.load("utkface", tmp_path)
    # Twelve decades of six images; those from 90 on are one class of 18. Of 72 images a fifth, 14,
    # are the test set.
    assert sum(sizes(splits)) == 72 and len(splits.test) == 14 and splits.train.identities is None
    every = torch.cat([getattr(splits, name).labels for name in splits.names])
    assert every.bincount().tolist() == [6] * 9 + [18]
    assert [note for note in splits.notes if tells(note, "1 of 73 images", "left out", "age")]


# -- divided anew, for papers that train on everything


def test_validation_from_test_gives_training_back_in_the_published_order(tmp_path: Path) -> None:
    arrays = archives.idx_files(tmp_path / "MNIST" / "raw", packed=False)
    splits = datasets.load("mnist", tmp_path, validation_from="test")
    assert sizes(splits) == [40, 5, 5] and every_id(splits) == list(range(50))
    np.testing.assert_array_equal(
        splits.train.pixels[:, 0].numpy(), arrays["train-images-idx3-ubyte"]
    )
    np.testing.assert_array_equal(splits.train.labels.numpy(), arrays["train-labels-idx1-ubyte"])
    both = torch.cat([splits.validation.pixels, splits.test.pixels])[:, 0].numpy()
    assert {image.tobytes() for image in both} == {
        image.tobytes() for image in arrays["t10k-images-idx3-ubyte"]
    }
    assert splits.mean == pytest.approx([(arrays["train-images-idx3-ubyte"] / 255).mean()])
    (note,) = splits.notes
    assert tells(note, "5 images", "test set")
    again = datasets.load("mnist", tmp_path, validation_from="test")
    assert torch.equal(again.validation.pixels, splits.validation.pixels)


def test_at_most_a_thousand_test_images_become_validation(tmp_path: Path) -> None:
    archives.idx_files(tmp_path / "MNIST" / "raw", packed=False, test=2500)
    assert sizes(datasets.load("mnist", tmp_path, validation_from="test")) == [40, 1000, 1500]


def test_the_first_images_of_each_class(tmp_path: Path) -> None:
    arrays = archives.idx_files(tmp_path / "MNIST" / "raw", packed=False)
    splits = datasets.load("mnist", tmp_path, validation_from="test", per_class=2)
    np.testing.assert_array_equal(
        splits.train.pixels[:, 0].numpy(), arrays["train-images-idx3-ubyte"][:20]
    )
    assert splits.train.labels.bincount().tolist() == [2] * 10 and len(splits.validation) == 5
    assert len(splits.notes) == 2 and tells(splits.notes[1], "2 images", "each class")


def test_grey_is_luminance(tiny: Path) -> None:
    colour, grey = (
        datasets.load("tiny-imagenet-50", tiny, greyscale=value) for value in (False, True)
    )
    assert grey.shape == (1, 64, 64) and len(grey.mean) == 1
    wanted = np.tensordot(
        np.array([0.299, 0.587, 0.114]), colour.test.pixels.numpy().astype(float), axes=(0, 1)
    )
    np.testing.assert_allclose(grey.test.pixels[:, 0].numpy(), wanted, atol=0.51)
    assert datasets.load("tiny-imagenet-50", tiny) is colour


def test_persons_are_not_parted_when_validation_comes_from_test(tmp_path: Path) -> None:
    archives.mufac(tmp_path)
    splits = datasets.load("mufac", tmp_path, validation_from="test")
    # of nine persons in the test set four go: 36 of 72 images would be half
    assert sizes(splits) == [144, 32, 40, 72]
    persons = [set(getattr(splits, name).identities.tolist()) for name in splits.names]
    assert sum(map(len, persons)) == len(set.union(*persons)) == 36


def test_a_set_with_validation_data_of_its_own_keeps_it() -> None:
    splits = datasets.load("fashion-mnist-10k", validation_from="test")
    assert sizes(splits) == [10_000, 1_000, 2_000]


# -- copies of forgotten images in the retain and test set


def made(pixels: torch.Tensor) -> Splits:
    from mucore.datasets.splits import assemble

    part = split_of(x=pixels.permute(0, 2, 3, 1).numpy(), y=np.arange(len(pixels)) % 2)
    return assemble(
        "made", train=part, validation=part, test=part, class_names=("a", "b"), natural=False
    )
