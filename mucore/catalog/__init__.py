"""The index of everything: frozen cards of methods, metrics, scenarios, data sets, models and
presets.

`methods()`, `metrics()`, ... give tuples in display order; `method(id)`, `metric(id)`, ... look one
up and raise `UnknownName` with the nearest names. A user's own methods (mucore/catalog/plugins.py)
stand at the end of `methods()`. Nothing here imports torch.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from mucore.catalog.cards import (
    DatasetCard,
    Footprint,
    MethodCard,
    MetricCard,
    ModelCard,
    Parameter,
    PresetCard,
    ScenarioCard,
    TermCard,
)
from mucore.catalog.data import DATASETS, IDEAS, MODELS, PRESETS, TERMS, VERDICTS
from mucore.catalog.methods import FAMILIES, METHODS, ORIGINAL
from mucore.catalog.metrics import METRICS
from mucore.catalog.scenarios import SCENARIOS
from mucore.errors import BadFile, UnknownName

HIDDEN_CLASS = Path(__file__).with_name("hidden_class.json")  # from docs/records/hidden-class.md


def _find(kind: str, cards, name: str):
    for card in cards:
        if card.id == name or name in getattr(card, "aliases", ()):
            return card
    raise UnknownName(kind, name, [card.id for card in cards])


def methods() -> tuple[MethodCard, ...]:
    from mucore.catalog import plugins  # plugins check their cards against this catalogue

    own = tuple(plugin.card for plugin in plugins.found().plugins)
    return METHODS + own if own else METHODS


def all_methods() -> tuple[MethodCard, ...]:
    """What "all" means where methods are asked for: those that need no file and do not cheat."""
    return tuple(card for card in methods() if not card.needs_file and not card.cheats)


def method(name: str) -> MethodCard:
    """The card of an unlearning method, or of the reference row `original`. Raises `BadFile` for a
    method file that cannot be read.
    """
    for card in (ORIGINAL, *METHODS):
        if card.id == name or name in card.aliases:
            return card
    from mucore.catalog import plugins

    for problem in plugins.found().problems:
        if problem.path.stem == name:
            raise BadFile(problem.text)
    return _find("method", methods(), name)


def plugin_problems() -> tuple[str, ...]:
    """A sentence for each of a user's own method files that is left out, and why."""
    from mucore.catalog import plugins

    return tuple(problem.text for problem in plugins.found().problems)


def metrics() -> tuple[MetricCard, ...]:
    return METRICS


def metric(name: str) -> MetricCard:
    return _find("metric", METRICS, name)


def withheld(samples: Mapping[str, int]) -> dict[str, str]:
    """By metric, why numbers are not told that were measured on so many samples of each split."""
    needy = [card for card in METRICS if card.least and card.least[0] in samples]
    return {c.id: few for c in needy if c.least and (few := c.withheld(samples[c.least[0]]))}


@cache
def blind_to_a_hidden_class() -> frozenset[str]:
    """The metrics that could not tell Head distillation from Retrain
    (docs/records/hidden-class.md).
    """
    return frozenset(json.loads(HIDDEN_CLASS.read_text(encoding="utf-8")))


def scenarios() -> tuple[ScenarioCard, ...]:
    return SCENARIOS


def scenario(name: str) -> ScenarioCard:
    return _find("scenario", SCENARIOS, name)


def serves(card: MethodCard | MetricCard, name: str) -> bool:
    """Whether a method or metric goes with a scenario. One that names `class_wise` goes with every
    scenario in which whole classes go.
    """
    allowed = card.scenarios
    return (
        allowed is None
        or name in allowed
        or ("class_wise" in allowed and scenario(name).class_wise)
    )


def datasets() -> tuple[DatasetCard, ...]:
    return DATASETS


def dataset(name: str) -> DatasetCard:
    """The card of `name`; a user's own data is named `npz:PATH` or `folder:PATH` and gets the card
    of its kind.
    """
    return _find("data set", DATASETS, name.partition(":")[0])


def models() -> tuple[ModelCard, ...]:
    return MODELS


def model(name: str) -> ModelCard:
    """The card of `name`; `own:NAME` is a network that its user judged, of which mucore knows no
    more.
    """
    kind, _, title = name.partition(":")
    if kind == "own" and title:
        return ModelCard(
            id=name,
            title=title,
            source="A network of the user",
            parameters_note="",
            macs=0.0,
            min_image_size=1,
        )
    return _find("model", MODELS, name)


def presets() -> tuple[PresetCard, ...]:
    return PRESETS


def preset(name: str) -> PresetCard:
    return _find("preset", PRESETS, name)


def terms() -> tuple[TermCard, ...]:
    return TERMS


def ideas() -> tuple[TermCard, ...]:
    """What a reader has to have heard of to read the pages."""
    return IDEAS


def verdicts() -> tuple[TermCard, ...]:
    """The words of `mucore.verdicts` (spaces are underscores in ids), then what stands beside
    them.
    """
    return VERDICTS


def term(name: str) -> TermCard:
    return _find("term", TERMS, name)
