"""What the page about encoders computes: similarities a method, the paper's values, and what a measure depends on.

Pandas and numpy in, small frozen records out; no Streamlit, no plotly. CKA, its ratio, AGL, AGR and H-LR are plain numbers, 1 is Retrain.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.describe import MINUS, MISSING, method_names, setting
from dashboard.frames import Answer, Row
from dashboard.presets import is_plain
from mucore import catalog
from mucore.catalog.metrics.representation import DOWNSTREAM_SETS
from mucore.errors import UnknownName
from mucore.metrics.statistics import rank_agreement
from mucore.store.records import Result

SPLITS = {"forget": "forget set", "retain": "retain set", "test": "test set"}
RATIO = "cka_ratio"  # CKA to Retrain by CKA to the original, of each run
GAPS = ("average_gap_classes", "average_gap")
AGREEMENTS = ("agl", "agr", "h_lr")
KNN = "knn_accuracy"  # on downstream sets, what AGR is made of
FEW_METHODS = 4  # an order of three methods agrees by chance in one of six cases


def samples_of(dataset: str) -> tuple[str, ...]:
    """The samples on which features are compared: splits of the data set, and its downstream sets."""
    return (*SPLITS, *(name for name in catalog.dataset(dataset).downstream if name in DOWNSTREAM_SETS))


def where(samples: str) -> str:
    """What a sentence calls them: "test set", "downstream set Glyphs, serif"."""
    return SPLITS.get(samples) or f"downstream set {catalog.dataset(samples).title}"


def similarity(value: float | None, *, signed: bool = False) -> str:
    """A CKA or another agreement with three decimals, for most of them differ in the third; "–" for None."""
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{value:{'+' if signed else ''}.3f}".replace("-", MINUS)


# ------------------------------------------------------------------------------------------------------------- methods, one a row


def similarity_rows(summaries: pd.DataFrame, values: pd.DataFrame, split: str) -> tuple[Row, ...]:
    """Rows with cells cka_original_<split>, cka_retrain_<split>, `RATIO`, the average gaps, the agreements, and what there is of each
    downstream set; `split` is one of `samples_of` the data set."""
    ours = values[values["key"].isin(summaries["key"])]
    elsewhere = [card.id for card in catalog.metrics() if card.downstream and card.id in set(ours["metric"])]
    wanted = [*dict.fromkeys([f"cka_original_{split}", f"cka_retrain_{split}", RATIO, *GAPS, *AGREEMENTS, KNN, *elsewhere])]
    return frames.metric_rows(summaries, pd.concat([ours, _ratios(ours, split)], ignore_index=True), wanted)


def _ratios(values: pd.DataFrame, split: str) -> pd.DataFrame:
    to_retrain, to_original = (
        values[values["metric"] == f"cka_{name}_{split}"].set_index("key")["value"].astype(float) for name in ("retrain", "original")
    )
    ratio = (to_retrain / to_original.where(to_original > 0)).dropna()
    return pd.DataFrame({"key": ratio.index, "metric": RATIO, "value": ratio.to_numpy(float), "gap": np.nan, "error": None})


def mean(row: Row, metric: str) -> float | None:
    value = row.cells[metric].value
    return None if value is None else value.mean


def gap_metric(rows: Sequence[Row]) -> str:
    """The paper's average over FA, RA, TFA and TRA where it was measured, the one over FA, RA, TA and MIA elsewhere."""
    return next((name for name in GAPS if any(mean(row, name) is not None for row in rows if not row.reference)), GAPS[-1])


def answers(rows: Sequence[Row], split: str) -> tuple[Answer, ...]:
    """Who lies on the original's side, who is nearest to Retrain, who is farther than before, and whether accuracy gives the same order.

    Only rows whose runs all ended well count.
    """
    on = where(split)
    placed = [
        (row, x, y)
        for row in rows
        if not row.reference
        and not row.unsound
        and (x := mean(row, f"cka_original_{split}")) is not None
        and (y := mean(row, f"cka_retrain_{split}")) is not None
    ]
    if not placed:
        return ()
    near_original = sum(x > y for _, x, y in placed)
    best, _, nearest_to = max(placed, key=lambda each: each[2])
    made = [
        Answer("Nearer to the original", f"{near_original} of {len(placed)}", f"methods have features more like the original's ({on})"),
        Answer("Nearest to Retrain", best.title, f"CKA {similarity(nearest_to)} on the {on}"),
    ]
    before = next((mean(row, f"cka_retrain_{split}") for row in rows if row.method == "original"), None)
    if before is not None:
        farther = sum(y < before for _, _, y in placed)
        made.append(
            Answer("Farther than before", f"{farther} of {len(placed)}", f"are less like Retrain than the original, {similarity(before)}")
        )
    made.append(_order_answer(placed, gap_metric(rows)))
    return tuple(made)


def _order_answer(placed: Sequence[tuple[Row, float, float]], metric: str) -> Answer:
    label = "Accuracy agrees with CKA"
    both = [(gap, y) for row, _, y in placed if (gap := mean(row, metric)) is not None]
    if len(both) < FEW_METHODS:
        return Answer(label, MISSING, f"needs {FEW_METHODS} methods with both measures, there are {len(both)}")
    tau = float(rank_agreement({"accuracy": [-gap for gap, _ in both], "cka": [y for _, y in both]}).tau[0, 1])
    if not math.isfinite(tau):
        return Answer(label, MISSING, "one of the two is the same for all methods")
    word = "yes, nearly" if tau > 0.8 else "in part" if tau > 0.3 else "hardly" if tau > -0.3 else "no, the reverse"
    shown = f"{tau:.2f}".replace("-", MINUS)
    return Answer(label, word.capitalize(), f"Kendall's τ of the two orders is {shown} over {len(both)} methods; 1 is the same order")


def similarity_frame(rows: Sequence[Row], split: str) -> pd.DataFrame:
    """The table behind the figures, one line a method, in full precision; NaN where a number is missing, with its reason."""
    metrics = [f"cka_original_{split}", f"cka_retrain_{split}", RATIO, *GAPS, *AGREEMENTS]
    shown = [name for name in metrics if any(mean(row, name) is not None for row in rows)]
    made = []
    for row in rows:
        line: dict[str, Any] = {"Method": row.title, "Training seeds": len(row.training_seeds)}
        for name in shown:
            line[name] = mean(row, name)
            cell = row.cells[name].value
            line[f"{name} ±"] = cell.half if cell else None
        reasons = {row.cells[name].reason for name in shown if row.cells[name].value is None}
        line["Missing because"] = " ".join(sorted(reason for reason in reasons if reason))
        made.append(line)
    table = pd.DataFrame(made)
    return table.dropna(axis="columns", how="all") if made else table


# -------------------------------------------------------------------------------------------------------------------- the paper's values

PAPER = {"FT": "finetune", "GA": "gradient_ascent", "RL": "random_labels", "PL": "pseudo_labels", "SalUn": "salun", "DUCK": "duck"}
PAPER |= {"CU": "contrastive", "SCAR": "scar", "SCRUB": "scrub", "Original": "original", "Retrain": "retrain"}


@dataclass(frozen=True)
class PaperSet:
    """What the paper forgot: classes chosen at random or near a downstream set, how many, from which model."""

    title: str
    scenario: str = "random"
    count: int = 100
    model: str = "ResNet-50"


PAPER_SETS: Mapping[str, PaperSet] = {
    "random": PaperSet("100 random classes"),
    "top-OfficeHome": PaperSet("100 classes near Office-Home", "top-OfficeHome"),
    "top-CUB": PaperSet("100 classes near CUB", "top-CUB"),
    "top-DomainNet": PaperSet("100 classes near DomainNet", "top-DomainNet"),
    "ConvNeXt-T": PaperSet("100 random classes, ConvNeXt-T", model="ConvNeXt-T"),
    "Swin-T": PaperSet("100 random classes, Swin-T", model="Swin-T"),
}


PAPER_DOWNSTREAM: Mapping[str, str] = {"OfficeHome": "Office-Home", "CUB": "CUB", "DomainNet": "DomainNet"}


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What the paper prints for one method; None where it does not. `cka` is CKA to Retrain and `knn` the k-NN accuracy, means over its
    downstream sets."""

    method: str
    title: str
    family: str
    cka: float | None
    knn: float | None
    agl: float | None
    agr: float | None
    h_lr: float | None
    gap: float | None  # average gap of FA, RA, TFA and TRA
    sets: Mapping[str, tuple[float | None, float | None]]  # (k-NN, CKA to Retrain) by the title of a downstream set


def paper_values(table: pd.DataFrame, *, classes: str = "random") -> tuple[Paper, ...]:
    """The paper's methods on ImageNet-1K (truly_forgetting_tables.csv, Tables 2, 7, 13-15) for a key of `PAPER_SETS`."""
    wanted = PAPER_SETS[classes]
    here = table[(table["model"] == wanted.model) & (table["scenario"] == wanted.scenario) & (table["forget_classes"] == wanted.count)]
    made = []
    for name, lines in here[here["table"].isin([2, 7, 13, 14, 15])].groupby("method", sort=False):
        method = PAPER.get(str(name))
        if method is None:
            continue
        values = lines.drop_duplicates("metric").set_index("metric")["value"].astype(float)
        title, family = method_names(method)
        made.append(
            Paper(
                method=method,
                title=title,
                family=family,
                cka=_mean_percent(values, "CKA-"),
                knn=None if "kNN-gap-avg" in values else _mean_percent(values, "kNN-"),
                agl=_number(values, "AGL"),
                agr=_number(values, "AGR"),
                h_lr=_number(values, "H-LR"),
                gap=None if "Avg.Gap" not in values else float(values["Avg.Gap"]) / 100,
                sets={
                    title: (_mean_percent(values, f"kNN-{of}"), _mean_percent(values, f"CKA-{of}"))
                    for of, title in PAPER_DOWNSTREAM.items()
                    if f"kNN-{of}" in values or f"CKA-{of}" in values
                },
            )
        )
    return tuple(made)


def _mean_percent(values: pd.Series, prefix: str) -> float | None:
    """Mean in 0..1 of the percentages whose metric starts so."""
    found = [value / 100 for metric, value in values.items() if str(metric).startswith(prefix)]
    return float(np.mean(found)) if found else None


def _number(values: pd.Series, name: str) -> float | None:
    return float(values[name]) if name in values else None


# ------------------------------------------------------------------------------------------------------------------------ sensitivity

NOISE = "method.gradient_noise"
SHOWN = {"h_lr": "H-LR", "agl": "AGL", "agr": "AGR"}


@dataclass(frozen=True, kw_only=True)
class Axis:
    """A setting of which a method's runs have several values: `name` for the address, `title` for a reader, (key, value) of each run.

    A `switch` is on, 1, or off, 0."""

    name: str
    title: str
    values: Mapping[str, float]
    switch: bool = False

    @property
    def distinct(self) -> int:
        return len(set(self.values.values()))


def whole_network(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that were free to change every layer."""
    return runs[[json.loads(text).get("scope", "all") == "all" for text in runs["parameters"]]]


def plain(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that were free to change every layer and had no noise on their gradients: what a method is without an experiment on it."""
    return runs[[is_plain(text) for text in runs["parameters"]]]


def varied(runs: pd.DataFrame) -> tuple[Axis, ...]:
    """What varies among the runs of one method and scenario: number of classes, budget, other numbers of the forget set, hyperparameters,
    the noise on its gradients (a run that does not name it had none). A run without a parameter that came late had its default."""
    settings: dict[str, dict[str, float]] = {}
    switches: set[str] = set()
    late = {method: _late_defaults(method) for method in set(runs["method"])}
    for key, scenario, method, text in zip(runs["key"], runs["scenario_parameters"], runs["method"], runs["parameters"], strict=True):
        for group, values in (("forget set", json.loads(scenario)), ("method", late[method] | json.loads(text))):
            for name, value in values.items():
                if name == "class_ids":
                    settings.setdefault("forget set.classes", {})[key] = float(len(value))
                elif name not in ("seed", "class_id", "target") and isinstance(value, int | float):
                    settings.setdefault(f"{group}.{name}", {})[key] = float(value)
                    if isinstance(value, bool):
                        switches.add(f"{group}.{name}")
    if NOISE in settings:
        settings[NOISE] = {key: settings[NOISE].get(key, 0.0) for key in runs["key"]}
    made = [Axis(name=name, title=axis_title(name), values=values, switch=name in switches) for name, values in settings.items()]
    return tuple(axis for axis in made if axis.distinct > 1)


def _late_defaults(method: str) -> dict[str, Any]:
    """The defaults of the parameters that came to a method after results existed; none for a method that the catalogue does not know."""
    try:
        return {parameter.name: parameter.default for parameter in catalog.method(method).parameters if parameter.late}
    except UnknownName:
        return {}


def axis_title(name: str) -> str:
    """What an axis is called on the page: "method.lr" is the learning rate."""
    group, _, last = name.rpartition(".")
    plain = {
        "n": "classes forgotten",
        "classes": "classes forgotten",
        "budget": "budget",
        "gradient_noise": "noise on gradients",
        "lr": "learning rate",
    }
    return plain.get(last, last.replace("_", " ") + (" (forget set)" if group == "forget set" else ""))


def comparable(runs: pd.DataFrame, axis: Axis, others: Sequence[Axis]) -> pd.DataFrame:
    """The runs along `axis` with the most common value of every other setting that varies, so that a line shows one effect alone."""
    kept = runs[runs["key"].isin(list(axis.values))]
    for other in others:
        if other.name == axis.name:
            continue
        values = kept["key"].map(other.values)
        counts = [
            (kept.loc[values == value, "key"].map(axis.values).nunique(), int((values == value).sum()), -value)
            for value in sorted(set(values.dropna()))
        ]
        if counts:
            kept = kept[values == -max(counts)[2]]
    return kept


def along(runs: pd.DataFrame, values: pd.DataFrame, axis: Axis, metrics: Sequence[str]) -> pd.DataFrame:
    """Columns metric, x, mean, half, seeds, key: the mean over training seeds of each metric at each value of the axis."""
    long = values[values["metric"].isin(metrics)].merge(runs[["key", "training_seed"]], on="key")
    long = long.assign(x=long["key"].map(axis.values), value=long["value"].astype(float)).dropna(subset=["x", "value"])
    seeds = long.groupby(["metric", "x", "training_seed"], sort=True).agg(value=("value", "mean"), key=("key", "first")).reset_index()
    made = []
    for (metric, x), group in seeds.groupby(["metric", "x"], sort=True):
        half = frames.half_width(float(group["value"].std()), len(group)) if len(group) > 1 else None
        made.append(
            {"metric": metric, "x": x, "mean": float(group["value"].mean()), "half": half, "seeds": len(group), "key": group["key"].iloc[0]}
        )
    return pd.DataFrame(made, columns=["metric", "x", "mean", "half", "seeds", "key"])


def metric_title(metric: str) -> str:
    """A metric as a legend says it."""
    return SHOWN.get(metric) or catalog.metric(metric).title


def axis_value(value: float, axis: Axis) -> str:
    """A value on the axis as a reader sees it: a share as percent, a switch as on or off, a number as it is."""
    if axis.switch:
        return setting("", bool(value))
    return setting("budget", value) if axis.name.endswith("budget") and 0 < value < 1 else f"{value:g}".replace("-", MINUS)


# ------------------------------------------------------------------------------------------------------------------------- last layer


def twins(runs: pd.DataFrame) -> list[tuple[str, str]]:
    """(key of the run on all layers, key of the run on the classifier alone) of runs that are alike in everything else."""
    found: dict[tuple[Any, ...], dict[str, str]] = {}
    columns = ["key", "parameters", "method", "scenario", "scenario_parameters", "training_seed", "unlearning_seed", "evaluation_seed"]
    for key, text, *rest in runs[columns].itertuples(index=False, name=None):
        parameters = json.loads(text)
        scope = parameters.pop("scope", "all")
        found.setdefault((json.dumps(parameters, sort_keys=True), *rest), {})[scope] = key
    return [(pair["all"], pair["classifier"]) for pair in found.values() if {"all", "classifier"} <= pair.keys()]


def twin_ckas(twins: Sequence[tuple[str, str]], to_original: Mapping[str, float]) -> dict[tuple[str, str], float]:
    """CKA of the features of each pair of `twins`, from every run's CKA to the original.

    A run on the classifier alone leaves the features as the original's, so the other's CKA to it is its CKA to the original. A pair of
    which the first was not measured, or the second has other features than the original, is left out.
    """
    same = 1 - 5e-4  # CKA is computed in single precision
    return {(full, last): to_original[full] for full, last in twins if full in to_original and to_original.get(last, 0.0) >= same}


def measuring_cost(results: Sequence[Result]) -> tuple[pd.DataFrame, int, float | None]:
    """What measuring one model takes: (columns part, seconds, share, runs; the dearest first), how many runs were timed, and the mean
    seconds of their Retrains (None without one).

    Seconds of a part are the mean over the runs that have it; shares are of the sum of these means.
    """
    timed = [result.cost.get("measuring_seconds") or {} for result in results]
    seconds: dict[str, list[float]] = {}
    for each in timed:
        for part, took in each.items():
            seconds.setdefault(part, []).append(float(took))
    means = dict(sorted(((part, float(np.mean(took))) for part, took in seconds.items()), key=lambda one: -one[1]))
    total = sum(means.values())
    rows = [(part, took, took / total, len(seconds[part])) for part, took in means.items()]
    retrains = [took for result in results if result.spec["method"] == "retrain" and (took := result.cost.get("seconds"))]
    table = pd.DataFrame(rows, columns=["part", "seconds", "share", "runs"])
    return table, sum(map(bool, timed)), float(np.mean(retrains)) if retrains else None
