"""Methods as rows: what is alike between their features and those of the original and of Retrain,
and what a reader learns first.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.frames import Row
from dashboard.frames.representation.paper import Paper
from dashboard.text import verdicts
from dashboard.text.labels import MINUS, MISSING, number
from mucore import catalog
from mucore.catalog.metrics.representation import DOWNSTREAM_SETS
from mucore.verdicts import Judged

SPLITS = {"forget": "forget set", "retain": "retain set", "test": "test set"}
# CKA to Retrain by CKA to the original, of each run, as a share of its Retrain's own: 1 is Retrain
RATIO = "cka_ratio"
GAPS = ("average_gap_classes", "average_gap")
AGREEMENTS = ("agl", "agr", "h_lr")
USUAL = "forget"  # where features are compared at first
KNN = "knn_accuracy"  # on downstream sets, what AGR is made of
PROBE = "linear_probe"
# runs alike in these have one Retrain
_ONE_RETRAIN = ["scenario", "scenario_parameters", "training_seed"]
_NO_BASE = (
    "No Retrain of this training seed has a CKA to the original, by which the ratio is divided."
)


def samples_of(dataset: str) -> tuple[str, ...]:
    """The samples on which features are compared: splits of the data set, and its downstream
    sets.
    """
    return (
        *SPLITS,
        *(name for name in catalog.dataset(dataset).downstream if name in DOWNSTREAM_SETS),
    )


def similarity(value: float | None, *, signed: bool = False) -> str:
    """A CKA or another agreement with three decimals, for most of them differ in the third; "–" for
    None.
    """
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{value:{'+' if signed else ''}.3f}".replace("-", MINUS)


def similarity_rows(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    split: str,
    judged: Mapping[str, Judged] | None = None,
) -> tuple[Row, ...]:
    """Rows with cells cka_original_<split>, cka_retrain_<split>, `RATIO`, the average gaps, the
    agreements, and what there is of each downstream set; `split` is one of `samples_of` the data
    set. With `judged` (`data.judged`) they have verdicts.
    """
    ours = values[values["key"].isin(summaries["key"])]
    measured = set(ours["metric"].unique())
    elsewhere = [card.id for card in catalog.metrics() if card.downstream and card.id in measured]
    wanted = [
        *dict.fromkeys(
            [
                f"cka_original_{split}",
                f"cka_retrain_{split}",
                RATIO,
                *GAPS,
                *AGREEMENTS,
                KNN,
                PROBE,
                *elsewhere,
            ]
        )
    ]
    return frames.metric_rows(
        summaries,
        pd.concat([ours, _ratios(summaries, ours, split)], ignore_index=True),
        wanted,
        judged=judged,
    )


def _ratios(runs: pd.DataFrame, values: pd.DataFrame, split: str) -> pd.DataFrame:
    """`RATIO` of every run with both similarities; a sentence instead where its Retrain, of the
    same training seed, has none.
    """
    to_retrain, to_original = (
        values[values["metric"] == f"cka_{name}_{split}"].set_index("key")["value"].astype(float)
        for name in ("retrain", "original")
    )
    own = (to_retrain / to_original.where(to_original > 0)).rename("own").dropna()
    both = runs[["key", "method", *_ONE_RETRAIN]].merge(own, left_on="key", right_index=True)
    # a Retrain of other settings is a method; CKA is computed in single precision
    same = both["key"].map(to_retrain) >= 1 - 5e-4
    base = (
        both[(both["method"] == "retrain") & same]
        .groupby(_ONE_RETRAIN, dropna=False)["own"]
        .mean()
        .rename("base")
        .reset_index()
    )
    both = both.merge(base, on=_ONE_RETRAIN, how="left")
    ratio = both["own"] / both["base"]
    return pd.DataFrame(
        {
            "key": both["key"],
            "metric": RATIO,
            "value": ratio.to_numpy(float),
            "gap": np.nan,
            "error": [None if math.isfinite(value) else _NO_BASE for value in ratio],
        }
    )


def mean(row: Row, metric: str) -> float | None:
    cell = row.cells.get(metric)
    return None if cell is None or cell.value is None else cell.value.mean


def gap_metric(rows: Sequence[Row]) -> str:
    """The paper's average over FA, RA, TFA and TRA where it was measured, the one over FA, RA, TA
    and MIA elsewhere.
    """
    return next(
        (
            name
            for name in GAPS
            if any(mean(row, name) is not None for row in rows if not row.reference)
        ),
        GAPS[-1],
    )


def opening(rows: Sequence[Row], split: str, kept: Collection[str] | None = None) -> Row | None:
    """The method that a closer look opens on: of those that forgot the nearest to Retrain, else the
    first. Those without features, as an ensemble has none, or without a run of the keys `kept` come
    last.
    """
    methods = [row for row in rows if not row.reference]
    able = [
        row
        for row in methods
        if mean(row, f"cka_retrain_{split}") is not None
        and (kept is None or set(row.keys) & set(kept))
    ]
    return next(iter([*verdicts.nearest(able), *able, *methods]), None)


def measures_frame(rows: Sequence[Row], split: str, paper: Sequence[Paper] = ()) -> pd.DataFrame:
    """Every row as text, the references first, then by CKA to Retrain: both CKAs, their ratio, the
    agreements, k-NN and probe in percent, and the same on each downstream set; what no row has is
    left out. With `paper`, its values beside those that it prints, with a star where they are
    computed from what it prints.
    """
    elsewhere = sorted({name for row in rows for name in row.cells if _downstream(name)})
    star = "*" if any(one.computed for one in paper) else ""
    printed = {one.method: one for one in paper}
    columns = [
        ("CKA to Original", f"cka_original_{split}", ""),
        ("CKA to Retrain", f"cka_retrain_{split}", "cka"),
        ("Ratio", RATIO, ""),
        *((catalog.metric(name).short, name, name) for name in AGREEMENTS),
        ("k-NN, %", KNN, "knn"),
        ("Probe, %", PROBE, ""),
        *((catalog.metric(name).short, name, "") for name in elsewhere),
    ]
    made = []
    near = sorted(rows, key=lambda row: -(mean(row, f"cka_retrain_{split}") or -1.0))
    for row in sorted(near, key=lambda row: not row.reference):
        line = {"Method": row.title}
        for head, name, theirs in columns:
            if not any(mean(each, name) is not None for each in rows):
                continue
            show = _percent if name in (KNN, PROBE) or name.startswith("knn_") else similarity
            line[head] = show(mean(row, name))
            if theirs and paper:
                one = printed.get(row.method)
                line[f"{head}, paper{star}"] = show(getattr(one, theirs) if one else None)
        made.append(line)
    return pd.DataFrame(made)


def _downstream(name: str) -> bool:
    return name.startswith(
        tuple(f"{kind}_{each}" for kind in ("knn", "cka_retrain") for each in DOWNSTREAM_SETS)
    )


def _percent(value: float | None) -> str:
    return number(value, "percent")


def similarity_frame(rows: Sequence[Row], split: str) -> pd.DataFrame:
    """The table behind the figures, one line a method, in full precision; NaN where a number is
    missing, with its reason.
    """
    metrics = [
        f"cka_original_{split}",
        f"cka_retrain_{split}",
        RATIO,
        *GAPS,
        *AGREEMENTS,
        KNN,
        PROBE,
    ]
    shown = [name for name in metrics if any(mean(row, name) is not None for row in rows)]
    made = []
    for row in rows:
        line: dict[str, Any] = {
            "Method": row.title,
            "Verdict": frames.verdict_text(row),
            "Training seeds": len(row.training_seeds),
        }
        for name in shown:
            line[name] = mean(row, name)
            cell = row.cells[name].value
            line[f"{name} ±"] = cell.half if cell else None
        reasons = {row.cells[name].reason for name in shown if row.cells[name].value is None}
        line["Missing because"] = " ".join(sorted(reason for reason in reasons if reason))
        made.append(line)
    table = pd.DataFrame(made)
    return table.dropna(axis="columns", how="all") if made else table
