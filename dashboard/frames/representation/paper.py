"""What Are We Truly Forgetting? prints: one record a method and set of classes, and its measures
over the number of classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.text.labels import method_names
from mucore.metrics.representation import CLASS_ACCURACIES, agl, agr, h_lr

PAPER = {
    "FT": "finetune",
    "GA": "gradient_ascent",
    "RL": "random_labels",
    "PL": "pseudo_labels",
    "SalUn": "salun",
    "DUCK": "duck",
}
PAPER |= {
    "CU": "contrastive",
    "SCAR": "scar",
    "SCRUB": "scrub",
    "Original": "original",
    "Retrain": "retrain",
}
PAPER_CLASSES = 1000  # of ImageNet-1K
PAPER_COUNTS = (100, 200, 300)
PAPER_DOWNSTREAM: Mapping[str, str] = {
    "OfficeHome": "Office-Home",
    "CUB": "CUB",
    "DomainNet": "DomainNet",
}
PAPER_SERIES: Mapping[str, str] = {"random": "Random"} | {
    f"top-{of}": f"Near {title}" for of, title in PAPER_DOWNSTREAM.items()
}


@dataclass(frozen=True)
class PaperSet:
    """What the paper forgot: classes chosen at random or near a downstream set, how many, from
    which model.
    """

    title: str
    scenario: str = "random"
    count: int = 100
    model: str = "ResNet-50"


def set_of(series: str, count: int) -> str:
    """The key of `PAPER_SETS` for one of `PAPER_SERIES` and a number of classes."""
    return series if count == PAPER_COUNTS[0] else f"{series}-{count}"


def _sets() -> dict[str, PaperSet]:
    found = {}
    for series, title in PAPER_SERIES.items():
        for count in PAPER_COUNTS:
            words = (
                f"{count} random classes"
                if series == "random"
                else f"{count} classes {title[:1].lower()}{title[1:]}"
            )
            found[set_of(series, count)] = PaperSet(words, series, count)
    return found | {
        model: PaperSet(f"100 random classes, {model}", model=model)
        for model in ("ConvNeXt-T", "Swin-T")
    }


PAPER_SETS: Mapping[str, PaperSet] = _sets()


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What the paper prints for one method; None where it does not. `cka` is CKA to Retrain and
    `knn` the k-NN accuracy, means over its downstream sets. Where `computed`, it prints no
    agreements and these are made of its accuracies and CKAs, by its own formulas.
    """

    method: str
    title: str
    family: str
    cka: float | None
    knn: float | None
    agl: float | None
    agr: float | None
    h_lr: float | None
    gap: float | None  # average gap of FA, RA, TFA and TRA
    # (k-NN, CKA to Retrain) by the title of a downstream set
    sets: Mapping[str, tuple[float | None, float | None]]
    computed: bool = False


def paper_values(table: pd.DataFrame, *, classes: str = "random") -> tuple[Paper, ...]:
    """The paper's methods on ImageNet-1K (truly_forgetting_tables.csv, Tables 2, 7, 9-15) for a key
    of `PAPER_SETS`.
    """
    wanted = PAPER_SETS[classes]
    here = table[
        (table["model"] == wanted.model)
        & (table["scenario"] == wanted.scenario)
        & (table["forget_classes"] == wanted.count)
    ]
    # Tables 13 to 15 repeat Table 3, but for SCAR's AGR: Table 15 has 0.94, which its H-LR and
    # Tables 3, 13 and 14 contradict
    again = (here["table"] == 3) & ~here["metric"].isin(["AGR", "H-LR"])
    here = here[~again & (here["table"] != 5)]
    printed = {
        str(name): lines.drop_duplicates("metric")
        .set_index("metric")["value"]
        .astype(float)
        .to_dict()
        for name, lines in here.groupby("method", sort=False)
    }
    return tuple(
        _paper(name, values, printed["Retrain"])
        for name, values in printed.items()
        if name in PAPER
    )


def _paper(name: str, values: Mapping[str, float], retrain: Mapping[str, float]) -> Paper:
    method = PAPER[name]
    title, family = method_names(method)
    found = {head: values.get(head) for head in ("AGL", "AGR", "H-LR")}
    computed = None in found.values() and method != "original"
    if computed:
        found = _agreements(values, retrain)
    return Paper(
        method=method,
        title=title,
        family=family,
        cka=_mean_percent(values, "CKA-"),
        knn=None if "kNN-gap-avg" in values else _mean_percent(values, "kNN-"),
        agl=found["AGL"],
        agr=found["AGR"],
        h_lr=found["H-LR"],
        gap=None if "Avg.Gap" not in values else values["Avg.Gap"] / 100,
        sets={
            title: (_mean_percent(values, f"kNN-{of}"), _mean_percent(values, f"CKA-{of}"))
            for of, title in PAPER_DOWNSTREAM.items()
            if f"kNN-{of}" in values or f"CKA-{of}" in values
        },
        computed=computed and found["AGL"] is not None,
    )


def _agreements(
    values: Mapping[str, float], retrain: Mapping[str, float]
) -> dict[str, float | None]:
    """AGL of the accuracies and AGR of k-NN accuracies and CKAs; None for what lacks a part."""
    heads = [name.upper() for name in CLASS_ACCURACIES]
    sets = [
        of
        for of in PAPER_DOWNSTREAM
        if f"CKA-{of}" in values and f"kNN-{of}" in values and f"kNN-{of}" in retrain
    ]
    logits, features = None, None
    if all(head in values and head in retrain for head in heads):
        logits = agl(
            unlearned={head.lower(): values[head] / 100 for head in heads},
            retrained={head.lower(): retrain[head] / 100 for head in heads},
        )
    if sets:
        features = agr(
            knn_gaps={of: abs(values[f"kNN-{of}"] - retrain[f"kNN-{of}"]) / 100 for of in sets},
            ckas={of: values[f"CKA-{of}"] / 100 for of in sets},
        )
    return {
        "AGL": logits,
        "AGR": features,
        "H-LR": None if logits is None or features is None else h_lr(agl=logits, agr=features),
    }


def paper_over_counts(table: pd.DataFrame, method: str, series: str) -> dict[str, pd.DataFrame]:
    """The paper's agreements of a method over the number of classes, one of `PAPER_SERIES`: columns
    x (the number), mean; by metric.
    """
    found: dict[str, list[tuple[int, float]]] = {}
    for count in PAPER_COUNTS:
        for one in paper_values(table, classes=set_of(series, count)):
            for metric, value in (("agl", one.agl), ("agr", one.agr), ("h_lr", one.h_lr)):
                if one.method == method and value is not None:
                    found.setdefault(metric, []).append((count, value))
    return {metric: pd.DataFrame(points, columns=["x", "mean"]) for metric, points in found.items()}


def paper_originals(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The paper's CKA of original and Retrain over the number of classes (Table 14): columns x,
    mean; by key of `PAPER_SERIES`.

    For classes at random the mean over the three downstream sets.
    """
    found = {}
    for series in PAPER_SERIES:
        points = [
            (count, one.cka)
            for count in PAPER_COUNTS
            for one in paper_values(table, classes=set_of(series, count))
            if one.method == "original" and one.cka is not None
        ]
        found[series] = pd.DataFrame(points, columns=["x", "mean"])
    return found


def _mean_percent(values: Mapping[str, float], prefix: str) -> float | None:
    """Mean in 0..1 of the percentages whose metric starts so."""
    found = [value / 100 for metric, value in values.items() if metric.startswith(prefix)]
    return float(np.mean(found)) if found else None
