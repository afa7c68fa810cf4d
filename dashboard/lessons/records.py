"""What a lesson is made of: steps with text, a prediction to make first, figures, and sentences
computed from the results.

Plain data and plain functions. A prediction's answer comes from the results, never from this
package: where they do not give it, there is no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from dashboard.lessons.results import KNN, LessonResults

Finding = Callable[[LessonResults], list[str]]  # sentences about the results, as they are


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number that the reader predicts, in percent; `answer` gives a fraction, None where it was
    not measured.
    """

    question: str
    of: str  # what is asked for, to open the verdict: "Retrain's forget accuracy"
    answer: Callable[[LessonResults], float | None]
    near: float = 10.0  # points within which a prediction counts as close


@dataclass(frozen=True, kw_only=True)
class Pick:
    """One of several answers by id; `answer` gives those that are right, of which there are several
    where methods tie.
    """

    question: str
    options: Mapping[str, str]
    answer: Callable[[LessonResults], frozenset[str]]


Guess = Estimate | Pick


@dataclass(frozen=True)
class Verdict:
    """A prediction beside what the runs say; `right` is None where they do not say it."""

    right: bool | None
    text: str


def compare(guess: Guess, given: float | str, results: LessonResults) -> Verdict:
    """`given` is in percent for an estimate, an option's id for a pick."""
    if isinstance(guess, Estimate):
        found = guess.answer(results)
        if found is None:
            return Verdict(
                None, f"You said {given:.0f} %. {guess.of} was not measured in these runs."
            )
        truth, off = 100 * found, abs(100 * found - float(given))
        right = off <= guess.near
        judged = (
            "close"
            if right
            else f"{off:.0f} points {'too high' if float(given) > truth else 'too low'}"
        )
        return Verdict(
            right, f"You said {given:.0f} %: {judged}. {guess.of} is {truth:.1f} % in these runs."
        )
    answers = guess.answer(results) & set(guess.options)
    said = f"You said {guess.options[str(given)]}"
    if not answers:
        return Verdict(None, f"{said}. These runs do not say.")
    named = " and ".join(guess.options[each] for each in guess.options if each in answers)
    return Verdict(
        given in answers,
        f"{said}: right." if answers == {given} else f"{said}. In these runs it is {named}.",
    )


@dataclass(frozen=True, kw_only=True)
class Bars:
    """One panel a metric, one bar a model."""

    metrics: tuple[str, ...]
    methods: tuple[str, ...] = ()  # empty: all; the references are always there
    scenario: str = ""


@dataclass(frozen=True, kw_only=True)
class Neighbours:
    """Bars of the metrics and, last, of how often the nearest training samples say the forgotten
    class (`results.KNN`).
    """

    metrics: tuple[str, ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        return (*self.metrics, KNN)


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Original and Retrain, and maybe methods, on one metric, a line a scenario."""

    metric: str
    scenarios: tuple[str, ...]
    methods: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Scatter:
    """CKA to the original against CKA to Retrain on one split."""

    split: Literal["forget", "retain", "test"] = "forget"


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """Images with what models say of them: the first ones of the triggered test set, or of the
    forget set of a scenario.
    """

    split: Literal["forget", "triggered"]
    scenario: str
    methods: tuple[str, ...] = ("original", "retrain")


@dataclass(frozen=True, kw_only=True)
class Played:
    """A scene of the playground, by its preset, which the reader plays on the spot; the preset
    stands for the scenario of its numbers.
    """

    preset: str


Figure = Bars | Neighbours | Pairs | Scatter | Pictures | Played


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question of "Check yourself": options in order, the right one's place, and why."""

    text: str
    options: tuple[str, ...]
    right: int
    why: str


@dataclass(frozen=True, kw_only=True)
class Step:
    """One screen. `words` are (word, plain sentence) and `terms` (kind, id) of the cards that it
    uses for the first time.
    """

    title: str
    text: str
    words: tuple[tuple[str, str], ...] = ()
    terms: tuple[tuple[Literal["metric", "scenario", "method"], str], ...] = ()
    # images that change under the text, with what a model says of them
    moving: Pictures | None = None
    guess: Guess | None = None
    figures: tuple[Figure, ...] = ()
    look: str = ""  # what to look for in the figure
    findings: Finding | None = None
    # whether the verdicts on the methods that it shows stand below the findings
    judged: bool = False
    after: str = ""  # what to make of it; holds whatever the numbers are
    notes: str = ""  # for who presents it: what to say first, what a room gets wrong


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One story. `grid` is what a comparison is launched with; empty where all is played."""

    id: str
    title: str
    question: str
    minutes: int
    grid: Mapping[str, Any]
    steps: tuple[Step, ...]
    check: tuple[Question, ...]
    deeper: tuple[tuple[str, str, Mapping[str, str]], ...]  # page id, label, URL parameters
    takeaway: str

    @property
    def length(self) -> int:
        """Number of steps with "Check yourself" at the end."""
        return len(self.steps) + 1

    def absent(self, results: LessonResults) -> tuple[str, ...]:
        """The methods of the story that have no run among the results, which the demo need not have
        all of.
        """
        there = {entry.method for entry in results.entries}
        return tuple(
            choice["id"] for choice in self.grid.get("methods", ()) if choice["id"] not in there
        )

    @property
    def presets(self) -> tuple[str, ...]:
        """The scenes of the playground that are played in it."""
        return tuple(
            figure.preset
            for step in self.steps
            for figure in step.figures
            if isinstance(figure, Played)
        )


def offered(guess: Guess, absent: Collection[str]) -> Guess:
    """The guess without options that are methods which did not run."""
    if isinstance(guess, Estimate):
        return guess
    return replace(
        guess, options={name: title for name, title in guess.options.items() if name not in absent}
    )


def draws(step: Step, method: str) -> bool:
    """Whether a figure of the step would show that method."""
    return any(
        isinstance(figure, Neighbours | Scatter)
        or (isinstance(figure, Bars) and not figure.methods)
        or method in getattr(figure, "methods", ())
        for figure in step.figures
    )


def metrics_of(step: Step) -> tuple[str, ...]:
    """The metrics that the step's figures show."""
    named: dict[str, None] = {}
    for figure in step.figures:
        if isinstance(figure, Bars | Neighbours):
            named |= dict.fromkeys(figure.metrics)
        elif isinstance(figure, Pairs):
            named[figure.metric] = None
        elif isinstance(figure, Played):
            named["fa"] = None
        elif isinstance(figure, Scatter):
            named |= dict.fromkeys((f"cka_original_{figure.split}", f"cka_retrain_{figure.split}"))
    return tuple(named)


def of_features(step: Step) -> bool:
    """Whether the step's figures need features that were kept with the runs."""
    return any(isinstance(figure, Neighbours) for figure in step.figures)


def numbers_of(step: Step) -> tuple[str, ...]:
    """What the step's figures show: metrics and `results.KNN`."""
    return (*metrics_of(step), *([KNN] if of_features(step) else []))


def shows(step: Step, results: LessonResults) -> bool:
    """Whether the references have every number that the step's figures need."""
    scenarios = {name for figure in step.figures for name in _scenarios(figure, results)}
    return all(
        results.value(method, metric, scenario) is not None
        for metric in numbers_of(step)
        for scenario in scenarios
        for method in ("original", "retrain")
    )


def _scenarios(figure: Figure, results: LessonResults) -> Sequence[str]:
    if isinstance(figure, Pairs):
        return figure.scenarios
    if isinstance(figure, Played):
        return (figure.preset,)
    named = figure.scenario if isinstance(figure, Bars | Pictures) else ""
    return (named or results.scenario,)
