"""The roster of unlearning methods, one card a file.

Default values are the authors' (preset `authors`), as far as their paper or official code states
them; `help` says where it does not. The preset `tuned` is what scripts/tune.py found
(mucore/catalog/tuning.py). A card's `revision` is part of the cache key: raise it whenever the
function behind it can give another result.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from mucore.catalog import tuning
from mucore.catalog.cards import MethodCard

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
    "own": "Your own",  # files of mucore/catalog/plugins.py, and weights made elsewhere
}

_NAMES = (
    "original",
    "retrain",
    "sisa",
    "gradient_ascent",
    "neggrad_plus",
    "advanced_neggrad",
    "unrolling",
    "amnesiac",
    "ssd",
    "l_codec",
    "first_order",
    "second_order",
    "fisher",
    "ntk",
    "scrub",
    "scrub_rewind",
    "bad_teacher",
    "delete",
    "lotus",
    "gkt",
    "random_labels",
    "pseudo_labels",
    "boundary_shrink",
    "boundary_expanding",
    "unsir",
    "amun",
    "munba",
    "finetune",
    "salun",
    "l1_sparse",
    "cf_k",
    "eu_k",
    "rum",
    "pgu",
    "sfron",
    "duck",
    "contrastive",
    "scar",
    "fcs",
    "msg",
    "ct",
    "niu",
    "uploaded",
)

_TUNED = tuning.found()


def _card(name: str) -> MethodCard:
    card = import_module(f"{__name__}.{name}").CARD
    return replace(card, tuned=_TUNED.get(card.id, card.tuned))


ORIGINAL, *_METHODS = (_card(name) for name in _NAMES)
METHODS: tuple[MethodCard, ...] = tuple(_METHODS)
