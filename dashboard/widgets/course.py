"""What the page that is being drawn says of itself, for whoever presents it, takes it home or
prepares it: a record of one run of the page, for this reader.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
from streamlit.delta_generator import DeltaGenerator

from dashboard import state
from dashboard.report import Picture, Section, Table

TICKET: Final = "course"
Key = tuple[str, str]  # "figure" or "numbers", and its name on the page


@dataclass
class Course:
    question: str = ""
    caption: str = ""
    demo: bool = False
    answers: list[str] = field(default_factory=list)  # sentences, as shown
    sentence: str = ""  # the answer that stands above the next figure, and a line to it
    detail: str = ""
    # figures and numbers by their keys: a part that is drawn anew by itself brings the same again
    shown: dict[Key, Picture | Table] = field(default_factory=dict)
    instead: Callable[[], Sequence[Section]] | None = None  # of pictures and tables
    steps: Sequence[str] = ()  # that follow each other, and which of them this is
    now: str = ""
    go: Callable[[str], None] | None = None
    # analyses that the page has a place for and that are not there: kind, parameters, pack
    wanted: list[dict[str, Any]] = field(default_factory=list)
    # and the numbers of forgetting quality: of how many models, and the keys of whose runs
    experiments: list[dict[str, Any]] = field(default_factory=list)
    share: DeltaGenerator | None = None  # the place for what a reader can take along

    @property
    def pictures(self) -> list[Picture]:
        """Numbered from 1, in the order of the page."""
        found = [one for one in list(self.shown.values()) if isinstance(one, Picture)]
        return [
            replace(one, name=f"{number}", title=f"Figure {number}")
            for number, one in enumerate(found, start=1)
        ]

    @property
    def tables(self) -> list[Table]:
        return [one for one in list(self.shown.values()) if isinstance(one, Table)]

    @property
    def step(self) -> int:
        """From 1."""
        return 1 + self.steps.index(self.now) if self.now in self.steps else 1


def start() -> None:
    """Called by app.py before anything else of a page."""
    state.set_ticket(TICKET, Course())


def current() -> Course:
    return state.ticket(TICKET) or Course()


def headed(question: str, caption: str, demo: bool) -> None:
    course = current()
    course.question, course.caption, course.demo = question, caption, demo


def say(sentence: str) -> None:
    """An answer of the page, which also stands above the next figure of a talk."""
    above(sentence)
    current().answers.append(sentence)


def note(sentence: str) -> None:
    """What the page says beside its answer, for its file."""
    current().answers.append(sentence)


def above(sentence: str, detail: str = "") -> None:
    """What stands above the next figure of a talk."""
    course = current()
    course.sentence, course.detail = sentence, detail


def steps(names: Sequence[str], now: str, go: Callable[[str], None]) -> None:
    """This page is the step `now` of those that follow each other; `go` makes it another one,
    called before the page is drawn anew.
    """
    course = current()
    course.steps, course.now, course.go = names, now, go


def picture(key: str, figure: go.Figure, alt: str) -> None:
    """The page shows a figure, in the place of the one of that key where it did before."""
    current().shown["figure", key] = Picture(key, "", alt, figure, alt)


def table(key: str, caption: str, frame: pd.DataFrame) -> None:
    """The page shows a table of numbers, in the place of the one of that key."""
    current().shown["numbers", key] = Table(caption, frame)


@contextmanager
def part(mine: set[Key]) -> Generator[None]:
    """A part of the page that is drawn anew by itself: of `mine`, which it brought the last time,
    goes what it brings no longer.
    """
    course = current()
    before = dict(course.shown)
    yield
    brought = {key for key, one in course.shown.items() if before.get(key) is not one}
    for key in mine - brought:
        course.shown.pop(key, None)
    mine.clear()
    mine.update(brought)


def want(kind: str, parameters: Mapping[str, Any], pack: Path | None) -> None:
    """An analysis is not there: `mucore prepare` computes it beforehand."""
    current().wanted.append({"kind": kind, "parameters": dict(parameters), "pack": pack})


def want_numbers(
    *, models: int, originals: str, retrained: Sequence[str], methods: Sequence[Sequence[str]]
) -> None:
    """The numbers of these methods' forgetting quality are not there: `mucore prepare` computes
    them beforehand.
    """
    current().experiments.append(
        {
            "models": models,
            "originals": originals,
            "retrained": list(retrained),
            "methods": [list(keys) for keys in methods],
        }
    )
