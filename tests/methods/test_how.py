"""The cards' texts on how a method works: short enough to read at once, and more than the summary
says.
"""

from __future__ import annotations

import re

import make_docs

from mucore.catalog import METHODS, ORIGINAL

CARDS = {card.id: card for card in (ORIGINAL, *METHODS)}
RUN = 6  # words in a row that count as said twice


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_texts_are_a_few_short_sentences_that_add_to_the_summary():
    for name, card in CARDS.items():
        sentences = card.how.split(". ")
        assert len(sentences) in ((3,) if name == "uploaded" else (4, 5, 6)), name
        assert len(card.how.split()) <= 120, name
        assert all(len(sentence.split()) <= 30 for sentence in sentences), name
        assert card.how.endswith(".") and "  " not in card.how, name
        assert all(sentence[0] == sentence[0].upper() for sentence in sentences), name
        how, summary = words(card.how), f" {' '.join(words(card.summary))} "
        runs = [" ".join(how[start : start + RUN]) for start in range(len(how) - RUN + 1)]
        assert [run for run in runs if f" {run} " in summary] == [], name
        assert "this method" not in card.how.lower(), name
    assert len({card.how for card in CARDS.values()}) == len(CARDS)


def test_the_document_has_it_below_the_summary():
    page = make_docs.methods_page()
    assert all(f"\n\n{card.summary}\n\n{card.how}\n\n" in page for card in METHODS)
