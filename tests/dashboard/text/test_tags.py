"""Tags in notes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from dashboard.text.tags import tags_in, tags_of
from mucore.store.rows import Comparison


@pytest.mark.parametrize(
    ("note", "tags"),
    [
        ("", ()),
        ("for the talk", ()),
        ("#Talk, again #talk and #first-draft.", ("talk", "first-draft")),
        ("run #3 of #v2", ("v2",)),
        ("see http://a/b#part and a#b", ()),
        ("#über_uns (#2026a)", ("über_uns", "2026a")),
    ],
)
def test_words_that_begin_with_a_number_sign_are_tags(note: str, tags: tuple[str, ...]) -> None:
    assert tags_in(note) == tags


def test_tags_of_many_come_by_the_alphabet() -> None:
    made = [
        Comparison(
            id=number,
            name="x",
            note=note,
            grid={},
            keys=(),
            created=datetime(2026, 1, 1, tzinfo=UTC),
        )
        for number, note in enumerate(("#b #a", "", "#c #a"))
    ]
    assert tags_of(made) == ["a", "b", "c"]
