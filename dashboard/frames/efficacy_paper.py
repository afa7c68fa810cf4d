"""What these results say of the findings of Becker & Liebig, Evaluating Machine Unlearning via
Epistemic Uncertainty, 2022, and of the numbers that they print. From `efficacy.run_frame`; powers
of ten throughout. No Streamlit, no plotly.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.frames.efficacy import ACCURACIES, ENOUGH, UNCLEAR, UNTRAINED, correlation, pairs
from dashboard.papers.tables import cells
from dashboard.text.labels import method_names, number
from dashboard.text.units import joined

TENFOLD = (0.7, 1.3)  # powers of ten that count as an order of magnitude: 5 to 20 times
SAME_ORDER = 0.8  # rank correlation from which two orders count as one
WEAK = 0.2  # absolute rank correlation below which there is no direction


@dataclass(frozen=True)
class Finding:
    """One finding of the paper, and what these results say of it. `holds`: whether all of it is as
    they have it; None where they leave a part of it open and contradict none. `partly` then says
    which part is as in the paper, and which is open.
    """

    paper: str
    sentence: str
    holds: bool | None
    partly: str = ""


def findings(frame: pd.DataFrame, *, attack: str) -> tuple[Finding, ...]:
    """E1 to E4 of the paper against these runs, by its own numbers; `attack` is the one whose mean
    probability over the forget set the column `probability` holds, NaN where no predictions are
    kept.
    """
    return (_lowered(frame), _direction(frame, attack), _ordering(frame), _accuracies(frame))


def _lowered(frame: pd.DataFrame) -> Finding:
    paper = "Training raises efficacy, forgetting lowers it."
    both = pairs(frame)
    if both.empty:
        return Finding(
            paper,
            "No forget set has both Original's and Retrain's efficacy with the same training seed.",
            None,
        )
    change = both["retrain"] - both["original"]
    lower = int((change < 0).sum())
    sentence = (
        f"Retrain lowered efficacy against Original in {lower} of {len(both)} pairs with the "
        "same forget set and seed; median change "
        f"{number(float(change.median()), 'ratio', signed=True)} powers of ten."
    )
    shares: list[float | None] = [lower / len(both)]
    training = (both["original"] - both[UNTRAINED]).dropna()
    if len(training):
        higher = int((training > 0).sum())
        sentence += (
            f" Training had raised it in {higher} of {len(training)}; median change "
            f"{number(float(training.median()), 'ratio', signed=True)}."
        )
        shares.append(higher / len(training))
    else:
        sentence += " Efficacy before training is not among these results."
        shares.append(None)
    return Finding(paper, sentence, _all([_mostly(share) for share in shares]))


def _mostly(share: float | None) -> bool | None:
    """Whether most of the pairs show it; None where about half do, or there is none."""
    return None if share is None or UNCLEAR[0] < share < UNCLEAR[1] else share >= UNCLEAR[1]


def _all(parts: Sequence[bool | None]) -> bool | None:
    """Whether all parts of a finding hold: one that does not decides, then one that is open."""
    return False if False in parts else None if None in parts else True


def _direction(frame: pd.DataFrame, attack: str) -> Finding:
    paper = (
        "Lower efficacy goes with a lower mean membership probability for Retrain and Fisher, "
        "with a higher one for Amnesiac."
    )
    found = {}
    for method, group in frame.groupby("method", sort=False):
        if (
            method != "original"
            and (measured := correlation(group["efficacy"], group["probability"])) is not None
        ):
            found[str(method)] = measured
    if not found:
        return Finding(
            paper,
            f"No method has {ENOUGH} runs with predictions whose efficacy and probability by the "
            f"{attack} attack both vary.",
            None,
        )
    together = [method for method, (rho, _) in found.items() if rho > 0]
    wanted = ("retrain", "fisher", "amnesiac")
    named = [m for m in wanted if m in found]
    parts = [
        f"{method_names(m)[0]} {number(found[m][0], 'ratio', signed=True)} over {found[m][1]} runs"
        for m in named
    ]
    sentence = (
        f"Efficacy and the mean probability by the {attack} attack rise together in "
        f"{len(together)} of {len(found)} methods (rank correlation above 0)"
    )
    sentence += (
        f": {', '.join(parts)}." if parts else "; Retrain, Fisher and Amnesiac have too few runs."
    )
    clear = {m: (found[m][0] > 0) == (m != "amnesiac") for m in named if abs(found[m][0]) >= WEAK}
    if weak := [method_names(m)[0] for m in named if m not in clear]:
        sentence += f" Below {WEAK} there is no direction: {', '.join(weak)}."
    if named and (absent := [method_names(m)[0] for m in wanted if m not in found]):
        sentence += (
            " Without a correlation, because there are too few runs or one of the two never "
            f"varies: {', '.join(absent)}."
        )
    holds = _all([clear.get(m) for m in wanted])
    names = [
        joined([method_names(m)[0] for m in wanted if (m in clear) == known])
        for known in (True, False)
    ]
    partly = f"Appears for {names[0]}, cannot be told for {names[1]}" if clear else ""
    return Finding(paper, sentence, holds, partly if holds is None else "")


def _ordering(frame: pd.DataFrame) -> Finding:
    paper = "The bound keeps the ordering, an order of magnitude higher."
    measured = correlation(frame["efficacy"], frame["efficacy_bound"])
    if measured is None:
        return Finding(paper, f"Fewer than {ENOUGH} runs have both efficacy and bound.", None)
    rho, runs = measured
    above = float((frame["efficacy_bound"] - frame["efficacy"]).median())
    kept, tenfold = rho >= SAME_ORDER, TENFOLD[0] <= above <= TENFOLD[1]
    order = "The bound keeps the order" if kept else "The bound does not keep the order"
    lies = f"{number(abs(above), 'ratio')} powers of ten {'higher' if above >= 0 else 'lower'}"
    far = (
        ""
        if tenfold or above < 0
        else f": {'less' if above < TENFOLD[0] else 'more'} than an order of magnitude"
    )
    sentence = (
        f"{order} of {runs} runs: the rank correlation is {number(rho, 'ratio', signed=True)}, "
        f"and 1 is the same order. It lies {lies} in the median{far}."
    )
    return Finding(paper, sentence, kept and tenfold)


def _accuracies(frame: pd.DataFrame) -> Finding:
    paper = "Fisher does not change accuracy at all, Amnesiac destroys it."
    base = frame[frame["method"] == "original"].groupby(["set", "training_seed"])["ta"].mean()
    moved = {}
    for method in ("fisher", "amnesiac"):
        own = frame[frame["method"] == method].groupby(["set", "training_seed"])["ta"].mean()
        change = (own - base).dropna()
        if len(change):
            moved[method] = float(change.mean())
    if not moved:
        return Finding(paper, "Neither Fisher forgetting nor Amnesiac is among these runs.", None)
    parts = [
        f"{method_names(m)[0]} moved TA by {number(change, 'percent', signed=True)} points"
        for m, change in moved.items()
    ]
    sentence = f"Against Original, {' and '.join(parts)} (mean over runs)."
    if absent := [method_names(m)[0] for m in ("fisher", "amnesiac") if m not in moved]:
        sentence += f" There is no {absent[0]} here."
    agree = [
        abs(moved["fisher"]) < 0.01 if "fisher" in moved else None,
        moved["amnesiac"] < -0.3 if "amnesiac" in moved else None,
    ]
    return Finding(paper, sentence, _all(agree))


def paper_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The paper's Tables 1 and 2 (RA, FA, TA by method and share of the class) with ours beside
    them, percent, mean ± standard deviation.

    Ours are the runs that forgot the same share of a class, all runs of the method where the paper
    prints one line for any share.
    """
    made = []
    shares = frame["set"].map(lambda text: json.loads(text).get("fraction"))
    lines = cells("efficacy").groupby(["table", "name", "amount"], sort=False, dropna=False)
    for _, group in lines:
        printed, first = group.set_index("metric"), group.iloc[0]
        share = float(first["amount"])
        ours = frame[frame["method"] == first["method"]]
        if not np.isnan(share):
            ours = ours[shares[ours.index] == share]
        line: dict[str, object] = {
            "Paper's data": first["dataset"],
            "Method": first["name"],
            "Share of the class": "any" if np.isnan(share) else f"{100 * share:g} %",
        }
        for metric in ACCURACIES:
            mean, deviation = (float(printed.loc[metric, field]) for field in ("value", "spread"))
            line[f"{metric.upper()}, paper"] = _with_deviation(mean, deviation)
            line[f"{metric.upper()}, here"] = _with_deviation(
                float(ours[metric].mean()), float(ours[metric].std())
            )
        made.append(line | {"Runs here": len(ours)})
    return pd.DataFrame(made)


def _with_deviation(mean: float, deviation: float) -> str:
    """Percent, with the standard deviation of two values or more."""
    half = "" if np.isnan(deviation) else f" ± {number(deviation, 'percent')}"
    return number(mean, "percent") + half
