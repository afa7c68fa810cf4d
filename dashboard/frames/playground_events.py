"""What the playground's events say of each model at one moment: its field, its numbers and how far
it is from Retrain.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.frames.playground import MEANINGS
from mucore import catalog

REFERENCES = ("original", "retrain")
NEAR = 1e-9  # a difference of shares that is none


@dataclass(frozen=True, eq=False)
class Look:
    """A model at a moment. `grid` (G, G, C) uint8 are its probabilities times 255, the first row at
    y = 1, the first column at x = -1; `numbers` are fractions by their ids, None where there is
    none. `mean` is its mean total variation from Retrain over the grid, `at_forget` that at the
    points to forget, which is known of the last step alone, as are the `seconds`. With an `error`
    there is nothing else.
    """

    who: str
    title: str
    grid: np.ndarray
    step: int = 0
    of: int = 0
    numbers: Mapping[str, float | None] | None = None
    mean: float | None = None
    at_forget: float | None = None
    seconds: float | None = None
    error: str = ""

    @property
    def last(self) -> bool:
        return self.step == self.of


def looks(events: Iterable[Mapping[str, Any]], moment: float = 1.0) -> list[Look]:
    """A look at each model of a scene, in their order: references at their end, methods when the
    share `moment` of their work was done.
    """
    classes, frames, done, errors = 0, {}, {}, {}
    for event in events:
        match event["kind"]:
            case "scene":
                classes = event["classes"]
            case "frame":
                frames.setdefault(event["who"], []).append(event)
            case "done":
                done[event["who"]] = event
            case "error" if event["who"]:
                errors[event["who"]] = event["sentence"]
    shown = {
        who: next((f for f in reversed(mine) if f["share"] <= moment + NEAR), mine[0])
        if who not in REFERENCES
        else mine[-1]
        for who, mine in frames.items()
    }
    grids = {who: grid_of(frame, classes) for who, frame in shown.items()}
    base = grids.get("retrain") if "retrain" in done else None
    found = []
    for who, frame in shown.items():
        ended = done.get(who) if frame is frames[who][-1] else None
        # what the event of Retrain calls its difference is Original's, and lies between the two
        apart = done.get("retrain") if who == "original" else ended
        compared = base is not None and who != "retrain"
        found.append(
            Look(
                who,
                title(who),
                grids[who],
                step=frame["step"],
                of=frame["of"],
                numbers=frame["numbers"],
                mean=distance(grids[who], base) if compared else None,
                at_forget=apart["difference"]["at_forget"] if compared and apart else None,
                seconds=None if ended is None else ended["seconds"],
            )
        )
    nothing = np.zeros((0, 0, 0), np.uint8)
    return found + [Look(who, title(who), nothing, error=each) for who, each in errors.items()]


def title(who: str) -> str:
    return catalog.method(who).title


def grid_of(frame: Mapping[str, Any], classes: int) -> np.ndarray:
    raw = np.frombuffer(base64.b64decode(frame["grid"]), np.uint8)
    side = int(np.sqrt(len(raw) // classes))
    return raw.reshape(side, side, classes)


def away(grid: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Total variation of two grids (G, G, C) at each place, (G, G) in 0..1."""
    return np.abs(grid.astype(np.int64) - base).sum(axis=2) / 510


def distance(grid: np.ndarray, base: np.ndarray) -> float:
    return float(away(grid, base).mean())


def table(found: Sequence[Look]) -> pd.DataFrame:
    """A line a model with its numbers as they are shown."""
    return pd.DataFrame(
        [
            {
                "Model": look.title,
                "Steps": f"{look.step} of {look.of}",
                **_numbers(look.numbers),
                "From Retrain, everywhere": percent(look.mean),
                "From Retrain, at the points to forget": percent(look.at_forget),
                "Seconds": "–" if look.seconds is None else f"{look.seconds:.2f}",
            }
            for look in found
            if not look.error
        ]
    )


def running(events: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The numbers of every frame of the methods, a line a frame."""
    return pd.DataFrame(
        [
            {
                "Model": title(event["who"]),
                "Step": f"{event['step']} of {event['of']}",
                **_numbers(event["numbers"]),
            }
            for event in events
            if event["kind"] == "frame" and event["who"] not in REFERENCES
        ]
    )


def _numbers(numbers: Mapping[str, float | None] | None) -> dict[str, str]:
    return {name: percent((numbers or {}).get(key)) for key, name, _ in MEANINGS}


def percent(share: float | None) -> str:
    """As the stage writes a share."""
    return "–" if share is None else f"{100 * share:.0f} %"
