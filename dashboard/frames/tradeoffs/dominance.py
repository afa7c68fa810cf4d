"""Who beats whom in several goals at once.

Only methods whose verdict qualifies compete, unless a reader lets every line: to do nothing costs
nothing and keeps all accuracy. Scores are means over training seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.frames.tradeoffs.measures import Measure, measure
from dashboard.text import units, verdicts
from mucore import catalog
from mucore.statistics.significance import half_band
from mucore.verdicts import Judged


@dataclass(frozen=True, kw_only=True)
class Scored:
    """One row of the results table with its mean score in each metric, None where it has none;
    `noise` is of Retrain alone: half of its seeds' 95 % band, in the units of scores.
    """

    line: frames.Row
    scores: Mapping[str, float | None]
    noise: Mapping[str, float] = field(default_factory=dict)

    @property
    def row(self) -> str:
        return self.line.id

    @property
    def title(self) -> str:
        return self.line.title

    @property
    def key(self) -> str:
        """Of the run that stands for it: its first training seed."""
        return self.line.keys[0]

    @property
    def seeds(self) -> int:
        return len(self.line.training_seeds)

    @property
    def qualified(self) -> bool:
        return bool(verdicts.qualified([self.line]))

    @property
    def cheats(self) -> bool:
        """Whether it is a baseline that cheats, which never competes."""
        return self.line.verdict is not None and self.line.verdict.cheats

    @property
    def on_outputs(self) -> bool:
        """Whether its features still know what its outputs forgot."""
        return self.line.verdict is not None and self.line.verdict.on_outputs

    @property
    def said(self) -> str:
        """Its verdict as tables show it."""
        return frames.verdict_text(self.line)


@dataclass(frozen=True, kw_only=True)
class Contest:
    """Who beats whom in all goals at once."""

    goals: tuple[Measure, ...]
    # within the limits, with a score in every goal, and with sound runs only
    entrants: tuple[Scored, ...]
    competing: frozenset[str]  # row ids of those among them that compete
    everyone: bool  # whether all entrants compete, whatever their verdict
    # row id of a competitor -> those of all that are nowhere worse and somewhere better
    beaten_by: Mapping[str, tuple[str, ...]]
    # of all with a score in every goal, by row id, those outside the limits among them
    titles: Mapping[str, str]
    over: tuple[str, ...]  # titles outside a limit
    incomplete: tuple[str, ...]  # titles without a score in some goal
    unsound: tuple[str, ...]  # titles with runs that are not ok
    references: tuple[Scored, ...]
    lines: tuple[frames.Row, ...]  # of all methods, left out or not

    @property
    def front(self) -> tuple[Scored, ...]:
        """The competitors that nothing beats, nearest to Retrain first."""
        return tuple(row for row in self.entrants if self.leads(row))

    @property
    def beaten(self) -> tuple[Scored, ...]:
        return tuple(
            row for row in self.entrants if row.row in self.competing and not self.leads(row)
        )

    @property
    def aside(self) -> tuple[Scored, ...]:
        """Drawn and listed, but out of the contest."""
        return tuple(row for row in self.entrants if row.row not in self.competing)

    def noise(self, how: Measure) -> tuple[float, float] | None:
        """Where scores of a Retrain of another seed fall: up from no gap, or about Retrain's value.
        None for costs, which are no property of the network, and below two seeds.
        """
        for row in self.references:
            half, place = row.noise.get(how.id), row.scores.get(how.id)
            if half is not None and place is not None and not how.log:
                return (0.0, half) if how.gap else (place - half, place + half)
        return None

    @property
    def retrains(self) -> int:
        """Training seeds of Retrain."""
        return max((row.seeds for row in self.references if row.noise), default=0)

    def leads(self, row: Scored) -> bool:
        return row.row in self.competing and not self.beaten_by[row.row]

    def place(self, row: Scored) -> str:
        """Where a row stands, for a tooltip."""
        if row.row not in self.competing:
            return f"{row.said}: does not compete"
        return f"{row.said}; beaten by {units.shortened(self.beaters(row), 3) or 'none'}"

    def beaters(self, row: Scored) -> list[str]:
        return [self.titles[name] for name in self.beaten_by.get(row.row, ())]


def scored(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    metrics: Sequence[str],
    judged: Mapping[str, Judged] | None = None,
) -> tuple[Scored, ...]:
    """Every row of the results table of one setting with its scores, references first, then the
    nearest to Retrain; `judged` as there.
    """
    rows = frames.results_table(summaries, values, view="gap", judged=judged).rows
    names = pd.DataFrame(
        [(key, row.id) for row in rows for key in row.keys], columns=["key", "row"]
    )
    long = values[values["metric"].isin(list(metrics)) & values["value"].notna()].merge(
        names, on="key"
    )
    long = long.merge(summaries[["key", "training_seed"]], on="key").astype(
        {"value": float, "gap": float}
    )
    means = long.groupby(["row", "metric", "training_seed"], as_index=False)[
        ["value", "gap"]
    ].mean()
    base = next((row.id for row in rows if row.method == "retrain"), "")
    retrain = means.loc[means["row"] == base, ["metric", "training_seed", "value"]]
    means = means.merge(
        retrain.rename(columns={"value": "retrain"}), on=["metric", "training_seed"], how="left"
    )
    references = means["row"].isin([row.id for row in rows if row.reference])
    # references are stored without a gap
    means["gap"] = means["gap"].where(~references, means["value"] - means["retrain"])
    measures = {name: measure(name) for name in metrics}
    seeds = means.loc[means["row"] == base].groupby("metric")["value"]
    noises = {
        str(name): half * measures[str(name)].scale
        for name, each in seeds
        if catalog.metric(str(name)).group != "cost"
        and (half := half_band(each.tolist())) is not None
    }
    gaps = means["metric"].map({name: each.gap for name, each in measures.items()}).astype(bool)
    means["score"] = means["gap"].abs().where(gaps, means["value"]) * means["metric"].map(
        {n: m.scale for n, m in measures.items()}
    )
    found = means.dropna(subset=["score"]).groupby(["row", "metric"])["score"].mean()
    scores = {
        (str(row), str(metric)): round(float(score), 12) for (row, metric), score in found.items()
    }
    return tuple(
        Scored(
            line=row,
            scores={name: scores.get((row.id, name)) for name in metrics},
            noise=noises if row.id == base else {},
        )
        for row in rows
    )


def contest(
    rows: Sequence[Scored],
    goals: Sequence[str],
    limits: Mapping[str, float] | None = None,
    least: Mapping[str, float] | None = None,
    *,
    everyone: bool = False,
) -> Contest:
    """Who beats whom in `goals`, metrics of which less is better; `limits` (goal -> most) and
    `least` leave out the rows outside them.

    Those compete that are shown to have forgotten, where none is those that seem to have; or
    `everyone` but a baseline that cheats. A limit never changes who is on the front: competitors
    left out still beat those that stay.
    """
    methods = [row for row in rows if not row.line.reference]
    unsound = [row for row in methods if row.line.unsound]
    sound = [row for row in methods if not row.line.unsound]
    complete = [row for row in sound if all(row.scores[goal] is not None for goal in goals)]
    leading = verdicts.leading([row.line for row in complete])
    rivals = [row for row in complete if (not row.cheats if everyone else row.line in leading)]
    within = [
        row
        for row in complete
        if all((row.scores[goal] or 0.0) <= most for goal, most in (limits or {}).items())
        and all((row.scores[goal] or 0.0) >= few for goal, few in (least or {}).items())
    ]
    table = np.array([[row.scores[goal] for goal in goals] for row in rivals], dtype=float).reshape(
        len(rivals), len(goals)
    )
    beaten = {
        row.row: tuple(
            other.row
            for other, scores in zip(rivals, table, strict=True)
            if len(goals) and (scores <= mine).all() and (scores < mine).any()
        )
        for row, mine in zip(rivals, table, strict=True)
        if row in within
    }
    return Contest(
        goals=tuple(measure(goal) for goal in goals),
        entrants=tuple(within),
        competing=frozenset(beaten),
        everyone=everyone,
        beaten_by=beaten,
        titles={row.row: row.title for row in complete},
        over=tuple(row.title for row in complete if row not in within),
        incomplete=tuple(row.title for row in sound if row not in complete),
        unsound=tuple(f"{row.title} ({row.line.status})" for row in unsound),
        references=tuple(row for row in rows if row.line.reference),
        lines=tuple(row.line for row in methods),
    )
