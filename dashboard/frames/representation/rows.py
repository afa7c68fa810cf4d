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
from dashboard.frames import Answer, Row
from dashboard.text import units, verdicts
from dashboard.text.labels import MINUS, MISSING
from mucore import catalog
from mucore.catalog.metrics.representation import DOWNSTREAM_SETS
from mucore.statistics.significance import rank_agreement
from mucore.verdicts import Judged

SPLITS = {"forget": "forget set", "retain": "retain set", "test": "test set"}
# CKA to Retrain by CKA to the original, of each run, as a share of its Retrain's own: 1 is Retrain
RATIO = "cka_ratio"
GAPS = ("average_gap_classes", "average_gap")
AGREEMENTS = ("agl", "agr", "h_lr")
KNN = "knn_accuracy"  # on downstream sets, what AGR is made of
# runs alike in these have one Retrain
_ONE_RETRAIN = ["scenario", "scenario_parameters", "training_seed"]
_NO_BASE = (
    "No Retrain of this training seed has a CKA to the original, by which the ratio is divided."
)
FEW_METHODS = 4  # an order of three methods agrees by chance in one of six cases


def samples_of(dataset: str) -> tuple[str, ...]:
    """The samples on which features are compared: splits of the data set, and its downstream
    sets.
    """
    return (
        *SPLITS,
        *(name for name in catalog.dataset(dataset).downstream if name in DOWNSTREAM_SETS),
    )


def where(samples: str) -> str:
    """What a sentence calls them: "test set", "downstream set Glyphs, serif"."""
    return SPLITS.get(samples) or f"downstream set {catalog.dataset(samples).title}"


def similarity(value: float | None, *, signed: bool = False) -> str:
    """A CKA or another agreement with three decimals, for most of them differ in the third; "–" for
    None.
    """
    if value is None or not math.isfinite(value):
        return MISSING
    return f"{value:{'+' if signed else ''}.3f}".replace("-", MINUS)


def beside_original(value: float, original: float) -> str:
    """A CKA beside the original's, "0.8788, the original's 0.8791": with three decimals, or with as
    many more as tell the two apart, six at most.
    """
    digits = next((n for n in range(3, 6) if f"{value:.{n}f}" != f"{original:.{n}f}"), 6)
    return f"{value:.{digits}f}, the original's {original:.{digits}f}".replace("-", MINUS)


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
    value = row.cells[metric].value
    return None if value is None else value.mean


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


def answers(rows: Sequence[Row], split: str) -> tuple[Answer, ...]:
    """Who lies on the original's side, who is nearest to Retrain, who is farther than before, and
    whether accuracy gives the same order.

    Only rows whose runs all ended well count.
    """
    on = where(split)
    placed = [
        (row, x, y)
        for row in rows
        if not row.reference
        and not row.unsound
        and not (row.verdict is not None and row.verdict.cheats)
        and (x := mean(row, f"cka_original_{split}")) is not None
        and (y := mean(row, f"cka_retrain_{split}")) is not None
    ]
    if not placed:
        return ()
    what = "methods" if len({row.method for row, *_ in placed}) == len(placed) else "settings"
    near_original = sum(x > y for _, x, y in placed)
    best, _, nearest_to = max(placed, key=lambda each: each[2])
    before = next(
        (mean(row, f"cka_retrain_{split}") for row in rows if row.method == "original"), None
    )
    said = similarity(nearest_to) if before is None else beside_original(nearest_to, before)
    made = [
        Answer(
            "Nearer to the original",
            f"{near_original} of {len(placed)}",
            f"{what} have features more like the original's ({on})",
        ),
        Answer(
            "Highest CKA to Retrain", best.title, f"CKA {said}, on the {on}{verdict_words(best)}"
        ),
    ]
    if before is not None:
        farther = sum(y < before for _, _, y in placed)
        made.append(
            Answer(
                "Farther than before",
                f"{farther} of {len(placed)}",
                f"have features less like Retrain's than the untouched original's are ({on})",
            )
        )
    made.append(_order_answer(placed, gap_metric(rows)))
    return tuple(made)


def verdict_words(row: Row) -> str:
    """The verdict at the end of a sentence; nothing without one."""
    said = frames.verdict_text(row)
    return f"; verdict: {said}" if said else ""


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


def _order_answer(placed: Sequence[tuple[Row, float, float]], metric: str) -> Answer:
    label = "Accuracy agrees with CKA"
    found = [(row, mean(row, metric), y) for row, _, y in placed]
    both = [(gap, y) for _, gap, y in found if gap is not None]
    if len(both) < FEW_METHODS:
        return Answer(
            label, MISSING, f"needs {FEW_METHODS} methods with both measures, there are {len(both)}"
        )
    tau = float(
        rank_agreement({"accuracy": [-gap for gap, _ in both], "cka": [y for _, y in both]}).tau[
            0, 1
        ]
    )
    if not math.isfinite(tau):
        return Answer(label, MISSING, "one of the two is the same for all methods")
    word = (
        "yes, nearly"
        if tau > 0.8
        else "in part"
        if tau > 0.3
        else "hardly"
        if tau > -0.3
        else "no, the reverse"
    )
    shown = f"{tau:.2f}".replace("-", MINUS)
    among = units.methods([row.method for row, gap, _ in found if gap is not None])
    return Answer(
        label,
        word.capitalize(),
        f"Kendall's τ of the two orders is {shown} over {among}; 1 is the same order",
    )


def similarity_frame(rows: Sequence[Row], split: str) -> pd.DataFrame:
    """The table behind the figures, one line a method, in full precision; NaN where a number is
    missing, with its reason.
    """
    metrics = [f"cka_original_{split}", f"cka_retrain_{split}", RATIO, *GAPS, *AGREEMENTS]
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
