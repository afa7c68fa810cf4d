"""The front in words and tables, and what MUBox prints beside it."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd

from dashboard import frames
from dashboard.frames.tradeoffs.dominance import Contest
from dashboard.frames.tradeoffs.measures import goal_head
from dashboard.text import labels, units, verdicts

DISTANCE_HEAD: Final = "Distance (points)"


def front_sentence(found: Contest) -> str:
    """The methods that no other beats in every goal; why there is none."""
    if not found.front:
        return verdicts.why_none(found.lines)
    names = units.shortened([row.title for row in found.front], 4)
    return f"Pareto front: {names}. No other method is better on every goal."


def contest_frame(found: Contest, *, most: int = 3) -> pd.DataFrame:
    """The table of the front: the 95 % band of Retrains of other seeds, methods that nothing
    beats, then the others with `most` that beat them, then those that do not compete.

    Each nearest to Retrain first; text as shown.
    """
    made = [_noise(found)] if any(found.noise(goal) for goal in found.goals) else []
    for row in (*found.front, *found.beaten, *found.aside):
        place = units.shortened(found.beaters(row), most) or (
            "none" if row.row in found.competing else "does not compete"
        )
        line: dict[str, Any] = {
            "Method": row.title,
            "Verdict": row.said,
            "Beaten by": place,
            DISTANCE_HEAD: distance_text(row.line),
        }
        line |= {goal_head(goal): goal.text(row.scores[goal.id]) for goal in found.goals}
        made.append(line | {"Seeds": row.seeds})
    heads = [
        "Method",
        "Verdict",
        "Beaten by",
        DISTANCE_HEAD,
        *(goal_head(goal) for goal in found.goals),
        "Seeds",
    ]
    return pd.DataFrame(made, columns=heads)


def _noise(found: Contest) -> dict[str, Any]:
    """Gaps of other seeds' Retrains go up to so much; values lie so far around Retrain's."""
    line: dict[str, Any] = {"Method": frames.NOISE, "Verdict": "", "Beaten by": ""}
    for goal in found.goals:
        span = found.noise(goal)
        if span is None:
            line[goal_head(goal)] = ""
        elif goal.gap:
            line[goal_head(goal)] = goal.text(span[1])
        else:
            line[goal_head(goal)] = f"±{goal.text((span[1] - span[0]) / 2)}"
    return line | {DISTANCE_HEAD: "", "Seeds": found.retrains}


def distance_text(row: frames.Row) -> str:
    return labels.number(None if row.distance is None else row.distance.mean, "percent")
