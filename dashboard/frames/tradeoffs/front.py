"""Who beats whom in several goals at once.

Only methods that forgot compete: to do nothing costs nothing and keeps all accuracy. Scores are
means over training seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.frames.tradeoffs.measures import Measure, goal_head, measure
from dashboard.text import labels, units, verdicts

DISTANCE_HEAD: Final = "Distance (points)"


@dataclass(frozen=True, kw_only=True)
class Front:
    """`rows` are the methods with a score in every goal and sound runs, nearest to Retrain first;
    `beaten` holds by row id of those that compete the titles of what is nowhere worse and somewhere
    better. `left_out` are the titles of the others, by reason.
    """

    goals: tuple[Measure, ...]
    rows: tuple[frames.Row, ...]
    beaten: Mapping[str, list[str]]
    left_out: Mapping[str, list[str]]

    @property
    def leaders(self) -> list[frames.Row]:
        """What nothing beats."""
        return [row for row in self.rows if self.beaten.get(row.id) == []]

    def place(self, row: frames.Row) -> str:
        """What beats a row, for a table."""
        if row.id not in self.beaten:
            return "does not compete"
        return units.shortened(self.beaten[row.id], 1) or "none"


def scores(
    rows: Sequence[frames.Row],
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    metrics: Sequence[str],
) -> pd.DataFrame:
    """A row a row id, a column a metric, in the screen's units; NaN where it has no score."""
    names = {key: row.id for row in rows for key in row.keys}
    long = values[values["metric"].isin(list(metrics)) & values["key"].isin(list(names))]
    long = long.merge(summaries[["key", "training_seed"]], on="key")
    long = long.astype({"value": float, "gap": float}).assign(row=long["key"].map(names))
    means = long.groupby(["row", "metric", "training_seed"])[["value", "gap"]].mean()
    # references are stored without a gap
    retrain = {row.id for row in rows if row.method == "retrain"}
    base = means["value"][means.index.isin(retrain, level="row")].droplevel("row")
    means = means.join(base.rename("base")).reset_index()
    means["gap"] = means["gap"].fillna(means["value"] - means["base"]).abs()
    found = pd.DataFrame(index=[row.id for row in rows])
    for name in metrics:
        how, mine = measure(name), means[means["metric"] == name].set_index("row")
        score = how.scale * (mine["gap"] if how.gap else mine["value"])
        found[name] = score.groupby(level="row").mean().round(12)
    return found


def front(rows: Sequence[frames.Row], found: pd.DataFrame, goals: Sequence[str]) -> Front:
    """Who beats whom in `goals`, metrics of which less is better; `found` are the `scores`."""
    methods = [row for row in frames.nearest_first(rows) if not row.reference]
    sound = [row for row in methods if not row.unsound]
    complete = [row for row in sound if found.loc[row.id, [*goals]].notna().all()]
    rivals = verdicts.leading(complete)
    table = found.loc[[row.id for row in rivals], [*goals]].to_numpy(float)
    mine, other = table[:, None], table[None]
    better = (other <= mine).all(axis=2) & (other < mine).any(axis=2)
    return Front(
        goals=tuple(map(measure, goals)),
        rows=tuple(complete),
        beaten={
            row.id: [rivals[number].title for number in np.flatnonzero(line)]
            for row, line in zip(rivals, better, strict=True)
        },
        left_out={
            "No value for some goal": [row.title for row in sound if row not in complete],
            "Not competing (forgot on outputs only, or only indicated)": [
                row.title for row in verdicts.qualified(complete) if row not in rivals
            ],
            "Not counted": [f"{row.title} ({row.status})" for row in methods if row.unsound],
        },
    )


def front_sentence(found: Front) -> str:
    """The methods that no other beats in every goal; why there is none."""
    if not found.leaders:
        return verdicts.why_none(found.rows)
    names = units.shortened([row.title for row in found.leaders], 4)
    return f"Pareto front on {', '.join(goal.short for goal in found.goals)}: {names}."


def front_frame(found: Front, scored: pd.DataFrame) -> pd.DataFrame:
    """The table: methods that nothing beats, then the others that compete, then the rest; each
    nearest to Retrain first, text as shown.
    """

    def order(row: frames.Row) -> int:
        return len(found.beaten[row.id]) > 0 if row.id in found.beaten else 2

    made = []
    for row in sorted(found.rows, key=order):
        line: dict[str, Any] = {
            "Method": row.title,
            "Verdict": frames.verdict_text(row),
            "Beaten by": found.place(row),
            DISTANCE_HEAD: labels.number(row.away, "percent"),
        }
        goals = {goal_head(goal): goal.text(scored.at[row.id, goal.id]) for goal in found.goals}
        made.append(line | goals | {"Seeds": len(row.training_seeds)})
    return pd.DataFrame(made)
