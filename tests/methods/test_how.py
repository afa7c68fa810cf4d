"""The cards' texts on how a method works: short enough to read at once, and more than the summary
says.
"""

from __future__ import annotations

import re

import make_docs
import pytest

from mucore.catalog import METHODS, ORIGINAL

CARDS = {card.id: card for card in (ORIGINAL, *METHODS)}
RUN = 6  # words in a row that count as said twice


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.parametrize("name", CARDS)
def test_it_is_a_few_short_sentences(name):
    how = CARDS[name].how
    sentences = how.split(". ")
    assert len(sentences) in ((3,) if name == "uploaded" else (4, 5, 6))
    assert len(how.split()) <= 120
    assert [sentence for sentence in sentences if len(sentence.split()) > 30] == []
    assert (
        how.endswith(".")
        and "  " not in how
        and all(sentence[0] == sentence[0].upper() for sentence in sentences)
    )


@pytest.mark.parametrize("name", CARDS)
def test_it_adds_to_the_summary(name):
    card = CARDS[name]
    how, summary = words(card.how), f" {' '.join(words(card.summary))} "
    runs = [" ".join(how[start : start + RUN]) for start in range(len(how) - RUN + 1)]
    assert [run for run in runs if f" {run} " in summary] == []
    assert "this method" not in card.how.lower()


def test_no_two_methods_share_their_text():
    assert len({card.how for card in CARDS.values()}) == len(CARDS)


def test_the_document_has_it_below_the_summary():
    page = make_docs.methods_page()
    assert all(f"\n\n{card.summary}\n\n{card.how}\n\n" in page for card in METHODS)
