"""Image archives in their published layout: TinyImageNet, ImageNet, and the downstream sets
Office-Home, CUB-200 and DomainNet-126.

TinyImageNet is decoded into memory; the others are streamed from their files (`FileImages`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mucore.catalog import DatasetCard
from mucore.datasets.files import FileImages, decode_all
from mucore.datasets.published import archive, divided
from mucore.datasets.splits import Split, Splits, split_of
from mucore.userfiles.images import SUFFIXES

TINY_SIDE = 64
SIDE = 224  # pixels of a streamed image
MARGIN = 256 / 224  # the usual preparation for ImageNet: the shorter edge to 256, then the centre


@archive("tiny-imagenet-200")
def tiny_imagenet(card: DatasetCard, folder: Path) -> Splits:
    """TinyImageNet, or its first 50 classes in WordNet-id order; the published validation images
    are the test set.
    """
    number = _numbered(_folders(folder / "train")[: card.classes])
    training = [
        (path, number[wnid])
        for wnid in number
        for path in _images(folder / "train" / wnid / "images")
    ]
    annotations = pd.read_csv(
        folder / "val" / "val_annotations.txt", sep="\t", header=None, usecols=[0, 1]
    )
    test = [
        (folder / "val" / "images" / file, number[wnid])
        for file, wnid in annotations.itertuples(index=False)
        if wnid in number
    ]

    def part(files: list[tuple[Path, int]]) -> Split:
        paths, labels = zip(*files, strict=True) if files else ((), ())
        return split_of(x=decode_all(paths, TINY_SIDE), y=np.array(labels, np.int64))

    return divided(
        card.id,
        training=part(training),
        test=part(test),
        class_names=_named(number, folder / "words.txt"),
    )


@archive("imagenet", "ILSVRC2012")
def imagenet(card: DatasetCard, folder: Path) -> Splits:
    """ILSVRC-2012, streamed; the published validation images are the test set. They lie in folders
    of classes, or Kaggle's table names the class of each.
    """
    top = folder
    if (top / "ILSVRC").is_dir():
        folder = top / "ILSVRC" / "Data" / "CLS-LOC"
    number = _numbered(_folders(folder / "train"))
    if _folders(folder / "val"):
        test = _by_class(folder, [f"val/{wnid}" for wnid in _folders(folder / "val")], number)
    else:
        table = pd.read_csv(top / "LOC_val_solution.csv", index_col="ImageId")
        wnids = table["PredictionString"].str.split().str[0]
        paths = _images(folder / "val")
        labels = [number[wnids[path.stem]] for path in paths]
        test = _streamed(folder, [f"val/{path.name}" for path in paths], labels)
    return divided(
        card.id,
        training=_by_class(folder, [f"train/{wnid}" for wnid in number], number),
        test=test,
        class_names=_named(number, top / "LOC_synset_mapping.txt", top / "words.txt"),
    )


@archive("OfficeHomeDataset_10072016", "OfficeHome", "office-home")
def office_home(card: DatasetCard, folder: Path) -> Splits:
    """Office-Home, one domain or all four, streamed."""
    wanted = card.id.removeprefix("office-home").strip("-")
    domains = [each for each in _folders(folder) if not wanted or _slug(each) == wanted]
    classes = [f"{domain}/{each}" for domain in domains for each in _folders(folder / domain)]
    number = _numbered(sorted({Path(each).name for each in classes}))
    names = [name.replace("_", " ") for name in number]
    return divided(card.id, training=_by_class(folder, classes, number), class_names=names)


@archive("domainnet-126", "DomainNet-126")
def domainnet(card: DatasetCard, folder: Path) -> Splits:
    """The 126 classes of DomainNet that its list files name, one domain or all four, streamed."""
    wanted = card.id.removeprefix("domainnet-126").strip("-")
    domains = [wanted] if wanted else ["clipart", "painting", "real", "sketch"]
    numbers = pd.concat([_table(folder / f"{domain}_list.txt")[1] for domain in domains])
    numbers = numbers.astype(np.int64)
    names = {number: Path(file).parent.name.replace("_", " ") for file, number in numbers.items()}
    order = sorted(names)
    whole = _streamed(folder, [*numbers.index], np.searchsorted(order, numbers))
    return divided(card.id, training=whole, class_names=[names[number] for number in order])


@archive("CUB_200_2011")
def cub_200(card: DatasetCard, folder: Path) -> Splits:
    """Caltech-UCSD Birds-200-2011 in its published division, streamed."""
    images, labels, trains, classes = (
        _table(folder / f"{kind}.txt")[1]
        for kind in ("images", "image_class_labels", "train_test_split", "classes")
    )
    number = _numbered(classes.index)
    whole = _streamed(
        folder,
        [f"images/{file}" for file in images],
        [number[label] for label in labels.loc[images.index]],
    )
    is_training = trains.loc[images.index].to_numpy() == 1
    return divided(
        card.id,
        training=whole[np.flatnonzero(is_training)],
        test=whole[np.flatnonzero(~is_training)],
        class_names=[text.partition(".")[2].replace("_", " ") for text in classes],
    )


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: label for label, name in enumerate(names)}


def _by_class(folder: Path, classes: Sequence[str], number: Mapping[str, int]) -> Split:
    """Images in folders, of which the last of a path is the class."""
    pairs = [
        (f"{each}/{path.name}", number[Path(each).name])
        for each in classes
        for path in _images(folder / each)
    ]
    return _streamed(folder, [file for file, _ in pairs], [label for _, label in pairs])


def _streamed(folder: Path, files: Sequence[str], labels: Sequence[int] | np.ndarray) -> Split:
    return split_of(
        x=FileImages(folder, files, size=SIDE, margin=MARGIN), y=np.array(labels, np.int64)
    )


def _named(wnids: Iterable[str], *lists: Path) -> list[str]:
    """The first word that a list gives each WordNet id, with the id where two classes share it; the
    ids without a list.
    """
    words: dict[str, str] = {}
    for path in filter(Path.is_file, lists):
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            wnid, _, rest = line.replace("\t", " ").partition(" ")
            words.setdefault(wnid, rest.split(",")[0].strip())
    first = [words.get(wnid) or wnid for wnid in wnids]
    return [
        word if first.count(word) == 1 else f"{word} ({wnid})"
        for word, wnid in zip(first, wnids, strict=True)
    ]


def _table(path: Path) -> pd.DataFrame:
    """A text file without heads, by its first column."""
    return pd.read_csv(path, sep=" ", header=None, index_col=0)


def _folders(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir())


def _images(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        names = sorted(each.name for each in entries if Path(each.name).suffix.lower() in SUFFIXES)
    if not names:
        raise ValueError(f"{folder} holds no image")
    return [folder / name for name in names]


def _slug(text: str) -> str:
    return text.lower().replace(" ", "-").replace("_", "-")
