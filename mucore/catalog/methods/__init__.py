"""The roster of unlearning methods, one file a family.

Default values are the authors' (preset `authors`), as far as their paper or official code states
them; `help` says where it does not. The preset `tuned` is what scripts/tune.py found
(mucore/catalog/tuning.py). A card's `revision` is part of the cache key: raise it whenever the
function behind it can give another result.
"""

from __future__ import annotations

from dataclasses import replace

from mucore.catalog import tuning
from mucore.catalog.cards import MethodCard
from mucore.catalog.methods import (
    competition,
    exact,
    features,
    gradient_ascent,
    influence,
    reference,
    relabelling,
    sparsity,
    teacher,
    yours,
)
from mucore.catalog.methods.reference import ORIGINAL

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

_CARDS: tuple[MethodCard, ...] = (
    *reference.CARDS,
    *exact.CARDS,
    *gradient_ascent.CARDS,
    *influence.CARDS,
    *teacher.CARDS,
    *relabelling.CARDS,
    *sparsity.CARDS,
    *features.CARDS,
    *competition.CARDS,
    *yours.CARDS,
)

_TUNED = tuning.found()
METHODS: tuple[MethodCard, ...] = tuple(
    replace(card, tuned=_TUNED.get(card.id, card.tuned)) for card in _CARDS
)
