"""Sentences from results. Each is worded by the numbers, so that it holds whichever way they fall;
a missing number gives no sentence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from dashboard.lessons.results import LessonResults
from dashboard.text import labels, units

SAME = 0.01  # one point: nearer than that, two shares are called the same
FAR = 0.05


def percent(value: float | None) -> str:
    """ "97.5 %", or "–"."""
    text = labels.number(value, "percent")
    return text if text == labels.MISSING else f"{text} %"


def points(gap: float) -> str:
    """A distance: "3.5 points"."""
    text = labels.number(abs(gap), "percent")
    return f"{text} point" if text == "1.0" else f"{text} points"


def chance(results: LessonResults) -> float:
    """How far a share of the forgotten images moves by chance: twice its standard error, at most
    one over the root of their number.
    """
    return 1 / math.sqrt(max(1, min((one.forget_count for one in results.entries), default=1)))


def beside(gap: float) -> str:
    """Where a value lies: "the same as", "3.5 points below" ... Retrain."""
    return "the same as" if abs(gap) < SAME else f"{points(gap)} {'above' if gap > 0 else 'below'}"


def nearest(
    results: LessonResults, metrics: Sequence[str], methods: Sequence[str], scenario: str = ""
) -> frozenset[str]:
    """The methods with the smallest mean distance to Retrain over the metrics; those that tie to a
    tenth of a point are all named.
    """
    return _extreme(results, metrics, methods, scenario, farthest=False)


def farthest(
    results: LessonResults, metrics: Sequence[str], methods: Sequence[str], scenario: str = ""
) -> frozenset[str]:
    return _extreme(results, metrics, methods, scenario, farthest=True)


def distance(
    results: LessonResults, metrics: Sequence[str], method: str, scenario: str = ""
) -> float | None:
    """Mean distance to Retrain over the metrics; None where one of them is missing."""
    gaps = [results.gap(method, metric, scenario) for metric in metrics]
    known = [abs(gap) for gap in gaps if gap is not None]
    return sum(known) / len(known) if known and len(known) == len(gaps) else None


def _extreme(
    results: LessonResults,
    metrics: Sequence[str],
    methods: Sequence[str],
    scenario: str,
    *,
    farthest: bool,
) -> frozenset[str]:
    found = {
        name: value
        for name in methods
        if (value := distance(results, metrics, name, scenario)) is not None
    }
    if not found:
        return frozenset()
    best = max(found.values()) if farthest else min(found.values())
    return frozenset(name for name, value in found.items() if abs(value - best) < 0.0005)


def titles(
    results: LessonResults, methods: Sequence[str] | frozenset[str], scenario: str = ""
) -> str:
    """Titles of methods, in the order of the results."""
    return units.joined([one.title for one in results.methods(scenario) if one.method in methods])


def yardstick(metric: str, verb: str, scenario: str = "") -> Callable[[LessonResults], list[str]]:
    """A finding: what Retrain and the original reach on one metric; `verb` as in "names {…} of the
    forgotten images right".
    """

    def sentences(results: LessonResults) -> list[str]:
        retrain, original = (
            results.value("retrain", metric, scenario),
            results.value("original", metric, scenario),
        )
        if retrain is None or original is None:
            return []
        gap = original - retrain
        compared = (
            "no difference to speak of"
            if abs(gap) < SAME
            else f"{points(gap)} {'more' if gap > 0 else 'less'}"
        )
        return [
            (
                f"Retrain {verb.format(percent(retrain))}; the original "
                f"{verb.format(percent(original))}: {compared}."
            )
        ]

    return sentences
