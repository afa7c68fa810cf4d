"""Tags in notes."""

from __future__ import annotations

import pytest

from dashboard.text.tags import tags_in


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
