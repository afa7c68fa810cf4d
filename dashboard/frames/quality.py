"""Forgetting quality as the page shows it: which experiments the stored runs make up, and tables of
what they say. No Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from typing import Final

import numpy as np
import pandas as pd

from dashboard.frames import Row, row_id, verdict_text
from dashboard.text.labels import MISSING, number
from mucore.metrics.forgetting_quality import BIN, CAP, TIME_LIMIT, epsilons
from mucore.metrics.quality_experiment import FEWEST_MODELS, Assessment
from mucore.quality import Finding, Originals
from mucore.statistics.runs import SETTING
from mucore.verdicts import Word

# models of other training seeds are compared sample by sample, on the very same ones
PLACE = (*SETTING, "forget_hash", "evaluation_seed")
# verdicts that no F outweighs
BARRED: Final[frozenset[Word]] = frozenset({"did nothing", "too little", "too much", "damaged"})
# by how much the training seed grows from model to model
ORIGINALS: Final[Mapping[Originals, int]] = {"one": 0, "each": 1}
Scored = tuple[Row, Finding]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method of an experiment; `keys` are its runs by seed."""

    row: str
    method: str
    keys: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Found:
    """An experiment that stored runs make up: `models` of each kind, from training seed `seed`
    on.
    """

    models: int
    originals: Originals
    seed: int
    retrained: tuple[str, ...]
    methods: tuple[Method, ...]

    @property
    def id(self) -> str:
        return f"{self.models}-{self.originals}-{self.seed}"

    @property
    def keys(self) -> tuple[str, ...]:
        return (*self.retrained, *(key for method in self.methods for key in method.keys))


def experiments(runs: pd.DataFrame) -> tuple[Found, ...]:
    """Every experiment among `runs` (rows of `data.summaries`), most models first.

    One is made of consecutive training seeds of Retrain and, of each method, as many unlearning
    seeds from the first one's original, or as many pairs of a training and an unlearning seed. At
    least four of each; a method with more runs also stands in the smaller experiment.
    """
    made = []
    # of runs alike in all seeds, the first one counts
    lines = runs[runs["scenario"].notna()].sort_values("finished")
    for _, mine in lines.groupby(list(PLACE), dropna=False):
        retrains = mine[mine["method"] == "retrain"].drop_duplicates("training_seed")
        retrain = dict(zip(retrains["training_seed"], retrains["key"], strict=True))
        methods = mine[~mine["method"].isin(["retrain", "original"])]
        if len(retrain) >= FEWEST_MODELS:
            made += _of_one_setting(methods, retrain)
    return tuple(sorted(made, key=lambda one: (-one.models, one.originals, one.seed)))


def in_experiments(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that belong to an experiment."""
    keys = {key for one in experiments(runs) for key in one.keys}
    return runs[runs["key"].isin(keys)]


def _of_one_setting(runs: pd.DataFrame, retrain: Mapping[int, str]) -> list[Found]:
    """Experiments from the methods' runs, and Retrain's training seed -> key."""
    series: dict[tuple[Originals, int], list[Method]] = {}
    names = [row_id(*each) for each in zip(runs["method"], runs["parameters"], strict=True)]
    for name, mine in runs.groupby(names):
        seeds = zip(mine["training_seed"], mine["unlearning_seed"], strict=True)
        keys: dict[tuple[int, int], str] = {}
        for place, key in zip(seeds, mine["key"], strict=True):
            keys.setdefault(place, key)
        for seed in sorted({training for training, _ in keys}):
            for originals, step in ORIGINALS.items():
                row = _row(keys, retrain, seed, step)
                if len(row) >= FEWEST_MODELS:
                    found = Method(row=str(name), method=mine["method"].iloc[0], keys=row)
                    series.setdefault((originals, seed), []).append(found)
    return [
        Found(
            models=models,
            originals=originals,
            seed=seed,
            retrained=tuple(retrain[seed + number] for number in range(models)),
            methods=tuple(
                replace(method, keys=method.keys[:models])
                for method in methods
                if len(method.keys) >= models
            ),
        )
        for (originals, seed), methods in series.items()
        if (originals, seed - 1) not in series or originals == "one"  # the tail of a longer one
        for models in sorted({len(method.keys) for method in methods})
    ]


def _row(
    keys: Mapping[tuple[int, int], str], retrain: Mapping[int, str], seed: int, step: int
) -> tuple[str, ...]:
    """The runs of a method from training seed `seed` on that have a Retrain each."""
    first = min(unlearning for training, unlearning in keys if training == seed)
    numbers = takewhile(
        lambda n: (seed + step * n, first + n) in keys and seed + n in retrain, count()
    )
    return tuple(keys[seed + step * n, first + n] for n in numbers)


# -- what they say


def bound(models: int) -> float:
    """ln(N − 1): the largest finite ε that N models of each kind can show."""
    return math.log(models - 1)


def too_slow(found: Assessment) -> bool:
    """Whether the competition rejects the method for its time."""
    return found.time_share is not None and found.time_share > TIME_LIMIT


def score_text(found: Assessment) -> str:
    """The final score, or "rejected" where unlearning takes more than a fifth of Retrain's time, or
    "–".
    """
    if found.competition_score is not None:
        return ratio(found.competition_score)
    return "rejected" if too_slow(found) else MISSING


def ratio(value: float | None) -> str:
    return MISSING if value is None else f"{value:.3f}"


def scored(
    findings: Sequence[Finding], found: Found, rows: Sequence[Row]
) -> list[tuple[Row, Finding]]:
    """Each finding with its line of `rows`, best forgetting quality first; without one last."""

    def place(one: tuple[Row, Finding]) -> float:
        quality = one[1].assessment.forgetting_quality
        return 1.0 if quality is None else -quality

    names, lines = {m.keys: m.row for m in found.methods}, {row.id: row for row in rows}
    return sorted([(lines[names[one.keys]], one) for one in findings], key=place)


def table(scored: Sequence[Scored]) -> pd.DataFrame:
    """A line a method, text as shown. Heads with a card in `HEADS` get its help."""
    return pd.DataFrame(
        {
            "Method": row.title,
            "Verdict": verdict_text(row) or MISSING,
            "Distance": number(row.away, "percent"),
            "F": ratio(a.forgetting_quality),
            f"F, {a.half_models} models": ratio(a.half_quality),
            f"Retrain, {a.half_models} models": ratio(a.retrain_quality),
            "RA ratio": ratio(a.utility_ra),
            "TA ratio": ratio(a.utility_ta),
            "Score": score_text(a),
            "Time, %": number(a.time_share, "percent"),
            "U-LiRA, %": number(a.ulira_accuracy, "percent"),
            "AUC, %": number(a.ulira_auc, "percent"),
            "TPR at 1 %, %": number(a.ulira_tpr_1, "percent"),
            "Without ε": a.missing,
            "Degenerate": a.degenerate,
            "Reverted": finding.reverted,
        }
        for row, finding in scored
        for a in [finding.assessment]
    )


HEADS = {
    "F": "forgetting_quality",
    "RA ratio": "utility_ra",
    "TA ratio": "utility_ta",
    "Score": "competition_score",
    "U-LiRA, %": "ulira_accuracy",
    "AUC, %": "ulira_auc",
    "TPR at 1 %, %": "ulira_tpr_1",
}


def headline(scored: Sequence[Scored]) -> str:
    """The highest F of a method whose verdict does not bar it, beside that of Retrain's halves; ""
    where there is none.
    """
    known = [
        (one.assessment.half_quality, row.title, one.assessment.retrain_quality)
        for row, one in scored
        if one.assessment.half_quality is not None
        and not row.reference
        and not (row.verdict and row.verdict.word in BARRED)
    ]
    best, title, halves = max(known, default=(None, "", None))
    if halves is None:
        return ""
    return f"{title} has the highest F, {ratio(best)}. Retrain against Retrain: {ratio(halves)}."


def sentences(scored: Sequence[Scored]) -> list[str]:
    """What the experiment cautions against and why scores are missing, each with the methods that
    it is about.
    """
    said: dict[str, list[str]] = {}
    for row, finding in scored:
        for text in (*finding.assessment.cautions, finding.assessment.score_missing):
            if text:
                said.setdefault(text, []).append(row.title)
    return [f"{', '.join(names)}: {text}" for text, names in said.items()]


def epsilon_bins(title: str, counts: Sequence[int]) -> pd.DataFrame:
    """Forgotten samples by ε, as `charts.histograms` draws them; the last bin is open."""
    low = BIN * np.arange(len(counts))
    return pd.DataFrame({"panel": "", "set": title, "low": low, "high": low + BIN, "share": counts})


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """The forget samples of one method: ids (S,), ε (S,) with NaN where every rule was discarded,
    confidences (N, S) of both kinds.
    """

    ids: np.ndarray
    epsilons: np.ndarray
    unlearned: np.ndarray
    retrained: np.ndarray

    @property
    def by_epsilon(self) -> list[int]:
        """Their places, easiest to tell first; those without ε last."""
        return np.argsort(-np.nan_to_num(self.epsilons, nan=-1.0), kind="stable").tolist()


def samples(
    unlearned: tuple[np.ndarray, np.ndarray], retrained: tuple[np.ndarray, np.ndarray]
) -> Samples:
    """ε of each sample from ids and confidences of both kinds, which cover the same samples."""
    ids, u = unlearned
    r = retrained[1]
    return Samples(ids=ids, epsilons=epsilons(unlearned=u, retrained=r), unlearned=u, retrained=r)


def epsilon_text(value: float) -> str:
    if math.isnan(value):
        return "none: every rule errs on one side only"
    return "∞" if value >= CAP else f"{value:.2f}"
