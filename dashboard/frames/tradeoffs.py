"""From runs to trade-offs: each method's score in several goals at once, who beats whom, and
metrics and tests in words.

Only methods whose verdict qualifies compete, unless a reader lets every line: to do nothing costs
nothing and keeps all accuracy.

A score is what `ranking.score_of` says: the absolute gap to the Retrain of the same training seed
where Retrain is the ideal, else the value. Scores are in the screen's units (percentage points,
seconds, MB) and are means over training seeds. No Streamlit, no plotly.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.papers.tables import Published
from dashboard.text import labels, units, verdicts
from dashboard.text.labels import Unit
from mucore import catalog
from mucore.catalog.cards import MetricCard
from mucore.statistics import Statistics, label_runs, score_of
from mucore.statistics.significance import LEVEL, Ranking
from mucore.verdicts import Judged

# Goal -> the metrics that can stand for it, the usual one first. Less is better in all of them.
GOALS: Final[dict[str, tuple[str, ...]]] = {
    "utility": ("ta", "tra", "ra", "va"),
    "forgetting": ("fa", "tfa", "asr", "fa_true", "ta_flipped"),
    "privacy": (
        "mia_confidence",
        "mia_correctness",
        "mia_entropy",
        "mia_m_entropy",
        "mia_prob",
        "zrf",
    ),
    "cost": ("rte", "unlearning_seconds", "samples_read", "peak_memory_bytes"),
}
ANY: Final = "any"
DISTANCE_HEAD: Final = "Distance (points)"
# Stops of the sliders that set the limits, by unit, in the screen's units.
LIMITS: Final[dict[str, tuple[str, ...]]] = {
    "percent": ("0", "0.5", "1", "2", "5", "10", "20", "50", ANY),
    "ratio": ("0", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", ANY),
    "seconds": ("0", "0.1", "1", "10", "60", "600", "3600", ANY),
    "count": ("0", "1000", "10000", "100000", "1000000", ANY),
    "MB": ("0", "1", "10", "100", "1000", ANY),
}
_UNITS: Final[dict[str, Unit]] = {
    "fraction": "percent",
    "ratio": "ratio",
    "log10": "ratio",
    "distance": "ratio",
    "seconds": "seconds",
    "bytes": "MB",
    "count": "count",
}
_SCALE: Final = {"percent": 100.0, "MB": 1e-6}
_NAMES: Final = {"percent": "%", "MB": "MB", "seconds": "s"}


@dataclass(frozen=True)
class Measure:
    """A metric as a score: what an axis says and how its numbers read."""

    id: str
    short: str
    unit: Unit
    scale: float  # from the stored value to the screen's unit
    gap: bool  # the score is the absolute gap to Retrain
    high: bool  # more is better; elsewhere less is
    log: bool  # spans powers of ten, so an axis is better logarithmic

    @property
    def unit_name(self) -> str:
        """What stands behind a number: "points", "s", ""."""
        return (
            ("points" if self.unit == "percent" else "powers of ten")
            if self.gap
            else _NAMES.get(self.unit, "")
        )

    @property
    def axis(self) -> str:
        """The title of an axis, with unit and direction."""
        what = f"{self.short} gap to Retrain, either way" if self.gap else self.short
        head = f"{what}, {self.unit_name}" if self.unit_name else what
        return f"{head}{' (log)' if self.log else ''}: {'more' if self.high else 'less'} is better"

    def text(self, score: float | None) -> str:
        """A score as a table shows it."""
        return labels.number(None if score is None else score / self.scale, self.unit)


@dataclass(frozen=True, kw_only=True)
class Scored:
    """One row of the results table with its mean score in each metric, None where it has none."""

    line: frames.Row
    scores: Mapping[str, float | None]

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

    def leads(self, row: Scored) -> bool:
        return row.row in self.competing and not self.beaten_by[row.row]

    def place(self, row: Scored) -> str:
        """Where a row stands, for a tooltip."""
        if row.row not in self.competing:
            return f"{row.said}: does not compete"
        return f"{row.said}; beaten by {names_text(self.beaters(row)) or 'none'}"

    def beaters(self, row: Scored) -> list[str]:
        return [self.titles[name] for name in self.beaten_by.get(row.row, ())]


def measure(metric: str) -> Measure:
    card = catalog.metric(metric)
    unit = _UNITS[card.unit]
    log = card.unit in ("ratio", "seconds", "bytes", "count") and card.group == "cost"
    return Measure(
        card.id,
        card.short,
        unit,
        _SCALE.get(unit, 1.0),
        card.ideal == "retrain",
        card.ideal == "high",
        log,
    )


def scored_metrics(values: pd.DataFrame) -> list[str]:
    """The metrics in `values` of which some values are better than others, in the catalogue's
    order.
    """
    present = set(values.loc[values["value"].notna(), "metric"].unique())
    return [card.id for card in catalog.metrics() if card.id in present and score_of(card)]


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
    gaps = means["metric"].map({name: each.gap for name, each in measures.items()}).astype(bool)
    means["score"] = means["gap"].abs().where(gaps, means["value"]) * means["metric"].map(
        {n: m.scale for n, m in measures.items()}
    )
    found = means.dropna(subset=["score"]).groupby(["row", "metric"])["score"].mean()
    scores = {
        (str(row), str(metric)): round(float(score), 12) for (row, metric), score in found.items()
    }
    return tuple(
        Scored(line=row, scores={name: scores.get((row.id, name)) for name in metrics})
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

    Those whose verdict qualifies compete, or `everyone`. A limit never changes who is on the front:
    competitors left out still beat those that stay.
    """
    methods = [row for row in rows if not row.line.reference]
    unsound = [row for row in methods if row.line.unsound]
    sound = [row for row in methods if not row.line.unsound]
    complete = [row for row in sound if all(row.scores[goal] is not None for goal in goals)]
    rivals = [row for row in complete if everyone or row.qualified]
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
        if not found.everyone and rivals < len(verdicts.qualified(found.lines))
        else ""
    )
    who = units.count(rivals, "method") + ("" if found.everyone else f" that forgot{some}")
    if not front:
        return f"What beats the {who} in these ranges lies outside them."
    names = names_text([row.title for row in front], most=6)
    if rivals == 1:
        return (
            f"Only {names} {'is in these ranges' if found.everyone else f'forgot{some}'}, so "
            "there is nothing to choose between."
        )
    if len(front) == rivals:
        said = f"Of the {who}, none beats another: {names}."
    elif len(front) == 1:
        said = f"Of the {who}, {names} beats every other."
    else:
        said = f"Of the {who}, no other beats these {len(front)}: {names}."
    idle = Counter(
        row.line.verdict.word for row in front if row.line.verdict is not None and not row.qualified
    )
    if idle:
        what = ", ".join(f"{count} {verdicts.as_verb(word)}" for word, count in idle.most_common())
        said += f" But of these {len(front)}, {what}."
    return said


def contest_frame(found: Contest, *, most: int = 3) -> pd.DataFrame:
    """The table of the front: methods that nothing beats, then the others with `most` that beat
    them, then those that do not compete.

    Each nearest to Retrain first; text as shown.
    """
    made = []
    for row in (*found.front, *found.beaten, *found.aside):
        place = names_text(found.beaters(row), most) or (
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


def goal_head(goal: Measure) -> str:
    what = f"{goal.short} gap" if goal.gap else goal.short
    return f"{what} ({goal.unit_name})" if goal.unit_name else what


def names_text(names: Sequence[str], most: int = 3) -> str:
    """ "SSD, SCRUB, SalUn and 2 more"."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


# --------------------------------------------------------------------------------------------------
# ranks, agreement and tests


def line_title(line: str) -> str:
    """The title of a line of `ranking`: the method's, with what tells its sets of parameters
    apart.
    """
    method, _, extra = line.partition(" ")
    title, _ = labels.method_names(method)
    return f"{title} {extra}".strip()


def line_family(line: str) -> str:
    return labels.method_names(line.partition(" ")[0])[1]


def line_keys(runs: pd.DataFrame) -> dict[str, str]:
    """The run that stands for each line of `ranking`: the first of its first scenario, by its
    seeds.
    """
    seeds = ["training_seed", "unlearning_seed", "evaluation_seed"]
    order = {card.id: place for place, card in enumerate(catalog.scenarios())}
    found = label_runs(runs).sort_values(
        ["scenario", *seeds], key=lambda each: each.map(order) if each.name == "scenario" else each
    )
    return found.groupby("line")["key"].first().to_dict()


def line_verdicts(runs: pd.DataFrame, judged: Mapping[str, Judged]) -> dict[tuple[str, str], bool]:
    """(setting, line) of `ranking` -> whether the line's verdict qualifies there and all its runs
    ended well.
    """
    labelled = label_runs(runs)
    made: dict[tuple[str, str], bool] = {}
    columns = (labelled[name] for name in ("setting", "line", "key", "status"))
    for setting, line, key, status in zip(*columns, strict=True):
        found = judged[key].verdict if key in judged else None
        made[setting, line] = (
            made.get((setting, line), True)
            and found is not None
            and found.qualified
            and status == "ok"
        )
    return made


def forgot_in(found: Statistics, qualified: Mapping[tuple[str, str], bool]) -> dict[str, int]:
    """In how many of the settings compared each method forgot; `qualified` as `line_verdicts` gives
    it.
    """
    settings = {setting for setting, _ in found.blocks}
    return {
        line: sum(qualified.get((setting, line), False) for setting in settings)
        for line in found.methods
    }


def ranks_sentence(metric: str, ranking: Ranking, forgot: Mapping[str, int]) -> str:
    """Whether a method wins, to be read aloud; none does that cannot be told from the next, or that
    never forgot.
    """
    by, best, others = _by(metric), next(iter(ranking.ranks)), len(ranking.ranks) - 1
    over = units.count(ranking.blocks, "scenario")
    if ranking.p >= 1 - LEVEL:
        return (
            f"{by}, there is no winner: chance alone may explain the ranks of these {others + 1} "
            f"methods over {over}."
        )
    if ranking.alike:
        return (
            f"{by}, there is no winner: {len(ranking.alike)} of the other {others} methods cannot "
            "be told apart from first place."
        )
    said = f"{line_title(best)} ranks first of {others + 1} methods over {over}"
    if not forgot[best]:
        return f"{by}, there is no winner: {said}, but forgot in none of them."
    return f"{by}, {said}, and forgot in {forgot[best]} of them."


def tests_sentence(metric: str, differ: int, pairs: int) -> str:
    if not differ:
        return (
            f"{_by(metric)}, none of {units.count(pairs, 'pair')} of methods differs by more than "
            "chance."
        )
    rest = "" if differ == pairs else " Chance may explain the rest."
    verb = "differs" if differ == 1 else "differ"
    return (
        f"{_by(metric)}, {differ} of {units.count(pairs, 'pair')} of methods {verb} by more than "
        f"chance.{rest}"
    )


def _by(metric: str) -> str:
    title = catalog.metric(metric).title
    return f"By {title[0].lower() if title[1:2].islower() else title[0]}{title[1:]}"


def short_name(metric: str) -> str:
    return catalog.metric(metric).short


def extremes(tau: pd.DataFrame) -> tuple[tuple[str, str, float], tuple[str, str, float]] | None:
    """The two metrics that agree least and the two that agree most, with their τ; None where no
    pair has one.
    """
    names = list(tau.columns)
    table = tau.to_numpy(float)
    pairs = [
        (names[i], names[j], float(table[i, j]))
        for i, j in zip(*np.triu_indices(len(names), 1), strict=True)
        if math.isfinite(table[i, j])
    ]
    return (
        (min(pairs, key=lambda pair: pair[2]), max(pairs, key=lambda pair: pair[2]))
        if pairs
        else None
    )


def disagreement_text(tau: pd.DataFrame, agreement: pd.DataFrame) -> str:
    """The largest disagreement of two metrics in a sentence; "" where no two metrics can be
    compared.
    """
    found = extremes(tau)
    if found is None:
        return ""
    (first, second, low), _ = found
    both = agreement[
        ((agreement["first"] == first) & (agreement["second"] == second))
        | ((agreement["first"] == second) & (agreement["second"] == first))
    ]
    settings = len(both)
    least, most = int(both["methods"].min()), int(both["methods"].max())
    basis = (
        f"{least if least == most else f'{least} to {most}'} methods in "
        f"{units.count(settings, 'forget set')}"
    )
    value = labels.number(low, "ratio")
    pair = f"{short_name(first)} and {short_name(second)}"
    if low <= -0.1:
        return f"{pair} tend to rank methods in opposite order (τ {value}, {basis})."
    if low < 0.1:
        return f"{pair} rank methods without regard to each other (τ {value}, {basis})."
    return (
        f"No two metrics rank methods in opposite order; {pair} agree least (τ {value}, {basis})."
    )


def pairs_frame(found: Statistics, forgot: Mapping[str, int]) -> pd.DataFrame:
    """The paired tests, most certain first, the better method of each pair on the left; `forgot`
    counts settings, as in `forgot_in`.
    """
    card = catalog.metric(found.metric)
    how = measure(found.metric)
    settings = len({setting for setting, _ in found.blocks})
    made = []
    columns = (
        found.pairs[name].tolist() for name in ("first", "second", "difference", "n", "p", "p_holm")
    )
    for better, worse, difference, blocks, p, holm in zip(*columns, strict=True):
        if difference > 0:
            better, worse = worse, better
        line = {
            "Better": line_title(better),
            "Worse": line_title(worse),
            "Better forgot in": f"{forgot[better]} of {settings}",
            difference_head(card, how): abs(difference) * how.scale,
            "Blocks": blocks,
            "p": p,
            "p (Holm)": holm,
        }
        made.append(
            line
            | {"Differ": "yes" if holm < 1 - LEVEL else "equal" if difference == 0 else "not shown"}
        )
    heads = [
        "Better",
        "Worse",
        "Better forgot in",
        difference_head(card, how),
        "Blocks",
        "p",
        "p (Holm)",
        "Differ",
    ]
    return pd.DataFrame(made, columns=heads).sort_values(
        ["p (Holm)", heads[3]], ascending=[True, False], ignore_index=True
    )


def difference_head(card: MetricCard, how: Measure) -> str:
    unit = "points" if how.unit == "percent" else how.unit_name
    return (
        f"Median difference in {card.short}{' gap' if how.gap else ''}{f', {unit}' if unit else ''}"
    )


def ranks_frame(ranking: Ranking, forgot: Mapping[str, int]) -> pd.DataFrame:
    """Methods with their average rank, best first, and in how many scenarios they forgot."""
    lines = [(line_title(name), rank, forgot[name]) for name, rank in ranking.ranks.items()]
    return pd.DataFrame(
        lines,
        columns=[
            "Method",
            "Average rank",
            f"Forgot in, of {units.count(ranking.blocks, 'scenario')}",
        ],
    )


def tau_frame(tau: pd.DataFrame) -> pd.DataFrame:
    """The matrix under the metrics' short names."""
    heads = [short_name(name) for name in tau.columns]
    shown = tau.round(3).set_axis(heads, axis=1)
    shown.insert(0, "Metric", heads)
    return shown.reset_index(drop=True)
