"""What a card says that a method takes, against what a run counted."""

from __future__ import annotations

from typing import Any

import toy
from network_figures import of

from mucore import catalog
from mucore.catalog.formulas import evaluate
from mucore.engine.data import UnlearningData
from mucore.engine.run import Cost
from mucore.runner.estimate.memory import weights_of
from mucore.tuning.space import work

# GKT's gate lets few images through.
EARLY = {("gkt", "backward")}
# Methods with a stop rule or a solver that ends when it is done: cards say the least.
LEAST = {"contrastive", "duck", "l2ul", "ntk", "pgu", "scar", "second_order"}
# How long AMUN's attack takes is up to the network, RUM counts as if no third were retained for
# another's sake, and SISA's slices are rounded. To count more would change what studies draw.
BY_GUESS = {"amun", "rum", "sisa"}


def values(method: str, name: toy.Name, data: UnlearningData) -> dict[str, Any]:
    """What the formulas of a card may name."""
    shape = data.forget.images.shape
    retain, forget = len(data.retain), len(data.forget)
    found = {
        "weights": weights_of(of(toy.original(name), shape), data.classes),
        "classes": data.classes,
        "leaving": len(data.leaving),
        "train": retain + forget,
        "forget": forget,
        "retain": retain,
        "validation": len(data.validation),
        "recipe_epochs": data.recipe.epochs,
    }
    return found | toy.parameters(method)


def check(method: str, name: toy.Name, data: UnlearningData, cost: Cost) -> None:
    """Samples passed are what the card says, but for a factor of two."""
    footprint, known = catalog.method(method).footprint, values(method, name, data)
    for way in ("forward", "backward") if method not in LEAST else ():
        said, counted = evaluate(getattr(footprint, way), known), passed(cost, way)
        assert said <= 2 * counted or (method, way) in EARLY, (way, said, counted)
        assert counted <= 2 * said, (way, said, counted)
    check_reads(method, cost, known)


def check_reads(method: str, cost: Cost, known: dict[str, Any]) -> None:
    """A search draws by these formulas, so no run may read more, nor less where they are the
    least.
    """
    footprint, rounding = catalog.method(method).footprint, 1 + 1e-9
    read = work(passed(cost, "forward"), passed(cost, "backward"))
    said = work(*(evaluate(text, known) for text in (footprint.forward, footprint.backward)))
    if method in LEAST:
        assert said <= read * rounding, (read, said)
    else:
        assert read <= said * rounding or method in BY_GUESS, (read, said)


def passed(cost: Cost, way: str) -> int:
    return sum(n for role, n in cost.reads.items() if role.endswith(f"/{way}"))
