"""What a lesson's text says of results. A value is `metric.method` or `metric.method@scenario`, a
number, or the difference of two; between bars, and wherever it is printed, it is a distance.

`answer` as a method is the first right one of the step's guess, `least` the one with the smallest
value; `distance` as a metric is the mean distance to Retrain in the metrics of the guess.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.lessons.records import Guess, Step
from dashboard.lessons.results import LessonResults
from dashboard.text import labels, units
from mucore.metrics.sanity import GUESS

VALUE = re.compile(r"\|?(?P<metric>[a-z]\w*)\.(?P<method>\w+)(?:@(?P<scenario>\w+))?")
SLOT = re.compile(r"\{(.+?)\}")
CONDITION = re.compile(r"\[(.+?)\] ")
COMPARED = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
DIGITS = 9  # of a fraction, that two sums of the same shares are equal
TIE = 0.0005


@dataclass(frozen=True)
class Reading:
    """A step's text beside these results."""

    results: LessonResults
    guess: Guess | None = None

    def sentences(self, step: Step) -> list[str]:
        """Those of `step.found` whose values are there and whose conditions hold."""
        return [said for each in step.found if (said := self.filled(each)) is not None]

    def filled(self, sentence: str) -> str | None:
        condition = CONDITION.match(sentence)
        if condition is not None:
            if not self.holds(condition[1]):
                return None
            sentence = sentence[condition.end() :]
        values = [self.shown(slot) for slot in SLOT.findall(sentence)]
        return None if None in values else SLOT.sub("{}", sentence).format(*values)

    def shown(self, text: str) -> str | None:
        """ "97.5 %", "3.5 points", "0.22" for CKA, titles for `answer`; "–" where an attack only
        guesses, None where a value is missing.
        """
        if text == "answer":
            right = self.right()
            named = [title for name, title in self._options().items() if name in right]
            return units.joined(named) if named else None
        if any(self._guessed(*found) for found in VALUE.findall(text)):
            return labels.MISSING
        value = self._printed(text) if " - " in text else self.number(text)
        if value is None:
            return None
        if text.startswith("cka"):
            return f"{value:.2f}"
        unit = "points" if " - " in text or text.startswith("distance") else "%"
        return f"{labels.number(value, 'percent')} {unit}"

    def _printed(self, difference: str) -> float | None:
        """The difference of two shares as they are printed, which a reader may subtract."""
        parts = [self.number(part) for part in difference.strip("|").split(" - ")]
        first, second = (None if part is None else round(part, 3) for part in parts)
        return None if first is None or second is None else abs(first - second)

    def holds(self, condition: str) -> bool:
        """Comparisons joined by "and"; False where a value is missing."""
        for each in condition.split(" and "):
            left, sign, right = re.split(r" ([<>]=?) ", each)
            first, second = self.number(left), self.number(right)
            if first is None or second is None:
                return False
            if not COMPARED[sign](round(first, DIGITS), round(second, DIGITS)):
                return False
        return True

    def number(self, text: str) -> float | None:
        """A fraction; None where one that it needs was not measured."""
        if text.startswith("|"):
            found = self.number(text.strip("|"))
            return None if found is None else abs(found)
        if " - " in text:
            first, second = map(self.number, text.split(" - "))
            return None if first is None or second is None else first - second
        named = VALUE.fullmatch(text)
        return float(text) if named is None else self._value(**named.groupdict(default=""))

    def right(self) -> frozenset[str]:
        """The options that the results call right, several where methods tie."""
        guess = self.guess
        if guess is None or not guess.options:
            return frozenset()
        if guess.right:
            return frozenset(name for name in guess.options if self.holds(guess.right[name]))
        which, *metrics = guess.answer.split()
        lowest = which == "lowest"
        known = {
            name: value
            for name in guess.options
            if (value := self._value(metrics[0], name) if lowest else self._distance(metrics, name))
            is not None
        }
        best = (max if which == "farthest" else min)(known.values(), default=0.0)
        return frozenset(name for name, value in known.items() if abs(value - best) < TIE)

    def _value(self, metric: str, method: str, scenario: str = "") -> float | None:
        if method == "answer":
            right = self.right()
            method = next((name for name in self._options() if name in right), "")
        if method == "least":
            every = [one.values.get(metric) for one in self.results.methods(scenario)]
            return min((value for value in every if value is not None), default=None)
        if metric == "distance" and self.guess is not None:
            return self._distance(self.guess.answer.split()[1:], method)
        return self.results.value(method, metric, scenario)

    def _distance(self, metrics: Sequence[str], method: str) -> float | None:
        gaps = [self.results.gap(method, metric) for metric in metrics]
        known = [abs(gap) for gap in gaps if gap is not None]
        return sum(known) / len(known) if known and len(known) == len(gaps) else None

    def _options(self) -> dict[str, str]:
        return dict(self.guess.options) if self.guess is not None else {}

    def _guessed(self, metric: str, method: str, scenario: str) -> bool:
        entry = self.results.entry(method, scenario)
        return entry is not None and entry.reasons.get(metric) == GUESS


@dataclass(frozen=True)
class Verdict:
    """A prediction beside what the runs say; `right` is None where they do not say it."""

    right: bool | None
    text: str


def compare(guess: Guess, given: float | str, results: LessonResults) -> Verdict:
    """`given` is in percent for a number, an option's id otherwise."""
    reading, said = Reading(results, guess), f"You said {title(guess, given)}"
    found = reading.shown("answer" if guess.options else guess.answer)
    if found is None or found == labels.MISSING:
        return Verdict(None, f"{said}. These runs do not say.")
    if guess.options:
        right = reading.right()
        if right == {given}:
            return Verdict(True, f"{said}: right.")
        return Verdict(given in right, f"{said}. In these runs: {found}.")
    off = abs(100 * (reading.number(guess.answer) or 0.0) - float(given))
    return Verdict(round(off, 6) <= guess.near, f"{said}. In these runs: {found}.")


def title(guess: Guess, given: float | str) -> str:
    return f"“{guess.options[str(given)]}”" if guess.options else f"{given:.0f} %"


def choices(guess: Guess, results: LessonResults) -> frozenset[str]:
    """What a vote may have said and be right, a number to the nearest percent; none where the runs
    do not say.
    """
    reading = Reading(results, guess)
    if guess.options:
        return reading.right()
    value = reading.number(guess.answer)
    return frozenset() if value is None else frozenset({str(round(100 * value))})
