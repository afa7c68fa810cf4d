"""The catalogue's cards as tables and glossary entries. No Streamlit, no plotly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pandas as pd

from dashboard.text.labels import MISSING, changes_text, setting_text
from mucore import catalog
from mucore.catalog import MethodCard, tuning
from mucore.catalog.cards import Parameter, TermCard
from mucore.catalog.data import synonyms
from mucore.catalog.tuning import Tuned
from mucore.runs import FIRST, Recipe, scaled_epochs, stated


def parameters_frame(card: MethodCard, recipe: Recipe) -> pd.DataFrame:
    """A method's settings: the authors' values, those values on `recipe` (epochs shrink), tuned
    ones by the task that they were found for, range and help.
    """
    made = []
    tuned: dict[str, Mapping[str, Any]] = {}
    for each in tuning.settings(card.id):
        tuned.setdefault(_heading(each), each.values)  # of two for one task the one that runs take
    here = {
        parameter.name: scaled_epochs(parameter, card, recipe) for parameter in card.parameters
    } | stated(card, recipe)
    for parameter in card.parameters:
        low, high = parameter.low, parameter.high
        span = ", ".join(parameter.choices) or (
            f"{low:g} to {high:g}" if low is not None and high is not None else ""
        )
        made.append(
            {
                "Setting": parameter.name,
                "Authors": setting_text(parameter.name, parameter.default),
                "On this recipe": setting_text(parameter.name, here[parameter.name]),
                **{
                    heading: setting_text(parameter.name, values[parameter.name])
                    if parameter.name in values
                    else MISSING
                    for heading, values in tuned.items()
                },
                "Range": span,
                "Meaning": f"{parameter.help} Unit: {parameter.unit}."
                if parameter.unit
                else parameter.help,
            }
        )
    return pd.DataFrame(
        made, columns=["Setting", "Authors", "On this recipe", *tuned, "Range", "Meaning"]
    )


def _heading(tuned: Tuned) -> str:
    """ "Tuned: Part of one class"; with what of its task is not as usual."""
    where = (tuned.dataset, tuned.model)
    words = [
        *(() if where == (FIRST.dataset, FIRST.model) else where),
        "" if tuned.preset == "standard" else tuned.preset,
        changes_text(tuned),
    ]
    told = ", ".join(filter(None, words))
    return f"Tuned: {catalog.scenario(tuned.scenario).title}" + (f" ({told})" if told else "")


HIDDEN = (
    "a hidden class. Head distillation hides one behind the last layer and passes for Retrain here."
)
_SYNONYMS: Final = synonyms()
Kind = Literal["idea", "verdict", "metric", "scenario", "method", "dataset", "setting"]
_WORDS: Final[tuple[tuple[Kind, tuple[TermCard, ...]], ...]] = (
    ("idea", catalog.ideas()),
    ("verdict", catalog.verdicts()),
)


@dataclass(frozen=True)
class Entry:
    """One glossary entry; `facts` are labelled lines in reading order."""

    kind: Kind
    id: str
    title: str
    meaning: str
    facts: Mapping[str, str]
    synonyms: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join([self.name, self.meaning, *self.facts.values()]).casefold()

    @property
    def name(self) -> str:
        """What it is called: by its id, its title, and other words."""
        return " ".join([self.id, self.title, *self.synonyms]).casefold()


IDEALS = {
    "retrain": "as near to Retrain's as possible",
    "high": "high",
    "low": "low",
    "none": "no value is best in itself",
}
UNITS = {
    "fraction": "shown in % on most pages",
    "ratio": "ratio",
    "log10": "power of ten",
    "seconds": "seconds",
    "bytes": "bytes",
    "count": "count",
    "distance": "distance",
}


def glossary() -> tuple[Entry, ...]:
    """All cards as entries: ideas, verdicts, metrics, scenarios, methods, data sets, settings of a
    run, each in the catalogue's order.
    """
    entries = [
        _entry(kind, word.id, word.title, word.meaning, {"Source:": word.source}, word.synonyms)
        for kind, words in _WORDS
        for word in words
    ]
    blind = catalog.blind_to_a_hidden_class()
    for metric in catalog.metrics():
        scale = (
            f"{IDEALS[metric.ideal]}; range {_range(metric.low, metric.high)}, {UNITS[metric.unit]}"
        )
        facts = {
            "Short:": metric.short if metric.short != metric.title else "",
            "Good:": scale,
            "On the command line:": metric.id,
            "Source:": metric.source,
        }
        entries.append(
            _entry(
                "metric",
                metric.id,
                metric.title,
                metric.meaning,
                facts
                | {"Caveat:": metric.caveat, "Blind to:": HIDDEN if metric.id in blind else ""},
            )
        )
    for scenario in catalog.scenarios():
        facts = {
            "Question:": scenario.question,
            "On the command line:": _typed(scenario.id, scenario.parameters),
            "Source:": scenario.source,
        }
        entries.append(_entry("scenario", scenario.id, scenario.title, scenario.meaning, facts))
    for method in (catalog.method("original"), *catalog.methods()):
        facts = {
            "Family:": catalog.FAMILIES[method.family],
            "Also called:": ", ".join(method.aliases),
        }
        facts |= {"On the command line:": method.id, "Source:": method.source}
        entries.append(
            _entry(
                "method",
                method.id,
                method.title,
                method.summary,
                facts | {"Differs:": method.differs},
            )
        )
    for dataset in catalog.datasets():
        size = (
            ""
            if dataset.sizes is None
            else "{:,} training, {:,} validation, {:,} test images".format(*dataset.sizes)
        )
        facts = {
            "Size:": size,
            "On the command line:": dataset.id,
            "Where:": dataset.where,
            "Licence:": dataset.licence,
        }
        entries.append(_entry("dataset", dataset.id, dataset.title, dataset.source, facts))
    for term in catalog.terms():
        facts = {"On the command line:": term.flag, "Source:": term.source}
        entries.append(_entry("setting", term.id, term.title, term.meaning, facts))
    return tuple(entries)


def _entry(
    kind: Kind,
    name: str,
    title: str,
    meaning: str,
    facts: Mapping[str, str],
    synonyms: tuple[str, ...] = (),
) -> Entry:
    synonyms = synonyms or tuple(_SYNONYMS.get(kind, {}).get(name, ()))
    told = {"People also say:": ", ".join(synonyms), **facts}
    shown = {label: text for label, text in told.items() if text}
    return Entry(kind, name, title, meaning, shown, synonyms)


def _typed(name: str, parameters: Sequence[Parameter]) -> str:
    """What somebody types: "one_class, with class_id, budget, seed"."""
    return (
        f"{name}, with {', '.join(parameter.name for parameter in parameters)}"
        if parameters
        else name
    )


def _range(low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return "any"
    if high is None:
        return f"{low:g} and above"
    return f"{low:g} to {high:g}" if low is not None else f"up to {high:g}"


def search(entries: Sequence[Entry], query: str) -> list[Entry]:
    """Entries that hold every word of `query`: first those that are called so, then those with it
    in the title, the id or another word for them, then the others.
    """
    wanted = query.casefold().split()
    asked = " ".join(wanted)
    found = [entry for entry in entries if all(word in entry.text for word in wanted)]

    def rank(entry: Entry) -> int:
        names = (entry.id, entry.title, *entry.synonyms)
        if asked in (name.casefold() for name in names):
            return 0
        return 1 if all(word in entry.name for word in wanted) else 2

    return sorted(found, key=rank)
