"""Values outside the range of original and Retrain, where that is suspicious."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mucore import catalog
from mucore.statistics.notes import counted
from mucore.statistics.runs import label_runs, seed_means
from mucore.statistics.tables import t_intervals

# A value counts as outside the range of original and Retrain only if it leaves it by more than this
# share as well. The limit is ours.
SMALLEST_EXCESS = 0.01
# Accuracies at which leaving the range says more than "utility was lost": (metric, above, below),
# each with what it may mean.
_EXCESS = {
    "ta": ("the model has seen the test set, or the original was trained too briefly", ""),
    "tra": ("the model has seen the test set, or the original was trained too briefly", ""),
    "fa": (
        "it knows the forget set better than the model that was trained on it",
        "it forgets more than a model that never saw the samples",
    ),
    "tfa": (
        "it knows the forgotten classes better than the original",
        "it forgets more than a model that never saw the classes",
    ),
}
_ATTACK_EXCESS = (
    "forgotten samples stand out as too unfamiliar",
    "forgotten samples look more familiar than before the request",
)


@dataclass(frozen=True, kw_only=True)
class Suspicion:
    """One value outside the range of original and Retrain: a flag of the whole comparison.
    `parameters` is the JSON text of the runs.
    """

    setting: str
    method: str
    parameters: str
    metric: str
    sentence: str


def suspicions(summaries: pd.DataFrame, values: pd.DataFrame) -> tuple[Suspicion, ...]:
    """Methods whose value leaves the range of original and Retrain, where that is suspicious
    (specification of metrics, section 10).

    Seed by seed, the excess over the nearer end of the range; flagged if the 95 % interval of its
    mean lies above `SMALLEST_EXCESS`. Membership attacks count only where their own accuracy is
    above a guess over the seeds. One seed gives no interval and no flag.
    """
    runs = label_runs(summaries)
    return suspicions_of(watched(runs, values), runs) if len(runs) else ()


def _attacks() -> list[str]:
    ids = [card.id for card in catalog.metrics()]
    return [name for name in ids if f"{name}_attack_accuracy" in ids]


def watched(runs: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds of the metrics that are looked at, for `suspicions_of`."""
    return seed_means(
        runs, values, [*_EXCESS, *_attacks(), *(f"{name}_attack_accuracy" for name in _attacks())]
    )


def suspicions_of(means: pd.DataFrame, runs: pd.DataFrame) -> tuple[Suspicion, ...]:
    """`suspicions` of runs that `label_runs` has named, from their `watched` means."""
    each = ["metric", "setting", "line"]
    watched = means[(means["reference"] == "") & means["metric"].isin([*_EXCESS, *_attacks()])]
    for end in ("original", "retrain"):
        theirs = means.loc[
            means["reference"] == end, ["metric", "setting", "training_seed", "value"]
        ]
        watched = watched.merge(
            theirs.rename(columns={"value": end}), on=["metric", "setting", "training_seed"]
        )
    low, high = (
        np.minimum(watched["original"], watched["retrain"]),
        np.maximum(watched["original"], watched["retrain"]),
    )
    groups = watched.assign(above=watched["value"] - high, below=low - watched["value"]).groupby(
        each, sort=False
    )
    sides = {side: t_intervals(groups[side]) for side in ("above", "below")}
    levels = groups[["value", "original", "retrain"]].mean()
    # an attack that is not above a guess over the seeds says nothing
    tried = means[means["metric"].isin([f"{name}_attack_accuracy" for name in _attacks()])]
    works = t_intervals(tried.groupby(each)["value"])
    guessed_right = set(works.index[works["low"] > 0.5])
    what = runs[~runs.duplicated(["setting", "line"])]
    told = dict(
        zip(
            zip(what["setting"], what["line"], strict=True),
            zip(what["method"], what["parameters"], strict=True),
            strict=True,
        )
    )
    past = {side: (found["low"] > SMALLEST_EXCESS).to_numpy() for side, found in sides.items()}
    numbers = {side: found[["mean", "seeds"]].to_numpy() for side, found in sides.items()}
    level = levels.to_numpy()
    found: dict[str, list[Suspicion]] = {}
    for place in np.nonzero(past["above"] | past["below"])[0]:  # no line is on both sides
        metric, setting, line = levels.index[place]
        side = "above" if past["above"][place] else "below"
        meaning = _EXCESS.get(metric, _ATTACK_EXCESS)[side == "below"]
        if not meaning or (
            metric not in _EXCESS
            and (f"{metric}_attack_accuracy", setting, line) not in guessed_right
        ):
            continue
        value, original, retrain = (f"{100 * each:.1f} %" for each in level[place])
        excess, seeds = numbers[side][place]
        method, parameters = told[setting, line]
        sentence = (
            f"{catalog.metric(metric).title} of {line} in {setting} is {value}, {side} the range "
            f"from {original} (original) to {retrain} (retrain) by {100 * excess:.1f} points, "
            f"more than {counted(int(seeds), 'training seed')} explain: {meaning}."
        )
        found.setdefault(metric, []).append(
            Suspicion(
                setting=setting,
                method=method,
                parameters=parameters,
                metric=metric,
                sentence=sentence,
            )
        )
    return tuple(one for metric in [*_EXCESS, *_attacks()] for one in found.get(metric, []))
