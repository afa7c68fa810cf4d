"""What a comparison says once it has several seeds and scenarios: intervals, paired tests, average
ranks, agreement, suspicious values.

Pandas in (`Store.summaries`, `Store.metric_values`), tables and sentences out. A setting is one
data set, model, recipe, scenario and rule of the forget set, with the same content of the user's
own data and files of weights; a method with two sets of parameters counts as two. Every interval
runs over training seeds: unlearning and evaluation seeds repeat one training and are averaged
before. The mathematics is in mucore/statistics/significance.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from mucore import catalog
from mucore.errors import BadValue
from mucore.statistics import tables
from mucore.statistics.outliers import Suspicion, suspicions, suspicions_of, watched
from mucore.statistics.runs import (
    SETTING,
    SETUP,
    beside_methods,
    label_runs,
    score_of,
    seed_means,
    told_apart,
    usual_metrics,
)
from mucore.statistics.significance import LEVEL, Ranking

if TYPE_CHECKING:
    from mucore.store import Store

AXIS = "training seeds; unlearning and evaluation seeds are averaged first"


@dataclass(frozen=True, kw_only=True, eq=False)
class Statistics:
    """All that one comparison says about one metric, and how its metrics agree. What could not be
    computed is None or empty, and a note says why. Values are those of the store: fractions,
    seconds, bytes.

    - `intervals`: one row a setting and method with `seeds` (how many), mean, sample standard
      deviation and 95 % t interval (`low`, `high`) of the value, and the same of the gap
      (`gap_...`); NaN where one seed leaves no spread.
    - `pairs`: Wilcoxon's signed-rank test of every two methods over settings, of one setting alone
      over its training seeds; columns of `statistics.Pair`.
    - `ranking`: average ranks over settings with Nemenyi's critical difference.
    - `agreement`: one row a setting and two metrics: Kendall's tau over methods, its p, how many
      methods. `tau`: means over settings.
    - `suspicions`: values outside the range of original and Retrain by more than the seeds'
      interval.
    """

    metric: str
    score: str  # what tests and ranks compare, in words
    axis: str
    intervals: pd.DataFrame
    methods: tuple[str, ...]  # in tests and ranks
    blocks: tuple[tuple[str, int], ...]
    pairs: pd.DataFrame
    ranking: Ranking | None
    agreement: pd.DataFrame
    tau: pd.DataFrame
    suspicions: tuple[Suspicion, ...]
    notes: tuple[str, ...]


def from_store(
    store: Store,
    *,
    metric: str = "ta",
    methods: Sequence[str] = (),
    agreement: Sequence[str] = (),
    **filters: Any,
) -> Statistics:
    """`statistics_of` the results that `filters` choose (those of `Store.summaries`); `methods`
    narrows them further, references stay.

    Raises `UnknownName` for a metric or method that no card has, and `BadValue` where nothing
    matches.
    """
    summaries, values = store.summaries(**filters), store.metric_values(**filters)
    if methods:
        wanted = {catalog.method(name).id for name in methods}
        summaries = summaries[summaries["method"].isin([*wanted, "original", "retrain"])]
        if missing := wanted - set(summaries["method"]):
            raise BadValue(
                f"No result matches of {' and '.join(sorted(missing))}. See `python -m mucore "
                "results`."
            )
    return statistics_of(label_runs(summaries), values, metric=metric, agreement=agreement)


def statistics_of(
    runs: pd.DataFrame,
    values: pd.DataFrame,
    *,
    metric: str = "ta",
    agreement: Sequence[str] = (),
    watch: bool = True,
) -> Statistics:
    """Everything about `metric` in runs that `label_runs` has named; `agreement` names the metrics
    whose rankings are compared (default: `usual_metrics`).

    `watch`: whether to look for suspicious values, which takes as long as all the rest.

    Tests and ranks compare what `score_of` says; they take the methods and blocks that make the
    largest table without holes. Raises `UnknownName` for a metric without a card, `BadValue` where
    no run has it.
    """
    card, runs = catalog.metric(metric), runs[beside_methods(runs)]
    agreement = [catalog.metric(name).id for name in agreement] or usual_metrics(values)
    if runs.empty:
        raise BadValue(
            "No result matches, so there is nothing to compare. See `python -m mucore results`."
        )
    means = seed_means(runs, values, [card.id, *agreement])
    mine = means[means["metric"] == card.id]
    if mine.empty:
        only = (
            f" It exists only under {', '.join(sorted(card.scenarios))}."
            if card.scenarios is not None
            else ""
        )
        raise BadValue(
            f"None of these results has a value of {card.id}.{only} Choose another metric or "
            "other results."
        )
    notes = [
        *tables.missing_notes(runs, values, card),
        *tables.status_notes(runs),
        *tables.machine_notes(runs),
        *tables.seed_notes(mine),
    ]
    intervals = tables.intervals(mine)
    table, said = tables.complete_table(mine, card)
    notes += said
    pairs, said = tables.pairs(table)
    notes += said
    ranking, said = tables.ranks(table)
    notes += said
    taus, said = tables.agreement(means, agreement)
    notes += said
    return Statistics(
        metric=card.id,
        score=score_of(card) or "nothing: no value of this metric is better than another",
        axis=AXIS,
        intervals=intervals,
        methods=tuple(str(name) for name in table.columns),
        blocks=tuple((str(setting), int(seed)) for setting, seed in table.index),
        pairs=pairs,
        ranking=ranking,
        agreement=taus,
        tau=tables.mean_tau(taus, agreement),
        suspicions=suspicions_of(watched(runs, values), runs) if watch else (),
        notes=tuple(notes),
    )
