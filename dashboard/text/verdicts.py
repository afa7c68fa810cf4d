"""Verdicts in words and icons, for every page. No Streamlit here; `verdict_line` draws one.

An icon never stands without its word, and no colour tells a verdict. A question mark after the word
says that it is an indication: the seeds do not show it yet. Which word a line gets is decided in
`mucore/verdicts/rules.py`, what it means stands in `mucore/catalog/verdicts.toml`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

import pandas as pd

from dashboard.text.labels import MISSING, number
from dashboard.text.units import count
from mucore.verdicts import NAMES, Check, Verdict, Word, rules

# What is counted and coloured: the words, and of those that forgot apart what only the outputs did;
# with names of Material Symbols, which Streamlit brings along.
FATES: Final[Mapping[str, str]] = {
    "forgot": "check_circle",
    "outputs only": "layers",
    "too little": "remove_circle",
    "too much": "add_circle",
    "did nothing": "circle",
    "damaged": "cancel",
    "nothing to forget": "block",
    "cannot tell": "help",
}
# these are counted also where there are none, for a reader looks for them
ALWAYS: Final = ("forgot", "outputs only", "too little", "did nothing", "damaged")


def fate(verdict: Verdict | None) -> str:
    """The key of `FATES` of a verdict."""
    if verdict is None:
        return "cannot tell"
    return "outputs only" if verdict.word == "forgot" and verdict.on_outputs else verdict.word


@dataclass(frozen=True)
class Part:
    """One part of the bar: how many have a fate, and how many of them by indication alone."""

    fate: str
    count: int
    indicated: int


def parts(rows: Sequence[Line]) -> list[Part]:
    """How many of the methods among `rows` have which fate, in the order of `FATES`; without a
    baseline that cheats. Those that no row has are left out, unless a reader looks for them.
    """
    judged = [
        row.verdict
        for row in rows
        if not row.reference and row.verdict is not None and not row.verdict.cheats
    ]
    counts = Counter(map(fate, judged))
    unsure = Counter(fate(each) for each in judged if each.provisional)
    return [
        Part(name, counts[name], unsure[name])
        for name in FATES
        if judged and (counts[name] or name in ALWAYS)
    ]


class Line(Protocol):
    """What sentences about verdicts ask of a line of a table (`frames.Row`)."""

    @property
    def id(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def reference(self) -> bool: ...
    @property
    def unsound(self) -> Mapping[str, int]: ...
    @property
    def verdict(self) -> Verdict | None: ...
    @property
    def away(self) -> float | None: ...


L = TypeVar("L", bound=Line)

# the two ways not to forget
SHORT: Final[tuple[Word, ...]] = ("did nothing", "too little")


def text(verdict: Verdict) -> str:
    """The word, with a question mark where it is an indication. Of a baseline that cheats it says
    that, too.
    """
    doubt = "?" if verdict.provisional else ""
    return f"{verdict.said}{doubt}{' (cheats)' if verdict.cheats else ''}"


def label(verdict: Verdict) -> str:
    """Icon and word as Streamlit's Markdown."""
    return f":material/{FATES[fate(verdict)]}: {text(verdict)}"


def qualified(rows: Sequence[L]) -> list[L]:
    """The methods that forgot, shown or by indication, and whose runs all ended well."""
    return [
        row
        for row in rows
        if not row.reference
        and not row.unsound
        and row.verdict is not None
        and row.verdict.qualified
    ]


def leading(rows: Sequence[L]) -> list[L]:
    """The rows that compete for nearest, best and cheapest."""
    return rules.leading(qualified(rows))


def nearest(rows: Sequence[L]) -> list[L]:
    """The rows that compete and have a distance to Retrain, the nearest first."""
    return rules.nearest(qualified(rows), lambda row: row.away)


def why_none(rows: Sequence[Line]) -> str:
    """Why no row of `rows` qualifies, in a sentence: the reason that most of the undecided ones
    share, or what went wrong instead.
    """
    judged = [row.verdict for row in rows if not row.reference and row.verdict is not None]
    if not judged:
        return "There is no method to judge here."
    open_ends = [each for each in judged if each.word in ("nothing to forget", "cannot tell")]
    if 2 * len(open_ends) < len(judged):
        return "No method forgot, kept its accuracy and finished cleanly."
    return Counter(each.sentence for each in open_ends).most_common(1)[0][0]


def checks_frame(verdict: Verdict) -> pd.DataFrame:
    """The forgetting metrics that the rule looked at, a line each, as text."""
    return pd.DataFrame([_check_line(each) for each in verdict.checks])


def checks_text(verdict: Verdict) -> str:
    """The same for a tooltip: a line a metric, and on how many seeds the intervals rest."""
    lines = []
    for each in verdict.checks:
        metric, *_, progress, away, margin = _check_line(each).values()
        away = f"progress {progress}, from Retrain {away}, margin {margin}"
        none = "" if each.resolvable else " (nothing to forget in it)"
        lines.append(f"{metric}: {away}{none}")
    return "\n".join([*lines, seeds_text(verdict)] if lines else [])


def seeds_text(verdict: Verdict) -> str:
    """What the intervals rest on."""
    source = "the number of samples"
    if verdict.seeds >= rules.FEWEST:
        source = f"{count(verdict.seeds, 'seed')} of this method"
    elif verdict.retrains >= rules.FEWEST:
        source = f"the spread of {count(verdict.retrains, 'Retrain')}"
    return f"In percentage points; 90 % intervals from {source}."


def _check_line(check: Check) -> dict[str, str]:
    name = NAMES[check.metric]
    return {
        "Metric": name[0].upper() + name[1:],
        "Original": f"{number(check.original, 'percent')} %",
        "Here": f"{number(check.value, 'percent')} %",
        "Retrain": f"{number(check.retrain, 'percent')} %",
        "Progress": MISSING if check.progress is None else number(check.progress, "ratio"),
        "From Retrain": (
            f"{number(check.value - check.retrain, 'percent', signed=True)} ± "
            f"{number(check.gap.half, 'percent')}"
        ),
        "Margin": number(check.margin, "percent"),
    }
