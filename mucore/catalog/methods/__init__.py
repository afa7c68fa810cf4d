"""The roster of unlearning methods, one card a file.

Every file here is a card and is found by itself: file, card and function (mucore/methods) have one
name. Its docstring says what the method does and then, in a paragraph of its own, how it works. A
file whose name begins with an underscore is none.

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
from mucore.errors import BadFile

__all__ = ["FAMILIES", "METHODS", "ORIGINAL"]

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


def cards_in(folder: Path, package: str) -> Iterator[MethodCard]:
    """The cards of the files in the folder of `package`, by file name. Raises `BadFile`."""
    owners: dict[str, str] = {}
    for path in sorted(folder.glob("[!_]*.py")):
        module = import_module(f"{package}.{path.stem}")
        card = getattr(module, "CARD", None)
        if not isinstance(card, MethodCard):
            raise BadFile(
                f"{path} has no CARD. Write CARD = MethodCard(...), or begin the file's name with "
                "an underscore if it is no method."
            )
        if card.id != path.stem:
            raise BadFile(
                f"{path}: the card's id is {card.id}, but it must be the file's name, {path.stem}."
            )
        if card.family not in FAMILIES:
            raise BadFile(
                f"{path}: the card's family must be one of {', '.join(FAMILIES)}, but it is "
                f"{card.family}."
            )
        for name in sorted({card.id, *card.aliases}):
            if name in owners:
                raise BadFile(
                    f"{path}: the name {name} belongs to {owners[name]} already. Choose another."
                )
            owners[name] = card.id
        summary, _, how = (module.__doc__ or "").partition("\n\n")
        yield replace(card, summary=" ".join(summary.split()), how=" ".join(how.split()))


def _place(card: MethodCard) -> tuple[int, int, str]:
    """Where lists show a method: by family, then the older paper first, then by title."""
    return list(FAMILIES).index(card.family), card.year, card.title.casefold()


_CARDS = sorted(cards_in(Path(__file__).parent, __name__), key=_place)
ORIGINAL = next(card for card in _CARDS if card.id == "original")
METHODS: tuple[MethodCard, ...] = tuple(card for card in _CARDS if card is not ORIGINAL)
