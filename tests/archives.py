"""Tiny archives of published data sets in the very layout in which they are published, with drawn
pixels.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib
import io
import pickle
import struct
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

AGES = "abcdefgh"
CELEBA_ATTRIBUTES = [f"Attribute_{number}" for number in range(40)]
CELEBA_ATTRIBUTES[20], CELEBA_ATTRIBUTES[31], CELEBA_ATTRIBUTES[39] = "Male", "Smiling", "Young"

PERSONS = [f"p{number}" for number in (30, 4, 17, 2, 9, 11)]  # in no order
IMAGES_EACH = 8  # of each


def picture(
    path: Path, number: int, *, size: tuple[int, int] = (64, 64), mode: str = "RGB"
) -> Path:
    """An image of blocks that `number` alone decides; JPEG or PNG by its suffix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    blocks = np.random.default_rng(number).integers(256, size=(4, 4, 3), dtype=np.uint8)
    Image.fromarray(blocks).resize(size, Image.Resampling.NEAREST).convert(mode).save(
        path, format="PNG" if path.suffix == ".png" else "JPEG"
    )
    return path


def idx(array: np.ndarray) -> bytes:
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def idx_files(
    folder: Path, *, packed: bool, train: int = 40, test: int = 10
) -> dict[str, np.ndarray]:
    """Images and labels in the layout of MNIST and Fashion-MNIST, labels 0..9 in turn."""
    rng = np.random.default_rng(0)
    arrays = {
        "train-images-idx3-ubyte": rng.integers(256, size=(train, 28, 28), dtype=np.uint8),
        "train-labels-idx1-ubyte": np.arange(train, dtype=np.uint8) % 10,
        "t10k-images-idx3-ubyte": rng.integers(256, size=(test, 28, 28), dtype=np.uint8),
        "t10k-labels-idx1-ubyte": np.arange(test, dtype=np.uint8) % 10,
    }
    folder.mkdir(parents=True)
    for name, array in arrays.items():
        (folder / (f"{name}.gz" if packed else name)).write_bytes(
            gzip.compress(idx(array)) if packed else idx(array)
        )
    return arrays


def cifar(
    root: Path, patch: pytest.MonkeyPatch, *, classes: int = 10, train: int = 20, test: int = 20
) -> dict[str, np.ndarray]:
    """CIFAR-10 or CIFAR-100 packed, with torchvision told its checksums; labels 0, 1, ... in turn.
    Returns pixels (n, 3, 32, 32).
    """
    kind = getattr(importlib.import_module("torchvision.datasets"), f"CIFAR{classes}")
    names = ("data_batch_1", "test_batch") if classes == 10 else ("train", "test")
    label, words = (
        ("labels", "label_names") if classes == 10 else ("fine_labels", "fine_label_names")
    )
    meta = "batches.meta" if classes == 10 else "meta"
    rng = np.random.default_rng(0)
    rows = {
        name: rng.integers(256, size=(count, 3072), dtype=np.uint8)
        for name, count in zip(names, (train, test), strict=True)
    }
    files = {
        name: pickle.dumps({"data": data, label: [number % classes for number in range(len(data))]})
        for name, data in rows.items()
    }
    files[meta] = pickle.dumps({words: [str(number) for number in range(classes)]})
    root.mkdir(parents=True, exist_ok=True)
    with tarfile.open(root / kind.filename, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{kind.base_folder}/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    sums = {name: hashlib.md5(content).hexdigest() for name, content in files.items()}
    patch.setattr(kind, "tgz_md5", hashlib.md5((root / kind.filename).read_bytes()).hexdigest())
    patch.setattr(kind, "train_list", [[names[0], sums[names[0]]]])
    patch.setattr(kind, "test_list", [[names[1], sums[names[1]]]])
    patch.setattr(kind, "meta", {"filename": meta, "key": words, "md5": sums[meta]})
    return {
        split: rows[name].reshape(-1, 3, 32, 32)
        for split, name in zip(("train", "test"), names, strict=True)
    }


def wnids(count: int) -> list[str]:
    return [f"n{1_000_000 + 7 * number:08d}" for number in range(count)]


def tiny_imagenet(root: Path, *, images: int = 2, classes: int = 200) -> Path:
    """tiny-imagenet-200: `images` for training and one for validation a class; the classes of
    words.txt are word0, word1, ...
    """
    folder = root / "tiny-imagenet-200"
    names = wnids(classes)
    for label, wnid in enumerate(names):
        for image in range(images):
            picture(
                folder / "train" / wnid / "images" / f"{wnid}_{image}.JPEG", 1000 * label + image
            )
        (folder / "train" / wnid / f"{wnid}_boxes.txt").write_text("")
    rows = []
    for number, wnid in enumerate(reversed(names)):
        picture(folder / "val" / "images" / f"val_{number}.JPEG", 500_000 + number)
        rows.append(f"val_{number}.JPEG\t{wnid}\t0\t32\t44\t62")
    (folder / "val" / "val_annotations.txt").write_text("\n".join(rows) + "\n")
    (folder / "wnids.txt").write_text("\n".join(reversed(names)) + "\n")
    (folder / "words.txt").write_text(
        "\n".join(f"{wnid}\tword{label}, other word" for label, wnid in enumerate(names)) + "\n"
    )
    return folder


def imagenet(root: Path, *, truth: str, images: int = 2, classes: int = 1000) -> Path:
    """imagenet: `images` for training, one for validation a class; `truth` is folders or csv."""
    folder = root / "imagenet"
    names = wnids(classes)
    for label, wnid in enumerate(names):
        for image in range(images):
            picture(
                folder / "train" / wnid / f"{wnid}_{image}.JPEG",
                1000 * label + image,
                size=(12, 10),
            )
    files = [f"ILSVRC2012_val_{number + 1:08d}.JPEG" for number in range(classes)]
    of = [names[(7 * number) % classes] for number in range(classes)]
    for number, (file, wnid) in enumerate(zip(files, of, strict=True)):
        place = folder / "val" / wnid / file if truth == "folders" else folder / "val" / file
        picture(place, 5_000_000 + number, size=(10, 12))
    if truth == "csv":
        rows = [
            f"{file.removesuffix('.JPEG')},{wnid} 1 2 3 4"
            for file, wnid in zip(files, of, strict=True)
        ]
        (folder / "LOC_val_solution.csv").write_text(
            "\n".join(["ImageId,PredictionString", *rows]) + "\n"
        )
    return folder


def office_home(root: Path, *, images: int = 5, classes: int = 65) -> Path:
    folder = root / "OfficeHomeDataset_10072016"
    for domain, name in enumerate(("Art", "Clipart", "Product", "Real World")):
        for label in range(classes):
            for image in range(images):
                path = folder / name / f"Class_{label:02d}" / f"{image + 1:05d}.jpg"
                picture(path, 100_000 * domain + 100 * label + image, size=(8, 6))
    return folder


def domainnet(root: Path, *, images: int = 5, classes: int = 126) -> Path:
    folder = root / "domainnet-126"
    for domain, name in enumerate(("real", "clipart", "painting", "sketch")):
        rows = []
        for label in range(classes):
            for image in range(images):
                file = f"{name}/class_{label:03d}/{name}_{label:03d}_{image:06d}.jpg"
                picture(folder / file, 100_000 * domain + 100 * label + image, size=(6, 8))
                rows.append(f"{file} {label}")
        (folder / f"{name}_list.txt").write_text("\n".join(rows) + "\n")
    (folder / "real" / "not_one_of_the_126").mkdir()
    return folder


def cub_200(root: Path, *, images: int = 4, classes: int = 200) -> Path:
    """Every other image of a class is for training."""
    folder = root / "CUB_200_2011"
    rows: dict[str, list[str]] = {
        kind: [] for kind in ("images", "image_class_labels", "train_test_split", "classes")
    }
    number = 0
    for label in range(1, classes + 1):
        name = f"{label:03d}.Some_Bird_{label}"
        rows["classes"].append(f"{label} {name}")
        for image in range(images):
            number += 1
            file = f"{name}/Some_Bird_{label}_{image:04d}_{number}.jpg"
            picture(folder / "images" / file, number, size=(8, 7))
            rows["images"].append(f"{number} {file}")
            rows["image_class_labels"].append(f"{number} {label}")
            rows["train_test_split"].append(f"{number} {image % 2}")
    for kind, lines in rows.items():
        (folder / f"{kind}.txt").write_text("\n".join(lines) + "\n")
    return folder


def mufac(
    root: Path, *, families: Sequence[int] = (6, 3, 3), copies: int = 0, size: int = 128
) -> Path:
    """Families with a daughter, a second daughter and a mother, each in four ages of two images;
    `copies` of them are in test as well.
    """
    folder = root / "custom_korean_family_dataset_resolution_128"
    first = 1
    number = 0
    for split, count in zip(("train", "val", "test"), families, strict=True):
        rows = []
        for family in range(first, first + count):
            for person, offset in (("D", 0), ("D2", 2), ("M", 4)):
                for age in AGES[offset : offset + 4]:
                    for image in (1, 2):
                        number += 1
                        file = f"F{family:04d}_AGE_{person}_{18 + offset}_{age}{image}.jpg"
                        picture(folder / f"{split}_images" / file, number, size=(size, size))
                        rows.append((f"F{family:04d}", person, age, file))
        if split == "val":
            for row in rows[:copies]:
                file = f"F9000_AGE_S_1_{row[2]}{rows.index(row)}.jpg"
                (folder / "val_images" / file).write_bytes(
                    next((folder / "train_images").iterdir()).read_bytes()
                )
                rows.append(("F9000", "S", row[2], file))
        lines = ["family_id,person_id,age_class,image_path", *(",".join(row) for row in rows)]
        (folder / f"custom_{split}_dataset.csv").write_text("\n".join(lines) + "\n")
        first += 300
    return folder


def mucac(
    root: Path,
    *,
    persons: Iterable[int] = (3, 4, 189, 190, 191, 192, 1250, 4853, 4854, 4855, 6216),
    images: int = 3,
) -> Path:
    """CelebAMask-HQ: bit 0 of an image's number says male, bit 1 smiling, bit 2 young."""
    folder = root / "CelebAMask-HQ"
    identities, attributes = [], []
    number = 0
    for person in persons:
        for _ in range(images):
            picture(folder / "CelebA-HQ-img" / f"{number}.jpg", number, size=(256, 256))
            values = ["-1"] * 40
            for bit, name in enumerate(("Male", "Smiling", "Young")):
                values[CELEBA_ATTRIBUTES.index(name)] = "1" if number >> bit & 1 else "-1"
            identities.append(f"{number}.jpg {person}")
            attributes.append(f"{number}.jpg  {' '.join(values)}")
            number += 1
    (folder / "CelebA-HQ-identity.txt").write_text("\n".join(identities) + "\n")
    (folder / "CelebA-HQ-attribute.txt").write_text(
        "\n".join([str(number), " ".join(CELEBA_ATTRIBUTES), *attributes]) + "\n"
    )
    return folder


def utkface(root: Path, *, images: int = 6) -> Path:
    """`images` in each decade up to 110 years, and one without a race as in the published
    archive.
    """
    folder = root / "UTKFace"
    for age in range(5, 116, 10):
        for image in range(images):
            picture(
                folder / f"{age}_{image % 2}_{image % 5}_2017011617452{image:04d}.jpg.chip.jpg",
                100 * age + image,
                size=(200, 200),
            )
    picture(folder / "39_1_20170116174525125.jpg.chip.jpg", 7, size=(200, 200))
    return folder


def people(place: Path) -> None:
    """Six persons in two classes: the last two are the test set."""
    rows, draw = [], np.random.default_rng(0)
    for number, name in enumerate(PERSONS):
        for image in range(IMAGES_EACH):
            file = f"{'test' if number > 3 else 'train'}/{name}-{image}.png"
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            pixels = draw.integers(0, 256, (8, 8), np.uint8)
            pixels[0, 0] = 8 * number + image
            Image.fromarray(pixels).save(place / file)
            rows.append((file, "ab"[image % 2], name))
    with (place / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("file", "label", "person"), *rows])
