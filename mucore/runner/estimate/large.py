"""What every method would take on large data and models, by the formulas on its card. Imports no
torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mucore import catalog
from mucore.runner.estimate.memory import Memory, Work, memory_of, work_of
from mucore.spec import make_recipe, make_spec

SETTINGS = (
    ("cifar100", "resnet18"),
    ("tiny-imagenet", "resnet50"),
    ("imagenet", "vit-b-16"),
)


@dataclass(frozen=True)
class Row:
    """One method on one setting: authors' values, the standard recipe, a class is forgotten, or
    5 % of a class where the method does not forget classes.
    """

    method: str
    dataset: str
    model: str
    memory: Memory
    work: Work


def rows() -> Iterator[Row]:
    """All methods on all `SETTINGS`, Retrain first."""
    recipe = make_recipe("standard")
    for card in sorted(catalog.METHODS, key=lambda card: card.id != "retrain"):
        if card.needs_file:
            continue
        scenario = "class_wise" if catalog.serves(card, "class_wise") else "one_class"
        for dataset, model in SETTINGS:
            spec = make_spec(
                dataset=dataset, model=model, recipe=recipe, scenario=scenario, method=card.id
            )
            memory, work = memory_of(spec), work_of(spec)
            assert memory is not None and work is not None, "these data sets are known"
            yield Row(card.id, dataset, model, memory, work)
