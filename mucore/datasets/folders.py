"""Image archives in their published layout: TinyImageNet, ImageNet, and the downstream sets
Office-Home, CUB-200 and DomainNet-126.

TinyImageNet is decoded into memory; the others are streamed from their files (`FileImages`).
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from mucore import catalog
from mucore.catalog import DatasetCard
from mucore.datasets.files import FileImages, decode_all
from mucore.datasets.published import check_count, divided, folder_of, lines_of, one_line, require
from mucore.datasets.splits import Part, Splits
from mucore.errors import BadFile
from mucore.userfiles.images import SUFFIXES

TINY_SIDE = 64
SIDE = 224  # pixels of a streamed image
MARGIN = 256 / 224  # the usual preparation for ImageNet: the shorter edge to 256, then the centre


def tiny_imagenet(name: str, root: Path) -> Splits:
    """TinyImageNet, or its first 50 classes in WordNet-id order; the published validation images
    are the test set. Raises `BadFile`.
    """
    card, whole = catalog.dataset(name), catalog.dataset("tiny-imagenet")
    folder = folder_of(card, root, "tiny-imagenet-200")
    wnids = _folders(require(card, folder / "train"))
    check_count(whole, folder / "train", len(wnids))
    number = {wnid: label for label, wnid in enumerate(wnids[: card.classes])}
    files = [
        (wnid, path)
        for wnid in number
        for path in _images(require(card, folder / "train" / wnid / "images"))
    ]
    training = Part(
        x=decode_all([path for _, path in files], TINY_SIDE),
        y=np.array([number[wnid] for wnid, _ in files]),
    )
    paths, labels = [], []
    annotations = folder / "val" / "val_annotations.txt"
    for line in lines_of(card, annotations):
        file, wnid = _fields(annotations, line, "\t", 2)
        if wnid not in wnids:
            raise BadFile(
                f"{annotations} gives {file} the class {wnid}, which train/ does not have. Unpack "
                "the archive again."
            )
        if wnid in number:
            paths.append(folder / "val" / "images" / file)
            labels.append(number[wnid])
    test = Part(x=decode_all(paths, TINY_SIDE), y=np.array(labels, np.int64))
    return divided(
        name, training=training, test=test, class_names=_named(list(number), folder / "words.txt")
    )


def imagenet(name: str, root: Path) -> Splits:
    """ILSVRC-2012, streamed; the published validation images are the test set. Raises `BadFile`."""
    card = catalog.dataset(name)
    top = folder_of(card, root, "imagenet", "ILSVRC2012")
    folder = top / "ILSVRC" / "Data" / "CLS-LOC" if (top / "ILSVRC").is_dir() else top
    wnids = _folders(require(card, folder / "train"))
    check_count(card, folder / "train", len(wnids))
    training = _by_class(folder, "train", wnids)
    validation = require(card, folder / "val")
    if _folders(validation):
        test = _by_class(folder, "val", wnids)
    else:
        files = [f"val/{path.name}" for path in _images(validation)]
        known = _ground_truth(card, top, files)
        missing = [file for file in files if file not in known]
        if missing:
            raise BadFile(
                f"The ground truth in {top} does not name {missing[0]}. Unpack the whole archive. "
                f"{card.where}"
            )
        test = Part(
            x=_streamed(folder, files),
            y=_numbers([known[file] for file in files], wnids, validation),
        )
    return divided(
        name,
        training=training,
        test=test,
        class_names=_named(wnids, top / "LOC_synset_mapping.txt", top / "words.txt"),
    )


def office_home(name: str, root: Path) -> Splits:
    """Office-Home, one domain or all four, streamed. Raises `BadFile`."""
    card = catalog.dataset(name)
    folder = folder_of(card, root, "OfficeHomeDataset_10072016", "OfficeHome", "office-home")
    wanted = name.removeprefix("office-home").strip("-")
    domains = [child for child in _folders(folder) if not wanted or _slug(child) == wanted]
    if not domains:
        raise BadFile(f"{folder} has no folder of the domain {wanted or 'Art'}. {card.where}")
    return _undivided(
        card,
        folder,
        [f"{domain}/{child}" for domain in domains for child in _folders(folder / domain)],
    )


def domainnet(name: str, root: Path) -> Splits:
    """The 126 classes of DomainNet that its list files name, one domain or all four, streamed.
    Raises `BadFile`.
    """
    card = catalog.dataset(name)
    folder = folder_of(card, root, "domainnet-126", "DomainNet-126")
    wanted = name.removeprefix("domainnet-126").strip("-")
    files, labels, classes = [], [], {}
    for domain in [wanted] if wanted else ["clipart", "painting", "real", "sketch"]:
        listing = folder / f"{domain}_list.txt"
        for line in lines_of(card, listing):
            file, number = _fields(listing, line, " ", 2)
            if not number.isdigit():
                raise BadFile(
                    f"{listing} has the line {line!r}, which does not end in a class number. "
                    "Fetch it again."
                )
            files.append(file)
            labels.append(int(number))
            classes[int(number)] = Path(file).parent.name.replace("_", " ")
    check_count(card, folder, len(classes))
    order = sorted(classes)
    whole = Part(x=_streamed(folder, files), y=np.searchsorted(order, labels))
    return divided(name, training=whole, class_names=[classes[number] for number in order])


def cub_200(name: str, root: Path) -> Splits:
    """Caltech-UCSD Birds-200-2011 in its published division, streamed. Raises `BadFile`."""
    card = catalog.dataset(name)
    folder = folder_of(card, root, "CUB_200_2011")
    tables = {
        kind: _table(card, folder / f"{kind}.txt")
        for kind in ("images", "image_class_labels", "train_test_split", "classes")
    }
    check_count(card, folder, len(tables["classes"]))
    order = {number: label for label, number in enumerate(tables["classes"])}
    for kind in ("image_class_labels", "train_test_split"):
        missing = [image for image in tables["images"] if image not in tables[kind]]
        if missing:
            raise BadFile(
                f"{folder / kind}.txt has no row for image {missing[0]}. Unpack the archive again."
            )
    wrong = [number for number in tables["image_class_labels"].values() if number not in order]
    if wrong:
        raise BadFile(
            f"{folder}/image_class_labels.txt names class {wrong[0]}, which classes.txt does not "
            "have. Unpack the archive again."
        )
    whole = Part(
        x=_streamed(folder, [f"images/{file}" for file in tables["images"].values()]),
        y=np.array([order[tables["image_class_labels"][image]] for image in tables["images"]]),
    )
    trains = np.array([tables["train_test_split"][image] == "1" for image in tables["images"]])
    names = [text.partition(".")[2].replace("_", " ") for text in tables["classes"].values()]
    return divided(
        name,
        training=whole[np.flatnonzero(trains)],
        test=whole[np.flatnonzero(~trains)],
        class_names=names,
    )


def _undivided(card: DatasetCard, folder: Path, classes: Sequence[str]) -> Splits:
    """Images in class folders, DOMAIN/CLASS."""
    names = sorted({Path(each).name for each in classes})
    check_count(card, folder, len(names))
    number = {name: label for label, name in enumerate(names)}
    pairs = [
        (f"{each}/{path.name}", number[Path(each).name])
        for each in classes
        for path in _images(folder / each)
    ]
    whole = Part(
        x=_streamed(folder, [file for file, _ in pairs]),
        y=np.array([label for _, label in pairs], np.int64),
    )
    return divided(card.id, training=whole, class_names=[name.replace("_", " ") for name in names])


def _by_class(folder: Path, split: str, wnids: Sequence[str]) -> Part:
    children = _folders(folder / split)
    labels = dict(zip(children, _numbers(children, wnids, folder / split), strict=True))
    pairs = [
        (f"{split}/{child}/{path.name}", labels[child])
        for child in children
        for path in _images(folder / split / child)
    ]
    return Part(
        x=_streamed(folder, [file for file, _ in pairs]),
        y=np.array([label for _, label in pairs], np.int64),
    )


def _ground_truth(card: DatasetCard, top: Path, files: Sequence[str]) -> dict[str, str]:
    """WordNet id by validation file, from the competition's CSV or from the development kit."""
    solution = next(
        (
            path
            for path in (top / "LOC_val_solution.csv", top / "ILSVRC" / "LOC_val_solution.csv")
            if path.is_file()
        ),
        None,
    )
    if solution is not None:
        rows = list(csv.reader(lines_of(card, solution)))[1:]
        wrong = [row for row in rows if len(row) < 2 or not row[1].strip()]
        if wrong:
            raise BadFile(
                f"{solution} has the row {','.join(wrong[0])!r}, but each needs an image and its "
                "class. Fetch it again."
            )
        return {f"val/{row[0]}.JPEG": row[1].split()[0] for row in rows}
    for kit in (top, top / "data", top / "ILSVRC2012_devkit_t12" / "data"):
        if (kit / "ILSVRC2012_validation_ground_truth.txt").is_file():
            truth = lines_of(card, kit / "ILSVRC2012_validation_ground_truth.txt")
            ids = _synsets(require(card, kit / "meta.mat"))
            unknown = [number for number in truth if number.strip() not in ids]
            if unknown or len(truth) != len(files):
                what = (
                    f"names class {unknown[0]}"
                    if unknown
                    else f"has {len(truth):,} lines for {len(files):,} images"
                )
                raise BadFile(
                    f"{kit}/ILSVRC2012_validation_ground_truth.txt {what}. Fetch the development "
                    "kit again."
                )
            return {file: ids[number.strip()] for file, number in zip(files, truth, strict=True)}
    raise BadFile(
        f"{card.title} has validation images without class folders in {top}, and no ground truth: "
        "neither LOC_val_solution.csv nor ILSVRC2012_validation_ground_truth.txt with meta.mat. "
        f"{card.where}"
    )


def _synsets(path: Path) -> dict[str, str]:
    """WordNet id by the number that the development kit gives a class; synsets with children are no
    classes.
    """
    from scipy.io import loadmat

    try:
        rows = loadmat(str(path), squeeze_me=True)["synsets"]
        return {
            str(int(row["ILSVRC2012_ID"])): str(row["WNID"])
            for row in rows
            if not int(row["num_children"])
        }
    except Exception as error:  # scipy raises whatever its parser stumbles over
        raise BadFile(
            f"{path} cannot be read ({one_line(error)}). Fetch the development kit again."
        ) from error


def _streamed(folder: Path, files: Sequence[str]) -> FileImages:
    return FileImages(folder, files, size=SIDE, margin=MARGIN)


def _numbers(names: Iterable[str], wnids: Sequence[str], where: Path) -> np.ndarray:
    number = {wnid: label for label, wnid in enumerate(wnids)}
    names = list(names)
    unknown = [each for each in names if each not in number]
    if unknown:
        raise BadFile(
            f"{where} has the class {unknown[0]}, which train/ does not have. Unpack the archive "
            "again."
        )
    return np.array([number[each] for each in names], np.int64)


def _named(wnids: Sequence[str], *lists: Path) -> list[str]:
    """The first word that a list gives each WordNet id, with the id where two classes share it; the
    ids without a list.
    """
    words: dict[str, str] = {}
    for path in lists:
        if path.is_file():
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                wnid, _, rest = line.replace("\t", " ").partition(" ")
                words[wnid] = rest.split(",")[0].strip()
            break
    first = [words.get(wnid) or wnid for wnid in wnids]
    return [
        word if first.count(word) == 1 else f"{word} ({wnid})"
        for word, wnid in zip(first, wnids, strict=True)
    ]


def _table(card: DatasetCard, path: Path) -> dict[str, str]:
    """The rows "number value" of a text file."""
    rows = [_fields(path, line, " ", 2) for line in lines_of(card, path)]
    return {row[0]: row[1] for row in rows}


def _fields(path: Path, line: str, separator: str, count: int) -> list[str]:
    fields = line.strip().split(separator)
    if len(fields) < count:
        raise BadFile(
            f"{path} has the line {line!r}, but each needs {count} fields. Unpack the archive "
            "again."
        )
    return fields[:count]


def _folders(folder: Path) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir())


def _images(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        names = sorted(
            entry.name for entry in entries if os.path.splitext(entry.name)[1].lower() in SUFFIXES
        )
    if not names:
        raise BadFile(f"{folder} holds no image. Unpack the archive again.")
    return [folder / name for name in names]


def _slug(text: str) -> str:
    return text.lower().replace(" ", "-").replace("_", "-")
