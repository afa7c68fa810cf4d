"""What t-SNE and CKA compute: similarities a method, the paper's values beside them, runs on all
layers beside those on the classifier alone. No Streamlit, no plotly.

CKA, its ratio, AGL, AGR and H-LR are plain numbers, 1 is Retrain.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.frames import Row
from dashboard.papers.tables import cells
from dashboard.text import verdicts
from dashboard.text.presets import is_plain
from mucore import catalog
from mucore.catalog.metrics.representation import DOWNSTREAM_SETS
from mucore.verdicts import Judged

SPLITS: Final = {"forget": "Forget set", "retain": "Retain set", "test": "Test set"}
USUAL: Final = "forget"  # where features are compared at first
# CKA to Retrain by CKA to the original, of each run, as a share of its Retrain's own: 1 is Retrain
RATIO: Final = "cka_ratio"
GAPS: Final = ("average_gap_classes", "average_gap")
KNN: Final = "knn_accuracy"  # on downstream sets, what AGR is made of
SAME: Final = 1 - 5e-4  # a CKA of 1: it is computed in single precision
# runs alike in these have one Retrain
_ONE_RETRAIN = ["scenario", "scenario_parameters", "training_seed"]
_NO_BASE = (
    "No Retrain of this training seed has a CKA to the original, by which the ratio is divided."
)


def samples_of(dataset: str) -> dict[str, str]:
    """The samples on which features are compared, with their titles: splits of the data set, and
    its downstream sets.
    """
    sets = [name for name in catalog.dataset(dataset).downstream if name in DOWNSTREAM_SETS]
    return {**SPLITS, **{name: catalog.dataset(name).title for name in sets}}


def plain(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that were free to change every layer and had no noise on their gradients: what a
    method is without an experiment on it.
    """
    return runs.loc[[is_plain(text) for text in runs["parameters"]]]


def similarity_rows(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    split: str,
    judged: Mapping[str, Judged] | None = None,
) -> tuple[Row, ...]:
    """Rows with a cell for each metric of `heads` and the average gaps; `split` is one of
    `samples_of` the data set. With `judged` (`data.judged`) they have verdicts.
    """
    ours = values[values["key"].isin(summaries["key"])]
    both = pd.concat([ours, _ratios(summaries, ours, split)], ignore_index=True)
    return frames.metric_rows(summaries, both, [*heads(split).values(), *GAPS], judged=judged)


def heads(split: str) -> dict[str, str]:
    """The columns of the table and their metrics."""
    downstream = [card for card in catalog.metrics() if card.downstream]
    return {
        "CKA to Original": f"cka_original_{split}",
        "CKA to Retrain": f"cka_retrain_{split}",
        "Ratio": RATIO,
        **{catalog.metric(name).short: name for name in ("agl", "agr", "h_lr")},
        "k-NN": KNN,
        "Probe": "linear_probe",
        **{card.short: card.id for card in downstream},
    }


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
    # a Retrain of other settings is a method
    is_base = (both["method"] == "retrain") & (both["key"].map(to_retrain) >= SAME)
    base = both[is_base].groupby(_ONE_RETRAIN, dropna=False)["own"].mean().rename("base")
    both = both.merge(base.reset_index(), on=_ONE_RETRAIN, how="left")
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


def gap_metric(rows: Sequence[Row]) -> str:
    """The paper's average over FA, RA, TFA and TRA where it was measured, the one over FA, RA, TA
    and MIA elsewhere.
    """
    known = (name for name in GAPS if any(row.mean(name) is not None for row in rows))
    return next(known, GAPS[-1])


def opening(rows: Sequence[Row], split: str) -> Row | None:
    """The method that a closer look opens on: of those that forgot the nearest to Retrain, else the
    first. Those without features, as an ensemble has none, come last.
    """
    methods = [row for row in rows if not row.reference]
    able = [row for row in methods if row.mean(f"cka_retrain_{split}") is not None]
    return next(iter([*verdicts.nearest(able), *able, *methods]), None)


def most_alike(rows: Sequence[Row], split: str) -> str:
    """Whose features are most like Retrain's; "" where no method has any."""
    found = {row.title: (row.mean(f"cka_retrain_{split}"), row.reference) for row in rows}
    cka, best = max(
        ((cka, title) for title, (cka, reference) in found.items() if cka and not reference),
        default=(0.0, ""),
    )
    return f"{best} has the features most like Retrain's: CKA {cka:.2f}." if best else ""


def key_of(row: Row, runs: pd.DataFrame, seed: int) -> str | None:
    """The first run of a row on a training seed."""
    lines = runs[runs["key"].isin(row.keys) & (runs["training_seed"] == seed)]
    lines = lines.sort_values(["unlearning_seed", "evaluation_seed"])
    return None if lines.empty else str(lines.iloc[0]["key"])


def table(rows: Sequence[Row], split: str, paper: pd.DataFrame | None = None) -> pd.DataFrame:
    """A line a row, the references first, then by CKA to Retrain, with the columns of `heads` that
    any row has; with `paper`, of `paper_values`, its columns too.
    """
    found = pd.DataFrame(
        {
            "Method": row.title,
            **{head: row.mean(name) for head, name in heads(split).items()},
            "Average gap": row.mean(gap_metric(rows)),
            "Verdict": frames.verdict_text(row),
            "Seeds": len(row.training_seeds),
            "method": row.method,
            "after": not row.reference,
        }
        for row in rows
    )
    if paper is not None:
        found = found.join(paper, on="method")
    by = ["after", "CKA to Retrain"]
    found = found.sort_values(by, ascending=[True, False], ignore_index=True)
    # the paper's beside ours
    beside = sorted(found, key=lambda head: [*found].index(head.partition(", paper")[0]))
    shown = found[beside].drop(columns=["method", "after"])
    return shown.dropna(axis="columns", how="all")


# -- the paper


@dataclass(frozen=True)
class PaperSet:
    """What the paper forgot of ImageNet-1K's classes: chosen at random or near a downstream set,
    how many, from which model.
    """

    title: str
    near: str = ""
    count: int = 100
    model: str = "resnet50"


_NEAR = {
    "OfficeHome": ("Office-Home", "office-home"),
    "CUB": ("CUB", "cub-200"),
    "DomainNet": ("DomainNet", "domainnet-126"),
}
PAPER_SETS: Final[Mapping[str, PaperSet]] = {
    "random": PaperSet("100 random classes"),
    **{f"random-{n}": PaperSet(f"{n} random classes", count=n) for n in (200, 300)},
    **{
        f"top-{name}{'' if n == 100 else f'-{n}'}": PaperSet(f"{n} classes near {title}", near, n)
        for name, (title, near) in _NEAR.items()
        for n in (100, 200, 300)
    },
    **{
        title: PaperSet(f"100 random classes, {title}", model=model)
        for title, model in (("ConvNeXt-T", "convnext-t"), ("Swin-T", "swin-t"))
    },
}


def paper_values(classes: str = "random") -> pd.DataFrame:
    """The paper's numbers (Tables 2, 7, 9-15) for a key of `PAPER_SETS` by method, CKA and k-NN as
    means over its downstream sets. A star says that some are computed from what it prints, by its
    own formulas (data/papers/README.md).
    """
    wanted = PAPER_SETS[classes]
    lines = cells("truly")
    lines = lines[
        (lines["model"] == wanted.model)
        & (lines["near"] == wanted.near)
        & (lines["amount"] == wanted.count / 1000)
        & (lines["table"] != "5")
    ]
    # Tables 13 to 15 repeat Table 3, but for SCAR's AGR: Table 15 has 0.94, which its H-LR and
    # Tables 3, 13 and 14 contradict
    again = (lines["table"] == "3") & ~lines["metric"].isin(["agr", "h_lr"])
    lines = lines[~again].drop_duplicates(["method", "metric"])
    values = lines.pivot(index="method", columns="metric", values="value")
    found = {
        "CKA to Retrain": values.filter(regex="^cka_retrain").mean(axis="columns"),
        "k-NN": values.filter(regex="^knn_(?!gap)").mean(axis="columns"),
        **{catalog.metric(name).short: values.get(name) for name in ("agl", "agr", "h_lr")},
    }
    star = "*" if (lines["mark"] == "computed").any() else ""
    return pd.DataFrame(found).dropna(axis="columns", how="all").add_suffix(f", paper{star}")


# -- two data sets, and all layers against the classifier alone


def elsewhere(everything: pd.DataFrame, values: pd.DataFrame) -> pd.Series:
    """AGL by (method, preset), the mean over the runs of whole classes among `everything`, all of
    another data set.
    """
    scenarios = [card.id for card in catalog.scenarios() if card.class_wise]
    runs = plain(everything[everything["scenario"].isin(scenarios)])
    agl = values[values["metric"] == "agl"].dropna(subset="value").merge(runs, on="key")
    return agl.astype({"value": float}).groupby(["method", "method_preset"])["value"].mean()


def twins(runs: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Runs on all layers beside those on the classifier alone that are alike in everything else:
    `all` and `classifier` (keys), CKA of both encoders, and both AGL; pairs that lack any of these
    are left out.

    A run on the classifier alone leaves the features as the original's, so the other's CKA to it is
    its CKA to the original. A pair of which the second has other features is left out.
    """
    said = [json.loads(text) for text in runs["parameters"]]
    marked = runs.assign(
        scope=[each.pop("scope", "all") for each in said],
        rest=[json.dumps(each, sort_keys=True) for each in said],
    )
    alike = ["rest", "method", "scenario", "scenario_parameters"]
    seeds = ["training_seed", "unlearning_seed", "evaluation_seed"]
    pairs = marked.pivot_table(
        index=[*alike, *seeds], columns="scope", values="key", aggfunc="first"
    )
    pairs = pairs.reindex(columns=["all", "classifier"]).dropna().reset_index(drop=True)
    cka, agl = (
        values[values["metric"] == name].set_index("key")["value"].astype(float)
        for name in ("cka_original_test", "agl")
    )
    pairs = pairs.assign(
        cka=pairs["all"].map(cka).where(pairs["classifier"].map(cka) >= SAME),
        agl=pairs["all"].map(agl),
        agl_classifier=pairs["classifier"].map(agl),
    )
    return pairs.dropna()


def gains(rows: Sequence[Row], pairs: pd.DataFrame) -> pd.DataFrame:
    """Of each row with `twins` the means over its pairs, by its id: cka, agl, agl_classifier, the
    gain of all layers, and how many pairs.
    """
    owners = {key: row.id for row in rows for key in row.keys}
    numbers = ["cka", "agl", "agl_classifier"]
    groups = pairs.groupby(pairs["all"].map(owners), sort=False)
    found = groups[numbers].mean().assign(pairs=groups.size())
    return found.assign(gain=found["agl"] - found["agl_classifier"])
