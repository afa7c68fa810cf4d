"""Cards of the data sets that are drawn on first use: stand-ins of known truth for sets that cannot
come with the repository.
"""

from __future__ import annotations

from mucore.catalog.cards import DatasetCard

_WHERE = (
    "Nothing to fetch: it is drawn on first use, in {time}, and kept in the data folder "
    "(MUCORE_DATA, or ~/.mucore/data; {size})."
)
_LICENCE = "MIT, as this project"

AGE_GROUPS = tuple(
    f"{low} to {high} years"
    for low, high in ((0, 6), (7, 12), (13, 19), (20, 30), (31, 45), (46, 55), (56, 66), (67, 80))
)
SCRIPTS = ("ando", "brei", "corva", "duna", "elsh", "fyro")
SOURCE_LETTERS = range(20)
DOWNSTREAM_LETTERS = range(4, 28)  # of these 24 letters the source has 16, in its own style
DOWNSTREAM_SCRIPTS = {"glyphs-serif": "corva", "glyphs-outline": "fyro", "glyphs-hand": "brei"}


def _letters(script: str, numbers: range) -> tuple[str, ...]:
    return tuple(f"{script.title()} {number + 1}" for number in numbers)


def _downstream(name: str, style: str) -> DatasetCard:
    script = DOWNSTREAM_SCRIPTS[name]
    return DatasetCard(
        id=name,
        loader="glyphs:load",
        title=f"Glyphs, {style}",
        source=f"Drawn by this project: 24 letters of the script {script.title()} of glyphs, 8 of "
        "them new, in another style",
        licence=_LICENCE,
        classes=len(DOWNSTREAM_LETTERS),
        shape=(1, 32, 32),
        sizes=(1_440, 144, 576),
        embedded=True,
        balanced=True,
        where=_WHERE.format(time="about two seconds", size="2 MB"),
        class_names=_letters(script, DOWNSTREAM_LETTERS),
    )


_ATTRIBUTES = DatasetCard(
    id="faces-attributes",
    loader="faces:load",
    title="Drawn faces, attributes",
    source="The images of faces under three yes-or-no labels; stands in for MUCAC and has its "
    "attributes",
    licence=_LICENCE,
    classes=3,
    shape=(3, 64, 64),
    sizes=(8_000, 800, 2_000),
    embedded=True,
    augmentation=True,
    where=_WHERE.format(
        time="about fifteen seconds on two cores", size="143 MB, shared with faces"
    ),
    class_names=("male", "young", "smiling"),
    task="attributes",
    identities=True,
)

DRAWN: tuple[DatasetCard, ...] = (
    DatasetCard(
        id="faces",
        loader="faces:load",
        title="Drawn faces, age groups",
        source="Drawn by this project: 1,160 invented people, ten portraits each; stands in for "
        "MUFAC and has its age groups",
        licence=_LICENCE,
        classes=8,
        shape=(3, 64, 64),
        sizes=(8_000, 800, 2_000),
        embedded=True,
        balanced=True,
        augmentation=True,
        where=_WHERE.format(
            time="about fifteen seconds on two cores", size="143 MB, shared with faces-attributes"
        ),
        class_names=AGE_GROUPS,
        identities=True,
    ),
    _ATTRIBUTES,
    *_ATTRIBUTES.alone(),
    DatasetCard(
        id="glyphs",
        loader="glyphs:load",
        title="Glyphs",
        source="Drawn by this project: 20 letters each of six invented scripts; stands in for "
        "ImageNet where classes are forgotten whose features other tasks use",
        licence=_LICENCE,
        shape=(1, 32, 32),
        sizes=(12_000, 1_200, 3_000),
        embedded=True,
        balanced=True,
        where=_WHERE.format(time="about ten seconds on two cores", size="17 MB"),
        class_names=tuple(name for script in SCRIPTS for name in _letters(script, SOURCE_LETTERS)),
        downstream=tuple(DOWNSTREAM_SCRIPTS),
    ),
    _downstream("glyphs-serif", "serif"),
    _downstream("glyphs-outline", "outline"),
    _downstream("glyphs-hand", "hand"),
)
