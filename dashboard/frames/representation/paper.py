"""What Are We Truly Forgetting? prints: one record a method and set of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.papers.tables import cells
from dashboard.text.labels import method_names

PAPER_CLASSES = 1000  # of ImageNet-1K
PAPER_COUNTS = (100, 200, 300)
# Data set -> title, and in the names of the sets of classes near it
PAPER_DOWNSTREAM: Mapping[str, tuple[str, str]] = {
    "office-home": ("Office-Home", "top-OfficeHome"),
    "cub-200": ("CUB", "top-CUB"),
    "domainnet-126": ("DomainNet", "top-DomainNet"),
}
PAPER_SERIES: Mapping[str, str] = {"random": "Random"} | {
    name: f"Near {title}" for title, name in PAPER_DOWNSTREAM.values()
}


@dataclass(frozen=True)
class PaperSet:
    """What the paper forgot: classes chosen at random or near a downstream set, how many, from
    which model.
    """

    title: str
    near: str = ""
    count: int = 100
    model: str = "resnet50"


def set_of(series: str, count: int) -> str:
    """The key of `PAPER_SETS` for one of `PAPER_SERIES` and a number of classes."""
    return series if count == PAPER_COUNTS[0] else f"{series}-{count}"


def _sets() -> dict[str, PaperSet]:
    found = {}
    near = {name: dataset for dataset, (_, name) in PAPER_DOWNSTREAM.items()}
    for series, title in PAPER_SERIES.items():
        for count in PAPER_COUNTS:
            words = (
                f"{count} random classes"
                if series == "random"
                else f"{count} classes {title[:1].lower()}{title[1:]}"
            )
            found[set_of(series, count)] = PaperSet(words, near.get(series, ""), count)
    return found | {
        title: PaperSet(f"100 random classes, {title}", model=model)
        for title, model in (("ConvNeXt-T", "convnext-t"), ("Swin-T", "swin-t"))
    }


PAPER_SETS: Mapping[str, PaperSet] = _sets()


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What the paper prints for one method; None where it does not. `cka` is CKA to Retrain and
    `knn` the k-NN accuracy, means over its downstream sets. Where `computed`, it prints no
    agreements and these are made of its accuracies and CKAs, by its own formulas
    (data/papers/README.md).
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


def paper_values(classes: str = "random") -> tuple[Paper, ...]:
    """The paper's methods on ImageNet-1K (Tables 2, 7, 9-15) for a key of `PAPER_SETS`."""
    wanted = PAPER_SETS[classes]
    lines = cells("truly")
    here = lines[
        (lines["model"] == wanted.model)
        & (lines["near"] == wanted.near)
        & (lines["amount"] == wanted.count / PAPER_CLASSES)
    ]
    # Tables 13 to 15 repeat Table 3, but for SCAR's AGR: Table 15 has 0.94, which its H-LR and
    # Tables 3, 13 and 14 contradict
    again = (here["table"] == "3") & ~here["metric"].isin(["agr", "h_lr"])
    here = here[~again & (here["table"] != "5")]
    return tuple(
        _paper(str(method), group.drop_duplicates("metric").set_index("metric"))
        for method, group in here.groupby("method", sort=False)
    )


def _paper(method: str, lines: pd.DataFrame) -> Paper:
    values: dict[str, float] = lines["value"].to_dict()
    title, family = method_names(method)
    return Paper(
        method=method,
        title=title,
        family=family,
        cka=_mean(values, "cka_retrain"),
        knn=None if "knn_gap" in values else _mean(values, "knn_"),
        agl=values.get("agl"),
        agr=values.get("agr"),
        h_lr=values.get("h_lr"),
        gap=values.get("average_gap"),
        sets={
            title: (values.get(f"knn_{of}"), values.get(f"cka_retrain_{of}"))
            for of, (title, _) in PAPER_DOWNSTREAM.items()
            if f"knn_{of}" in values or f"cka_retrain_{of}" in values
        },
        computed="agl" in values and lines.loc["agl", "mark"] == "computed",
    )


def _mean(values: Mapping[str, float], prefix: str) -> float | None:
    """The mean of the metrics whose ids start so."""
    found = [value for metric, value in values.items() if metric.startswith(prefix)]
    return float(np.mean(found)) if found else None
