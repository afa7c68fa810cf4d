"""Cards of methods are found in their folder, one a file, and stand in one order everywhere."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from mucore import catalog
from mucore.catalog.methods import cards_in
from mucore.errors import BadFile

FOLDER = Path(catalog.__file__).parent / "methods"
CARD = """from mucore.catalog.cards import MethodCard
CARD = MethodCard(id="{id}", title="A", family="{family}", source="", summary="", reads=frozenset(),
                  aliases={aliases})
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A fresh package, since Python keeps what it has imported: (its folder, its name)."""
    name = f"cards_{next(NUMBERS)}"
    (tmp_path / name).mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / name, name


NUMBERS = itertools.count()


def write(folder: Path, file: str, *, family: str = "own", aliases: tuple = (), **fields: str):
    values = {"id": file, "family": family, "aliases": aliases, **fields}
    (folder / f"{file}.py").write_text(CARD.format(**values), encoding="utf-8")


def test_a_card_needs_its_file_alone(package):
    write(package[0], "second")
    write(package[0], "first")
    (package[0] / "_shared.py").write_text("RATE = 1", encoding="utf-8")
    assert [card.id for card in cards_in(*package)] == ["first", "second"]


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ({"mine": {"id": "other"}}, r"mine\.py: the card's id is other"),
        # the copy is named: the file that the id is called after is right
        ({"mine": {}, "copy_of_mine": {"id": "mine"}}, r"copy_of_mine\.py: the card's id is mine"),
        ({"one": {"aliases": ("A",)}, "two": {"aliases": ("A",)}}, "the name A belongs to one"),
        ({"mine": {"family": "unheard_of"}}, "but it is unheard_of"),
    ],
)
def test_what_is_wrong_with_a_card_is_named(package, files, sentence):
    for name, fields in files.items():
        write(package[0], name, **fields)
    with pytest.raises(BadFile, match=sentence):
        list(cards_in(*package))


def test_a_file_without_a_card_is_named(package):
    (package[0] / "empty.py").write_text("RATE = 1", encoding="utf-8")
    with pytest.raises(BadFile, match=r"empty\.py has no CARD"):
        list(cards_in(*package))


def test_every_file_of_the_folder_is_a_method_or_the_original():
    files = {path.stem for path in FOLDER.glob("*.py") if not path.name.startswith("_")}
    assert files == {"original", *(card.id for card in catalog.METHODS)}


def test_methods_stand_by_family_then_year_then_title():
    families = list(catalog.FAMILIES)
    places = [(families.index(c.family), c.year, c.title.casefold()) for c in catalog.METHODS]
    assert places == sorted(places)


def test_a_year_is_the_first_of_the_source():
    dated = [card for card in catalog.METHODS if card.family not in ("reference", "own")]
    assert all(card.year for card in dated)
    assert catalog.method("niu").year == 2023 and catalog.method("retrain").year == 0
