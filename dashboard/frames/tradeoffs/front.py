"""The front in words and tables, and what MUBox prints beside it."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import pandas as pd

from dashboard import frames
from dashboard.frames.tradeoffs.dominance import Contest
from dashboard.frames.tradeoffs.measures import Measure, goal_head
from dashboard.papers.tables import Published
from dashboard.text import labels, units, verdicts

DISTANCE_HEAD: Final = "Distance (points)"


def front_sentence(found: Contest) -> str:
    """The answer to be read aloud: which methods are worth choosing between, or why there is
    none.
    """
    front, rivals = found.front, len(found.competing)
    if not rivals:
        if any(verdicts.qualified([line]) for line in found.lines):
            return (
                "No method that forgot is left: those that did lie outside the ranges below or "
                "lack a number."
            )
        return f"No method qualifies here. {verdicts.why_none(found.lines)}"
    # others that forgot lack a number or lie outside a range, as is said below the table
    some = (
        " and can be compared here"
        if not found.everyone and rivals < len(verdicts.leading(found.lines))
        else ""
    )
    who = units.methods([row.line.method for row in found.entrants if row.row in found.competing])
    forgot = f"{verdicts.that_forgot(found.lines)}{some}"
    who += "" if found.everyone else f" {forgot}"
    if not front:
        return f"What beats the {who} in these ranges lies outside them."
    names = units.shortened([row.title for row in front], 6)
    if rivals == 1:
        said = (
            f"Only {names} {'is in these ranges' if found.everyone else forgot[5:]}, so "
            "there is nothing to choose between."
        )
    elif len(front) == rivals:
        said = f"Of the {who}, none beats another: {names}."
    elif len(front) == 1:
        said = f"Of the {who}, {names} beats every other."
    else:
        said = f"Of the {who}, no other beats these {len(front)}: {names}."
    idle = Counter(
        verdicts.verb(row.line.verdict)
        for row in front
        if row.line.verdict is not None and not row.qualified
    )
    if idle:
        what = ", ".join(f"{count} {did}" for did, count in idle.most_common())
        said += (
            f" But of these {len(front)}, {what}." if len(front) > 1 else f" But it {min(idle)}."
        )
    if known := [row.title for row in front if row.on_outputs]:
        whose = f"The features of {units.shortened(known, 3)}" if len(front) > 1 else "Its features"
        said += f" {whose} still know what was forgotten."
    return said


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


def lines_frame(found: Contest) -> pd.DataFrame:
    """The numbers behind the lines through all goals, in full precision: methods and references,
    whether anything beats a method.
    """
    made = []
    for row in (*found.entrants, *found.references):
        front = (
            "" if row.row not in found.competing else "yes" if found.beaten_by[row.row] else "no"
        )
        line = {"Method": row.title, "Verdict": row.said} | {
            goal_head(goal): row.scores[goal.id] for goal in found.goals
        }
        made.append(line | {"Beaten": front})
    return pd.DataFrame(made)


def paper_places(paper: Published, x: Measure, y: Measure) -> list[tuple[str, float, float]]:
    """(title, x, y) of the methods whose scores the paper's table gives for both measures."""

    def place(method: str, how: Measure) -> float | None:
        found = (paper.gaps if how.gap else paper.values).get((method, how.id))
        return None if found is None else how.scale * (abs(found) if how.gap else found)

    methods = dict.fromkeys(
        method for method, _ in paper.values if method not in ("original", "retrain")
    )
    both = [
        (labels.method_names(method)[0], place(method, x), place(method, y)) for method in methods
    ]
    return [
        (title, across, up) for title, across, up in both if across is not None and up is not None
    ]
