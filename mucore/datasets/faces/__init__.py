"""`faces`: drawn portraits of invented people, with known truth: who it is, which age group, male,
young, smiling.

A stand-in for MUFAC (age groups) and MUCAC (three attributes), whose images need a licence. Nobody
is portrayed. A person is a vector of random traits (bones, colours, hair, how old one looks for
one's age); a picture adds pose, light, background, expression. Persons look younger or older than
they are, so the age group can be told only in part from the image and in part only by knowing the
person: that is what a network memorises, and what forgetting a person takes away.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mucore import catalog
from mucore.datasets.drawing import Arrays, in_parts, kept
from mucore.datasets.faces.portrait import SIZE, portraits
from mucore.datasets.faces.traits import GROUPS, traits_of
from mucore.datasets.splits import Splits, assemble, split_of

IMAGES = 10  # pictures of a person
# multiples of GROUPS, one after the other
PEOPLE = {"train": 800, "validation": 80, "test": 200, "unseen": 80}
ATTRIBUTES = ("male", "young", "smiling")


def load(name: str, root: Path) -> Splits:
    """`faces`, labels (n,) of the eight age groups, or `faces-attributes`, the same images with
    labels (n, 3) of 0 and 1.

    `faces-attributes-male` and its like have labels (n,) of 0 and 1, the attribute that the card
    names. 8,000 training, 800 validation, 2,000 test and 800 unseen images; nobody is in two of
    them. Drawn once and kept in the data folder.
    """
    card = catalog.dataset(name)
    people = sum(PEOPLE.values())
    revision = catalog.dataset("faces").revision  # one file for both tasks
    content = kept(root / f"faces-{revision}.npz", lambda: draw(np.arange(people)))
    labels = content["attributes" if card.task == "attributes" else "age"]
    if card.attribute:
        labels = content["attributes"][:, ATTRIBUTES.index(card.attribute)]
    parts, first = {}, 0
    for split, count in PEOPLE.items():
        mine = slice(first * IMAGES, (first + count) * IMAGES)
        parts[split] = split_of(
            x=content["x"][mine], y=labels[mine], identities=content["identity"][mine]
        )
        first += count
    return assemble(
        name, **parts, class_names=card.class_names, natural=card.augmentation, task=card.task
    )


def draw(people: np.ndarray | list[int], images: int = IMAGES) -> Arrays:
    """Pictures of the persons with these numbers, person by person, n = len(people) * images in
    all.

    Gives `x` (n, 64, 64, 3) uint8, `age` (n,) int64 in 0..7, `attributes` (n, 3) int64 of 0 and 1,
    `identity` (n,) int64. A person is the same whoever else is drawn.
    """
    people = np.asarray(people, np.int64)
    traits = traits_of(people, images)

    def some(first: int, last: int) -> np.ndarray:
        return portraits({name: values[first:last] for name, values in traits.items()})

    count = len(people) * images
    x = in_parts(some, count) if count else np.zeros((0, SIZE, SIZE, 3), np.uint8)
    return {
        "x": x,
        "age": traits["age"].astype(np.int64),
        "attributes": np.stack([traits[name] for name in ATTRIBUTES], 1).astype(np.int64),
        "identity": np.repeat(people, images),
    }
