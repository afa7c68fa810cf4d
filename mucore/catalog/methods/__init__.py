"""The roster of unlearning methods, one card a file.

Every file here is a card and is found by itself: file, card and function (mucore/methods) have one
name. Its docstring says what the method does, then how it works, then how it differs from the
paper, each a paragraph. A file whose name begins with an underscore is none.

Default values are the authors' (preset `authors`), as far as their paper or official code states
them; `help` says where it does not. The preset `tuned` is what `mucore tune` found within the
card's `search`, task by task (mucore/catalog/tuning.py). A card's `revision` is part of the cache
key: raise it whenever the function behind it can give another result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from mucore.catalog.cards import MethodCard

# In display order; the dashboard colours by family (dashboard/theme.py).
FAMILIES = {
    "reference": "References",
    "exact": "Exact",
    "gradient_ascent": "Gradient ascent",
    "influence": "Influence and Fisher information",
    "teacher": "Teacher and student",
    "relabelling": "Relabelling and boundary",
    "sparsity": "Sparsity, masks, projection",
    "features": "Features and centroids",
    "competition": "Competition",
    # never one of "all methods", nor called nearest, best or cheapest
    "baseline": "Baseline that cheats",
    "own": "Your own",  # files of mucore/catalog/plugins.py, and weights made elsewhere
}


def _cards() -> Iterator[MethodCard]:
    for path in sorted(Path(__file__).parent.glob("[!_]*.py")):
        module = import_module(f"{__name__}.{path.stem}")
        texts = (" ".join(part.split()) for part in (module.__doc__ or "").split("\n\n"))
        summary, how, differs, *_ = (*texts, "", "")
        yield replace(
            module.CARD, summary=summary, how=how, differs=differs.removeprefix("Differs: ")
        )


def _place(card: MethodCard) -> tuple[int, int, str]:
    """Where lists show a method: by family, then the older paper first, then by title."""
    return list(FAMILIES).index(card.family), card.year, card.title.casefold()


_CARDS = sorted(_cards(), key=_place)
ORIGINAL = next(card for card in _CARDS if card.id == "original")
METHODS: tuple[MethodCard, ...] = tuple(card for card in _CARDS if card is not ORIGINAL)
