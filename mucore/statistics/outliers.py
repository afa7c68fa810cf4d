"""Values outside the range of original and Retrain, where that is suspicious."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from mucore import catalog
from mucore.statistics.runs import label_runs, seed_means
from mucore.statistics.tables import counted, t_intervals

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
    where = ["metric", "setting", "training_seed"]
    found = means[(means["reference"] == "") & means["metric"].isin([*_EXCESS, *_attacks()])]
    for end in ("original", "retrain"):
        theirs = means.loc[means["reference"] == end, [*where, "value"]]
        found = found.merge(theirs.rename(columns={"value": end}), on=where)
    ends = found[["original", "retrain"]]
    groups = found.assign(
        above=found["value"] - ends.max(axis=1), below=ends.min(axis=1) - found["value"]
    ).groupby(each, sort=False)
    levels = groups[["value", "original", "retrain"]].mean()
    # an attack that is not above a guess over the seeds says nothing
    tried = means[means["metric"].isin([f"{name}_attack_accuracy" for name in _attacks()])]
    works = t_intervals(tried.groupby(each)["value"])
    telling = set(works.index[works["low"] > 0.5])
    what = runs.drop_duplicates(["setting", "line"]).set_index(["setting", "line"])
    known, level = what[["method", "parameters"]].to_dict("index"), levels.to_dict("index")
    made = []
    for side, place in (("above", 0), ("below", 1)):
        past = t_intervals(groups[side])
        for key, excess in past[past["low"] > SMALLEST_EXCESS].to_dict("index").items():
            metric, setting, line = key
            meaning = _EXCESS.get(metric, _ATTACK_EXCESS)[place]
            attack = (f"{metric}_attack_accuracy", setting, line)
            if not meaning or (metric not in _EXCESS and attack not in telling):
                continue
            value, original, retrain = (f"{100 * number:.1f} %" for number in level[key].values())
            sentence = (
                f"{catalog.metric(metric).title} of {line} in {setting} is {value}, {side} the "
                f"range from {original} (original) to {retrain} (retrain) by "
                f"{100 * excess['mean']:.1f} points, more than "
                f"{counted(int(excess['seeds']), 'training seed')} explain: {meaning}."
            )
            of_run = known[setting, line]
            made.append(
                (key, Suspicion(setting=setting, metric=metric, sentence=sentence, **of_run))
            )
    metrics, lines = [*_EXCESS, *_attacks()], [*levels.index]
    made.sort(key=lambda each: (metrics.index(each[0][0]), lines.index(each[0])))
    return tuple(one for _, one in made)
