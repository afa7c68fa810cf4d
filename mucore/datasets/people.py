"""Published sets of faces, decoded into memory: MUFAC, MUCAC (Choi and Na, 2023) and UTKFace."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np

from mucore import catalog
from mucore.catalog import DatasetCard
from mucore.datasets.files import decode_all
from mucore.datasets.published import divided, folder_of, lines_of, numbered, require
from mucore.datasets.splits import Part, Splits
from mucore.errors import BadFile

SIDE = 128
AGE_CLASSES = "abcdefgh"  # 0-6, 7-12, 13-19, 20-30, 31-45, 46-55, 56-66, 67-80 years
# F0001_AGE_D2_18_a1.jpg: family, kind, person, age now, class
MUFAC_NAME = re.compile(r"(?P<family>F\d+)_[A-Z]+_(?P<person>[A-Z]+\d*)_.+")
UTK_NAME = re.compile(r"(?P<age>\d{1,3})_[01]_[0-4]_\d+\.")  # age, gender, race, date
# MUCAC divides CelebA-HQ by its number of the person (the authors' code): test below, then
# training, then unseen persons.
FIRST_TRAINED, FIRST_UNSEEN = 190, 4855
DECADES = 10
OLDEST = 90


def mufac(name: str, root: Path) -> Splits:
    """Age of Korean families in 8 classes: 10,025 images for training, 1,539 for testing, 1,504 of
    unseen persons. Raises `BadFile`.

    A person is one member of one family, as the file names say. The authors' "val" CSV is their
    test set, their "test" CSV shows unseen persons (Machine_Unlearning_MUFAC_Base_Models.ipynb).
    """
    card = catalog.dataset(name)
    folder = folder_of(card, root, "custom_korean_family_dataset_resolution_128", "mufac", "MUFAC")
    tables = [_mufac_table(card, folder, split) for split in ("train", "val", "test")]
    persons = numbered([person for table in tables for _, _, person in table])
    identities = np.split(persons, np.cumsum([len(table) for table in tables])[:-1])
    training, test, unseen = (
        Part(
            x=decode_all([path for path, _, _ in table], SIDE),
            y=np.array([label for _, label, _ in table]),
            identities=mine,
        )
        for table, mine in zip(tables, identities, strict=True)
    )
    return divided(name, training=training, test=test, unseen=unseen)


def _mufac_table(card: DatasetCard, folder: Path, split: str) -> list[tuple[Path, int, str]]:
    """(file, age class, person) of each row of a CSV, in its order."""
    table = folder / f"custom_{split}_dataset.csv"
    reader = csv.DictReader(lines_of(card, table))
    if not {"image_path", "age_class"} <= set(reader.fieldnames or ()):
        raise BadFile(
            f"{table} needs the columns image_path and age_class, but has "
            f"{', '.join(reader.fieldnames or ()) or 'none'}."
        )
    # one archive has the images in one folder, the other in several parts
    places = sorted(folder.glob(f"{split}_images*"))
    if not places:
        raise BadFile(f"{card.title} lacks {folder / split}_images. {card.where}")
    where = {path.name: path for place in places for path in place.iterdir()}
    rows = []
    for row in reader:
        file, age = Path(row["image_path"] or "").name, (row["age_class"] or "").strip()
        if len(age) != 1 or age not in AGE_CLASSES:
            raise BadFile(
                f"{table} gives {file} the age class {age!r}, but there are "
                f"{', '.join(AGE_CLASSES)} only. Fetch it again."
            )
        known = MUFAC_NAME.match(file)
        if known is None:
            raise BadFile(
                f"{table} names {file}, which does not say family and person, as "
                "F0001_AGE_D_18_a1.jpg does. Fetch it again."
            )
        if file not in where:
            raise BadFile(
                f"{table} names {file}, which is not in {places[0]}. Unpack the archive again."
            )
        rows.append((where[file], AGE_CLASSES.index(age), f"{known['family']}_{known['person']}"))
    if not rows:
        raise BadFile(f"{table} names no image. Unpack the archive again.")
    return rows


def mucac(name: str, root: Path) -> Splits:
    """Three attributes of celebrities, or the one that the card names, divided by person as the
    authors do. Raises `BadFile`.
    """
    card = catalog.dataset(name)
    folder = folder_of(card, root, "CelebAMask-HQ", "mucac", "MUCAC")
    person: dict[str, int] = {}
    identity_file = folder / "CelebA-HQ-identity.txt"
    for line in lines_of(card, identity_file):
        fields = line.split()
        if len(fields) != 2 or not fields[1].isdigit():
            raise BadFile(
                f"{identity_file} has the line {line!r}, but each needs a file and the number of "
                "a person. Fetch it again."
            )
        person[fields[0]] = int(fields[1])
    bits = _attributes(card, folder)
    missing = [file for file in person if file not in bits]
    if missing:
        raise BadFile(
            f"The attribute file in {folder} has no row for {missing[0]}, which "
            f"{identity_file.name} names. Fetch it again."
        )
    images = require(card, folder / "CelebA-HQ-img")
    files = sorted(person, key=lambda file: (len(file), file))  # 0.jpg, 1.jpg, ..., 10.jpg
    numbers = np.array([person[file] for file in files])

    def part(chosen: np.ndarray, what: str) -> Part:
        mine = [file for file, wanted in zip(files, chosen, strict=True) if wanted]
        if not mine:
            raise BadFile(
                f"{identity_file} names no {what} person. Unpack the whole archive. {card.where}"
            )
        return Part(
            x=decode_all([images / file for file in mine], SIDE),
            y=np.array([bits[file] for file in mine]),
            identities=numbers[chosen],
        )

    return divided(
        name,
        training=part((numbers >= FIRST_TRAINED) & (numbers < FIRST_UNSEEN), "training"),
        test=part(numbers < FIRST_TRAINED, "test"),
        unseen=part(numbers >= FIRST_UNSEEN, "unseen"),
    )


def _attributes(card: DatasetCard, folder: Path) -> dict[str, list[int] | int]:
    """The card's attributes as 0 and 1 by file. The file counts its rows, names 40 attributes, then
    has a row of -1 and 1 an image.
    """
    path = next(
        (
            folder / name
            for name in ("CelebA-HQ-attribute.txt", "CelebAMask-HQ-attribute-anno.txt")
            if (folder / name).is_file()
        ),
        None,
    )
    lines = lines_of(card, path or folder / "CelebA-HQ-attribute.txt")
    heads = lines[1].split() if len(lines) > 1 else []
    names = [name.title() for name in ((card.attribute,) if card.attribute else card.class_names)]
    missing = [name for name in names if name not in heads]
    if missing:
        raise BadFile(
            f"{path} does not name the attribute {missing[0]} in its second line. Fetch it again."
        )
    wanted = [heads.index(name) for name in names]
    rows: dict[str, list[int] | int] = {}
    for line in lines[2:]:
        file, *values = line.split()
        chosen = [values[place] for place in wanted] if len(values) == len(heads) else []
        if not chosen or not set(chosen) <= {"-1", "1"}:
            raise BadFile(
                f"{path}: the row of {file} is not {len(heads)} values of -1 and 1. Fetch it again."
            )
        bits = [int(value == "1") for value in chosen]
        rows[file] = bits[0] if card.attribute else bits
    return rows


def utkface(name: str, root: Path) -> Splits:
    """Faces by decade of age, which the file names give; a fifth is the test set. Raises
    `BadFile`.
    """
    card = catalog.dataset(name)
    folder = folder_of(card, root, "UTKFace", "utkface")
    folder = folder / "UTKFace" if (folder / "UTKFace").is_dir() else folder
    files = sorted(path.name for path in folder.iterdir() if path.suffix.lower() == ".jpg")
    named = [(file, match) for file in files if (match := UTK_NAME.match(file))]
    if not named:
        raise BadFile(f"{folder} holds no image named AGE_GENDER_RACE_DATE.jpg. {card.where}")
    ages = np.array([int(match["age"]) for _, match in named])
    whole = Part(
        x=decode_all([folder / file for file, _ in named], SIDE),
        y=np.minimum(ages, OLDEST) // DECADES,
    )
    note = (
        f"{len(files) - len(named):,} of {len(files):,} images are left out: their names do not "
        "say age, gender, race and date."
    )
    return divided(name, training=whole, notes=[note] if len(named) < len(files) else [])
