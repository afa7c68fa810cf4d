"""Forgetting quality as the page shows it: which experiments the stored runs make up, and tables of
what they say. No Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dashboard.frames import row_id
from dashboard.text import verdicts
from dashboard.text.labels import MISSING, method_names, number
from mucore.metrics.forgetting_quality import BIN, CAP, TIME_LIMIT, epsilons
from mucore.metrics.quality_experiment import FEWEST_MODELS, Assessment
from mucore.runner.quality import Finding, Originals
from mucore.spec import settings, variants
from mucore.spec.variants import Variant
from mucore.statistics.runs import SETTING
from mucore.verdicts import Judged, Verdict, Word

# models of other training seeds are compared sample by sample, on the very same ones
PLACE = (*SETTING, "forget_hash", "evaluation_seed")
# verdicts that no F outweighs
BARRED: Final[frozenset[Word]] = frozenset({"did nothing", "too little", "too much", "damaged"})
Seeds = tuple[int, int]  # of training and of unlearning


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method of an experiment; `keys` are its runs by seed."""

    row: str
    method: str
    parameters: str
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
    columns = [*PLACE, "method", "parameters", "training_seed", "unlearning_seed", "key"]
    # of runs alike in all these, the first one counts
    lines = runs[runs["scenario"].notna()].sort_values("finished")[columns].fillna("")
    settings: dict[tuple, dict[tuple[str, str], dict[Seeds, str]]] = {}
    for *setting, method, parameters, training, unlearning, key in lines.itertuples(
        index=False, name=None
    ):
        methods = settings.setdefault(tuple(setting), {})
        methods.setdefault((str(method), str(parameters)), {}).setdefault(
            (int(training), int(unlearning)), str(key)
        )
    made = []
    for methods in settings.values():
        retrain = {
            training: key
            for (method, _), keys in methods.items()
            if method == "retrain"
            for (training, _), key in keys.items()
        }
        if len(retrain) >= FEWEST_MODELS:
            made += _of_one_setting(
                {
                    name: keys
                    for name, keys in methods.items()
                    if name[0] not in ("retrain", "original")
                },
                retrain,
            )
    return tuple(sorted(made, key=lambda one: (-one.models, one.originals, one.seed)))


def in_experiments(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that belong to an experiment."""
    keys = {key for one in experiments(runs) for key in one.keys}
    return runs[runs["key"].isin(keys)]


def _of_one_setting(
    runs: Mapping[tuple[str, str], Mapping[Seeds, str]], retrain: Mapping[int, str]
) -> list[Found]:
    """Experiments from (method, parameters) -> seeds -> key, and Retrain's training seed -> key."""
    series: dict[tuple[Originals, int], list[Method]] = {}
    for (method, parameters), keys in sorted(runs.items()):
        for seed in sorted({t for t, _ in keys}):
            first = min(u for t, u in keys if t == seed)
            for originals, step in (("one", 0), ("each", 1)):
                row = []
                while (
                    key := keys.get((seed + step * len(row), first + len(row)))
                ) is not None and seed + len(row) in retrain:
                    row.append(key)
                if len(row) >= FEWEST_MODELS:
                    found = Method(
                        row=row_id(method, parameters),
                        method=method,
                        parameters=parameters,
                        keys=tuple(row),
                    )
                    series.setdefault((originals, seed), []).append(found)
    made = []
    for (originals, seed), methods in series.items():
        if originals == "each" and seed - 1 in retrain and ("each", seed - 1) in series:
            continue  # the tail of a longer one
        for models in sorted({len(method.keys) for method in methods}):
            rows = tuple(
                Method(row=m.row, method=m.method, parameters=m.parameters, keys=m.keys[:models])
                for m in methods
                if len(m.keys) >= models
            )
            retrained = tuple(retrain[seed + number] for number in range(models))
            made.append(
                Found(
                    models=models, originals=originals, seed=seed, retrained=retrained, methods=rows
                )
            )
    return made


# -- what they say


def title(finding: Finding, every: Sequence[Finding]) -> str:
    """The method's title; with the settings that differ where another row has the same method."""
    name = method_names(finding.spec.method)[0]
    twins = [one for one in every if one.spec.method == finding.spec.method]
    kinds = [Variant(settings=settings(one.spec.model_dump(mode="json"))) for one in twins]
    label = variants.names(finding.spec.method, kinds)[twins.index(finding)]
    return f"{name} ({label})" if label else name


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


def table(findings: Sequence[Finding], judged: Mapping[str, Judged]) -> pd.DataFrame:
    """A line a method, best forgetting quality first, text as shown. Heads with a card in `HEADS`
    get its help. `judged` is by key.
    """
    made = []
    for finding in findings:
        a, line = finding.assessment, judged.get(finding.keys[0])
        made.append(
            {
                "Method": title(finding, findings),
                "Verdict": verdicts.text(line.verdict) if line and line.verdict else MISSING,
                "Distance": number(line.distance if line else None, "percent"),
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
        )
    return pd.DataFrame(made)


HEADS = {
    "F": "forgetting_quality",
    "RA ratio": "utility_ra",
    "TA ratio": "utility_ta",
    "Score": "competition_score",
    "U-LiRA, %": "ulira_accuracy",
    "AUC, %": "ulira_auc",
    "TPR at 1 %, %": "ulira_tpr_1",
}


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """Best forgetting quality first; without one last."""

    def place(one: Finding) -> float:
        found = one.assessment.forgetting_quality
        return 1.0 if found is None else -found

    return sorted(findings, key=place)


def headline(findings: Sequence[Finding], judged: Mapping[str, Judged]) -> str:
    """The highest F of a method whose verdict does not bar it, beside that of Retrain's halves; ""
    where there is none.
    """
    known = [
        (one.assessment.half_quality, one)
        for one in findings
        if one.spec.method != "original"
        and one.assessment.half_quality is not None
        and not ((v := verdict(one, judged)) and v.word in BARRED)
    ]
    best, one = max(known, key=lambda pair: pair[0], default=(None, None))
    if one is None or one.assessment.retrain_quality is None:
        return ""
    return (
        f"{title(one, findings)} has the highest F: {ratio(best)}. One half of the Retrains "
        f"against the other reaches {ratio(one.assessment.retrain_quality)}."
    )


def verdict(finding: Finding, judged: Mapping[str, Judged]) -> Verdict | None:
    line = judged.get(finding.keys[0])
    return line.verdict if line else None


def sentences(findings: Sequence[Finding]) -> list[str]:
    """What the experiment cautions against and why scores are missing, each with the methods that
    it is about.
    """
    said: dict[str, list[str]] = {}
    for finding in findings:
        for text in (*finding.assessment.cautions, finding.assessment.score_missing):
            if text:
                said.setdefault(text, []).append(title(finding, findings))
    return [f"{', '.join(names)}: {text}" for text, names in said.items()]


def epsilon_bins(finding: Finding, every: Sequence[Finding]) -> pd.DataFrame:
    """Forgotten samples by ε, as `charts.histograms` draws them; the last bin is open."""
    counts = finding.assessment.histogram
    low = BIN * np.arange(len(counts))
    title_of = title(finding, every)
    return pd.DataFrame(
        {"panel": "", "set": title_of, "low": low, "high": low + BIN, "share": counts}
    )


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
