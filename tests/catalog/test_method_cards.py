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


def test_a_file_without_a_card_is_named(package):
    (package[0] / "empty.py").write_text("RATE = 1", encoding="utf-8")
    with pytest.raises(BadFile, match=r"empty\.py has no CARD"):
        list(cards_in(*package))


def test_a_card_has_the_name_of_its_file(package):
    write(package[0], "mine", id="other")
    with pytest.raises(BadFile, match=r"mine\.py: the card's id is other"):
        list(cards_in(*package))


def test_two_files_with_one_id_are_told_apart(package):
    """The copy is named: the file that the id is called after is right."""
    write(package[0], "mine")
    write(package[0], "copy_of_mine", id="mine")
    with pytest.raises(BadFile, match=r"copy_of_mine\.py: the card's id is mine"):
        list(cards_in(*package))


def test_an_alias_belongs_to_one_method(package):
    write(package[0], "first", aliases=("A",))
    write(package[0], "second", aliases=("A",))
    with pytest.raises(BadFile, match=r"second\.py: the name A belongs to first"):
        list(cards_in(*package))


def test_a_family_is_one_of_those_shown(package):
    write(package[0], "mine", family="unheard_of")
    with pytest.raises(BadFile, match="but it is unheard_of"):
        list(cards_in(*package))


def test_every_file_of_the_folder_is_a_method_or_the_original():
    files = {path.stem for path in FOLDER.glob("*.py") if not path.name.startswith("_")}
    assert files == {"original", *(card.id for card in catalog.METHODS)}


def test_methods_stand_by_family_then_year_then_title():
    families = list(catalog.FAMILIES)
    places = [(families.index(c.family), c.year, c.title.casefold()) for c in catalog.METHODS]
    assert places == sorted(places)


def test_the_year_is_that_of_the_source():
    dated = [card for card in catalog.METHODS if card.family not in ("reference", "own")]
    assert all(card.year and str(card.year) in card.source for card in dated)
