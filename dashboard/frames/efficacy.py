"""What the tab Efficacy computes: efficacy and its bound by forget set and method. What the paper
finds is beside it, in `efficacy_paper`.

Efficacies are powers of ten throughout, as the store holds them: 1 / information in the weights
about the forget set; lower is less exposed. No Streamlit, no plotly. Source: Becker & Liebig,
Evaluating Machine Unlearning via Epistemic Uncertainty, 2022.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from dashboard import frames
from dashboard.text import verdicts
from dashboard.text.labels import forget_set_text, method_names, number
from mucore import catalog
from mucore.metrics.membership import ATTACKS
from mucore.spec import variants
from mucore.spec.run import REVISION
from mucore.spec.variants import Variant
from mucore.statistics.significance import half_band
from mucore.verdicts import Judged

METRICS = ("efficacy", "efficacy_bound")
UNTRAINED = "untrained"  # in place of a method: the network before training
ACCURACIES = ("ra", "fa", "ta")
ENOUGH = 4  # runs or pairs below which no rank correlation is told
UNCLEAR = (0.25, 0.75)  # shares of pairs between which a direction is no finding


@dataclass(frozen=True)
class Line:
    """One method with one set of parameters, under one name on the whole page."""

    id: str
    method: str
    title: str
    family: str


def run_frame(
    runs: pd.DataFrame, values: pd.DataFrame, judged: Mapping[str, Judged] | None = None
) -> pd.DataFrame:
    """One line a run: key, row, method, title, family, set, training_seed, efficacy, efficacy_bound
    (powers of ten), ra, fa, ta, and `seen_<attack>`, the share of the forget set that the attack
    takes for members, 1 − MIA efficacy. NaN where a number is missing. `judged` (`data.judged`)
    brings the verdict of the run's line on its forget set: `said` (as tables show it, "" for none).
    An original that tells of the network
    before training has a second line, of the method `UNTRAINED`, with its efficacy and key alone.
    """
    wanted = [*METRICS, "efficacy_untrained", *ACCURACIES, *(f"mia_{attack}" for attack in ATTACKS)]
    here = values[values["key"].isin(runs["key"]) & values["metric"].isin(wanted)]
    wide = (
        here.pivot(index="key", columns="metric", values="value")
        .reindex(columns=wanted)
        .astype(float)
    )
    columns = [
        "key",
        "method",
        "method_preset",
        "parameters",
        "scenario_parameters",
        "training_seed",
        "forget_count",
    ]
    frame = runs[columns].merge(wide.reset_index(), on="key", how="left")
    frame["row"] = [
        frames.row_id(method, text)
        for method, text in zip(frame["method"], frame["parameters"], strict=True)
    ]
    for attack in ATTACKS:
        frame[f"seen_{attack}"] = 1 - frame.pop(f"mia_{attack}")
    frame["set"] = frame.pop("scenario_parameters")
    found = [line.verdict if (line := (judged or {}).get(key)) else None for key in frame["key"]]
    frame["said"] = ["" if verdict is None else verdicts.text(verdict) for verdict in found]
    before = frame[(frame["method"] == "original") & frame["efficacy_untrained"].notna()]
    if len(before):
        before = before[
            ["key", "set", "parameters", "training_seed", "forget_count", "efficacy_untrained"]
        ]
        before = before.rename(columns={"efficacy_untrained": "efficacy"}).assign(
            method=UNTRAINED, method_preset="", row=UNTRAINED
        )
        before = before.assign(said="")
        frame = pd.concat([frame, before], ignore_index=True)
    frame = frame.drop(columns="efficacy_untrained")
    titles = {line.id: line for line in lines(frame)}
    frame["title"] = [titles[row].title for row in frame["row"]]
    frame["family"] = [titles[row].family for row in frame["row"]]
    return frame


def lines(frame: pd.DataFrame) -> list[Line]:
    """The methods of the page, references first, then in the catalogue's order; rows of one method
    are told apart by `variants.names`.
    """
    order = [
        UNTRAINED,
        "original",
        "retrain",
        *(card.id for card in catalog.methods() if card.id not in ("original", "retrain")),
    ]
    made = []
    for method, group in frame.drop_duplicates("row").groupby("method", sort=False):
        title, family = (
            ("Before training", "reference") if method == UNTRAINED else method_names(str(method))
        )
        kinds = [
            Variant(settings=json.loads(t), preset=p)
            for p, t in zip(group["method_preset"], group["parameters"], strict=True)
        ]
        for row, label in zip(group["row"], variants.names(str(method), kinds), strict=True):
            made.append(
                Line(str(row), str(method), f"{title} ({label})" if label else title, family)
            )
    return sorted(
        made,
        key=lambda line: (
            order.index(line.method) if line.method in order else len(order),
            line.title,
        ),
    )


def panel_lines(found: Sequence[Line], frame: pd.DataFrame, most: int) -> list[Line]:
    """Those of the `lines` of a frame for which a figure of `most` panels has room: references,
    then what is there for most forget sets; in their order.
    """
    count = frame.groupby("row")["set"].nunique()
    wanted = sorted(
        found,
        key=lambda line: (
            line.family != "reference",
            -count[line.id] if line.family != "reference" else 0,
        ),
    )
    return [line for line in found if line in wanted[:most]]


def noise(frame: pd.DataFrame, column: str) -> dict[str, tuple[float, float]]:
    """By forget set, where a Retrain of another seed stands in a column: the mean of its seeds and,
    either way, half of the band of every two of them. Sets with one seed of it are left out.
    """
    mine = frame[(frame["method"] == "retrain") & frame[column].notna()]
    if mine.empty:
        return {}
    usual = mine.groupby("row")["training_seed"].nunique().idxmax()
    seeds = mine[mine["row"] == usual].groupby(["set", "training_seed"])[column].mean()
    found = {}
    for name, each in seeds.groupby(level="set"):
        if (half := half_band(each.tolist())) is not None:
            found[str(name)] = (float(each.mean()) - half, float(each.mean()) + half)
    return found


def sets(frame: pd.DataFrame) -> list[str]:
    """The forget sets that have an efficacy, smallest first."""
    known = frame[frame["efficacy"].notna() | frame["efficacy_bound"].notna()]
    size = known.groupby("set")["forget_count"].median()
    return [
        str(name) for name in sorted(size.index, key=lambda name: (float(size[name]), str(name)))
    ]


def set_labels(names: Sequence[str], dataset: str = "") -> dict[str, str]:
    """A short name for each forget set: the settings in which they differ, all of them where there
    is one set; a lone amount as it is.
    """
    settings = [json.loads(name) for name in names]
    keys = [key for key in dict.fromkeys(chain(*settings)) if key != REVISION]
    shown = [key for key in keys if len({str(each.get(key)) for each in settings}) > 1] or keys
    lone = f"{shown[0]} " if shown in (["budget"], ["fraction"]) else ""
    texts = [
        forget_set_text({key: each[key] for key in shown if key in each}, dataset).removeprefix(
            lone
        )
        for each in settings
    ]
    return dict(zip(names, texts, strict=True))


def pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Retrain beside Original of the same forget set and training seed: columns retrain, original
    and untrained, powers of ten; NaN in the last where the network before training was not looked
    at.
    """
    both = frame[
        frame["method"].isin(["retrain", "original", UNTRAINED]) & frame["efficacy"].notna()
    ]
    wide = both.pivot_table(
        index=["set", "training_seed"], columns="method", values="efficacy", aggfunc="mean"
    )
    return wide.reindex(columns=["retrain", "original", UNTRAINED]).dropna(
        subset=["retrain", "original"]
    )


def correlation(one: pd.Series, other: pd.Series) -> tuple[float, int] | None:
    """Spearman's rank correlation of two columns over runs that have both, and how many; None below
    `ENOUGH` or where one never varies.
    """
    table = np.array([one.to_numpy(float), other.to_numpy(float)])
    table = table[:, ~np.isnan(table).any(axis=0)]
    count = table.shape[1]
    if count < ENOUGH or (table == table[:, :1]).all(axis=1).any():
        return None
    return float(np.corrcoef(rankdata(table, axis=1))[0, 1]), count


def sentence(frame: pd.DataFrame) -> str:
    """What retraining does to efficacy, by the median pair; "" without one."""
    both = pairs(frame)
    if both.empty:
        return ""
    change = both["retrain"] - both["original"]
    if (change < 0).mean() < UNCLEAR[1]:
        return "Efficacy does not tell Retrain from Original here."
    by = number(abs(float(change.median())), "ratio")
    return f"Retrain is less exposed than Original, by {by} powers of ten."
