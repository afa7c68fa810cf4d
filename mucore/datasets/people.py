"""Published sets of faces, decoded into memory: MUFAC, MUCAC (Choi and Na, 2023) and UTKFace."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from mucore.catalog import DatasetCard
from mucore.datasets.files import decode_all
from mucore.datasets.published import archive, divided
from mucore.datasets.splits import Split, Splits, split_of

SIDE = 128
AGE_CLASSES = "abcdefgh"  # 0-6, 7-12, 13-19, 20-30, 31-45, 46-55, 56-66, 67-80 years
# F0001_AGE_D2_18_a1.jpg: family, kind, person, age now, class
MUFAC_NAME = re.compile(r"(F\d+)_[A-Z]+_([A-Z]+\d*)_.+")
UTK_NAME = re.compile(r"(?P<age>\d{1,3})_[01]_[0-4]_\d+\.")  # age, gender, race, date
# MUCAC divides CelebA-HQ by its number of the person (the authors' code): test below, then
# training, then unseen persons.
FIRST_TRAINED, FIRST_UNSEEN = 190, 4855
DECADES = 10
OLDEST = 90


@archive("custom_korean_family_dataset_resolution_128", "mufac", "MUFAC")
def mufac(card: DatasetCard, folder: Path) -> Splits:
    """Age of Korean families in 8 classes: 10,025 images for training, 1,539 for testing, 1,504 of
    unseen persons.

    A person is one member of one family, as the file names say. The authors' "val" CSV is their
    test set, their "test" CSV shows unseen persons (Machine_Unlearning_MUFAC_Base_Models.ipynb).
    """
    tables = {}
    for split in ("train", "val", "test"):
        table = pd.read_csv(folder / f"custom_{split}_dataset.csv", dtype=str)
        table["file"] = [Path(path).name for path in table["image_path"]]
        table["person"] = [MUFAC_NAME.sub(r"\1_\2", file) for file in table["file"]]
        tables[split] = table
    people = np.unique(np.concatenate([table["person"] for table in tables.values()]))

    def part(split: str) -> Split:
        table = tables[split]
        # one archive has the images in one folder, the other in several parts
        where = {path.name: path for path in folder.glob(f"{split}_images*/*")}
        return split_of(
            x=decode_all([where[file] for file in table["file"]], SIDE),
            y=np.array([AGE_CLASSES.index(age.strip()) for age in table["age_class"]]),
            identities=np.searchsorted(people, table["person"]),
        )

    return divided(card.id, training=part("train"), test=part("val"), unseen=part("test"))


@archive("CelebAMask-HQ", "mucac", "MUCAC")
def mucac(card: DatasetCard, folder: Path) -> Splits:
    """Three attributes of celebrities, or the one that the card names, divided by person as the
    authors do.
    """
    persons = pd.read_csv(folder / "CelebA-HQ-identity.txt", sep=r"\s+", header=None, index_col=0)[
        1
    ]
    files = sorted(persons.index, key=lambda file: (len(file), file))  # 0.jpg, ..., 10.jpg
    numbers = persons[files].to_numpy(np.int64)
    # its first line counts the rows; the archive has it under another name
    table = next(folder.glob("CelebAMask-HQ-attribute*"), folder / "CelebA-HQ-attribute.txt")
    attributes = pd.read_csv(table, sep=r"\s+", skiprows=1).loc[files]
    names = card.attribute.title() or [name.title() for name in card.class_names]
    labels = (attributes[names] == 1).to_numpy(np.int64)

    def part(chosen: np.ndarray) -> Split:
        places = np.flatnonzero(chosen)
        paths = [folder / "CelebA-HQ-img" / files[place] for place in places]
        return split_of(x=decode_all(paths, SIDE), y=labels[places], identities=numbers[places])

    return divided(
        card.id,
        training=part((numbers >= FIRST_TRAINED) & (numbers < FIRST_UNSEEN)),
        test=part(numbers < FIRST_TRAINED),
        unseen=part(numbers >= FIRST_UNSEEN),
    )


@archive("UTKFace", "utkface")
def utkface(card: DatasetCard, folder: Path) -> Splits:
    """Faces by decade of age, which the file names give; a fifth is the test set."""
    files = sorted(folder.rglob("*.jpg"))
    ages = {file: int(match["age"]) for file in files if (match := UTK_NAME.match(file.name))}
    whole = split_of(
        x=decode_all(ages, SIDE),
        y=np.minimum(np.array([*ages.values()], np.int64), OLDEST) // DECADES,
    )
    note = (
        f"{len(files) - len(ages):,} of {len(files):,} images are left out: their names do not "
        "say age, gender, race and date."
    )
    return divided(card.id, training=whole, notes=[note] if len(ages) < len(files) else [])
