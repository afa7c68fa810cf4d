"""What a lesson is made of, as `reader` takes it from a Markdown file. What a text says of results
(values in braces, conditions, answers) is a short expression, which `values` evaluates.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from dashboard.lessons.results import KNN, LessonResults
from mucore.runs import REFERENCES


@dataclass(frozen=True, kw_only=True)
class Guess:
    """What the reader predicts: a number in percent, or one of `options` (titles by id).

    `answer` is the value, or "nearest", "farthest" or "lowest" and metrics, which choose among
    methods; `right` has a condition for each option instead.
    """

    ask: str
    answer: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    right: Mapping[str, str] = field(default_factory=dict)
    near: float = 10.0  # points within which a number counts as right


@dataclass(frozen=True, kw_only=True)
class Figure:
    """Dots: a row a model, a panel a metric or a scenario. Scatter: two metrics against each other.
    Pictures: the first images of a split and what models say of them. Scene: a preset of the
    playground, in place of the scenario.
    """

    kind: Literal["dots", "scatter", "pictures", "scene"]
    metrics: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    split: str = ""  # "forget" or "triggered"


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question of "Check yourself": options in order, the right one's place, and why."""

    text: str
    options: tuple[str, ...]
    right: int
    why: str

    @property
    def places(self) -> range:
        return range(len(self.options))


@dataclass(frozen=True, kw_only=True)
class Step:
    """One screen: guess, see, say. `terms` are (kind, id) of the cards that it uses for the first
    time.
    """

    title: str
    text: str
    terms: tuple[tuple[str, str], ...] = ()
    words: str = ""
    moving: Figure | None = None  # images that change under the text
    guess: Guess | None = None
    figures: tuple[Figure, ...] = ()
    judged: bool = False  # whether it tells the verdicts on its methods
    see: str = ""
    found: tuple[str, ...] = ()  # sentences about the results, with values in braces
    say: str = ""  # holds whatever the numbers are
    notes: str = ""  # for who presents it

    @property
    def numbers(self) -> tuple[str, ...]:
        """What the figures show: metrics and `results.KNN`."""
        return tuple(dict.fromkeys(name for figure in self.figures for name in figure.metrics))

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(name for name in self.numbers if name != KNN)

    @property
    def scenarios(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for figure in self.figures for name in figure.scenarios))

    @property
    def methods(self) -> frozenset[str]:
        return frozenset(name for figure in self.figures for name in figure.methods)

    def shown(self, results: LessonResults) -> bool:
        """Whether the references have every number that the figures need."""
        return all(
            results.value(method, metric, scenario) is not None
            for metric in self.numbers
            for scenario in self.scenarios
            for method in REFERENCES
        )


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """One story. `grid` is what a comparison is launched with; empty where all is played."""

    id: str
    title: str
    question: str
    minutes: int
    steps: tuple[Step, ...]
    check: tuple[Question, ...]
    takeaway: str
    deeper: tuple[Mapping[str, str], ...]  # page, label, and the rest of the address
    grid: Mapping[str, Any] = field(default_factory=dict)

    @property
    def length(self) -> int:
        """Number of steps with "Check yourself" at the end."""
        return len(self.steps) + 1

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(choice["id"] for choice in self.grid.get("methods", ()))

    @property
    def features(self) -> bool:
        """Whether it needs features that were kept with the runs."""
        return any(KNN in step.numbers for step in self.steps)

    def absent(self, results: LessonResults) -> tuple[str, ...]:
        """The methods without a run among the results: the demo need not have all."""
        there = {entry.method for entry in results.entries}
        return tuple(name for name in self.methods if name not in there)


def offered(guess: Guess, absent: Collection[str]) -> Guess:
    """The guess without options that are methods which did not run."""
    left = {name: title for name, title in guess.options.items() if name not in absent}
    return replace(guess, options=left)
