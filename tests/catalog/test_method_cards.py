"""Cards of methods are found in their folder, one a file, and stand in one order everywhere."""

from __future__ import annotations

from pathlib import Path

from mucore import catalog

FOLDER = Path(catalog.__file__).parent / "methods"


def test_every_file_of_the_folder_is_a_method_or_the_original():
    files = {path.stem for path in FOLDER.glob("*.py") if not path.name.startswith("_")}
    cards = (catalog.ORIGINAL, *catalog.METHODS)
    assert files == {card.id for card in cards}
    names = [name for card in cards for name in {card.id, *card.aliases}]
    assert len(names) == len(set(names))


def test_methods_stand_by_family_then_year_then_title():
    families = list(catalog.FAMILIES)
    places = [(families.index(c.family), c.year, c.title.casefold()) for c in catalog.METHODS]
    assert places == sorted(places)


def test_a_year_is_the_first_of_the_source():
    dated = [card for card in catalog.METHODS if card.family not in ("reference", "own")]
    assert all(card.year for card in dated)
    assert catalog.method("niu").year == 2023 and catalog.method("retrain").year == 0
