"""Names that people give, at every door: what would print as something else is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mucore import catalog, printable
from mucore.catalog import plugins
from mucore.errors import BadValue
from mucore.forget_sets import saved
from mucore.store import open_store


def comparison(home: Path, name: str, note: str = "") -> None:
    with open_store(home) as store:
        store.create_comparison(name, note, {}, [])


def renamed(home: Path, name: str) -> None:
    with open_store(home) as store:
        made = store.create_comparison("a", "", {}, [])
        store.rename_comparison(made.id, name, "")


def method(_: Path, name: str) -> None:
    card = replace(catalog.method("finetune"), id="mine", family="own", title=name)
    if problem := next(plugins._problems(card), None):
        raise BadValue(problem)


DOORS = {
    "comparison": comparison,
    "renamed": renamed,
    "note": lambda home, name: comparison(home, "a", name),
    "forget set": lambda _, name: saved.check_name(name),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_what_would_print_as_something_else(tmp_path, door):
    for name in ("a\x00b", "a\x1b[31mb", "a\u202eb", "a\u2066b", "a\ud800b"):
        with pytest.raises(BadValue, match=r"U\+|letters from a to z"):
            DOORS[door](tmp_path, name)
    DOORS[door](tmp_path, "Ada 1")


def test_letters_of_any_language_and_lines_of_a_note_stay(tmp_path):
    for name in ("Zoë", "दो नाम", "می‌خواهم", "שלום", "👩‍👩‍👧", "a" * printable.LONGEST):
        assert printable.checked("A name", f" {name} ") == name
    comparison(tmp_path, "x", "two\nlines\tof it")
    with pytest.raises(BadValue, match=r"U\+2028"):
        printable.checked("A name", "a\u2028b")
    with pytest.raises(BadValue, match="2,000"):
        printable.checked("A name", "a" * (printable.LONGEST + 1))
