"""Small tasks made by hand, for tests of docs/findings.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from findings_data import IMAGES, Line, Task

SEEDS = (0, 1, 2)


def line(
    method: str, score: float, word: str = "too little", cheats: bool = False, **values: Any
) -> Line:
    """Of three seeds, on which its distance differs by 0.1."""
    return Line(
        method=method,
        word=word,
        qualified=word == "forgot" and not cheats,
        cheats=cheats,
        scores={seed: score + 0.1 * seed for seed in SEEDS},
        values={name: dict.fromkeys(SEEDS, value) for name, value in values.items()},
    )


def task(scenario: str, *lines: Line, division: str = "authors", **references: Any) -> Task:
    made: Mapping[str, Mapping[int, float]] = {
        name: dict.fromkeys(SEEDS, value) for name, value in references.items()
    }
    return Task(
        source="demo",
        division=division,
        dataset=IMAGES,
        scenario=scenario,
        lines=lines,
        retrain=made,
        original={name: dict.fromkeys(SEEDS, 1.0) for name in made},
    )
