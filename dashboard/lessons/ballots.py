"""The questions of a lesson as a room votes on them: what may be chosen, how votes are counted, and
which choice was right.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dashboard.lessons.records import Lesson

MOST = 100  # percent
WIDTH = 10  # of a bar, in percent
_PERCENT = frozenset(map(str, range(MOST + 1)))


@dataclass(frozen=True)
class Ballot:
    """`name` is what votes are kept under: the step's number, or "check 1" for a question of its
    end. Choices are ids of `options` (titles by id); without any, whole numbers of percent.
    """

    name: str
    options: Mapping[str, str]

    def takes(self, choice: str) -> bool:
        if self.options:
            return choice in self.options
        return choice in _PERCENT

    def title(self, choice: str) -> str:
        return self.options[choice] if self.options else f"{choice} %"


@dataclass(frozen=True)
class Bin:
    """One bar of the votes: what it says, how many chose it, and before the room was asked again
    (None where it was not), whether it was right (None before that is said, and where the runs do
    not say it), and whether the reader chose it.
    """

    title: str
    count: int
    before: int | None = None
    right: bool | None = None
    mine: bool = False


def ballots(lesson: Lesson) -> dict[str, Ballot]:
    """All questions of a lesson by name, in order."""
    found = [
        Ballot(str(number), step.guess.options)
        for number, step in enumerate(lesson.steps, start=1)
        if step.guess is not None
    ]
    found += [of_check(lesson, number) for number in range(1, len(lesson.check) + 1)]
    return {ballot.name: ballot for ballot in found}


def of_check(lesson: Lesson, number: int) -> Ballot:
    """A question of "Check yourself", from 1; its options are named by their place, from 1."""
    options = lesson.check[number - 1].options
    return Ballot(
        f"check {number}", {str(place): text for place, text in enumerate(options, start=1)}
    )


def tally(
    ballot: Ballot,
    votes: Mapping[str, int],
    *,
    first: Mapping[str, int] | None = None,
    answers: Collection[str] | None = None,
    mine: str | None = None,
) -> list[Bin]:
    """The bars of a question: one an option, or one each ten percent. `answers` are the right
    choices, None while they are not shown.
    """
    choices = (
        {title: [name] for name, title in ballot.options.items()}
        if ballot.options
        else {
            f"{low} to {high} %": [str(number) for number in range(low, high + 1)]
            for low, high in _bins()
        }
    )
    return [
        Bin(
            title,
            sum(votes.get(name, 0) for name in names),
            sum(first.get(name, 0) for name in names) if first else None,
            right=any(name in answers for name in names) if answers else None,
            mine=mine in names,
        )
        for title, names in choices.items()
    ]


def _bins() -> list[tuple[int, int]]:
    """The first and the last percent of each bar; the last bar has 100, too."""
    starts = range(0, MOST, WIDTH)
    return [(low, MOST if low + WIDTH == MOST else low + WIDTH - 1) for low in starts]
