"""What these results say of the findings of Becker & Liebig, Evaluating Machine Unlearning via
Epistemic Uncertainty, 2022, and of the numbers that they print. From `efficacy.run_frame`; powers
of ten throughout. No Streamlit, no plotly.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.frames.efficacy import ACCURACIES, UNCLEAR, UNTRAINED, correlation, pairs
from dashboard.papers.tables import cells
from dashboard.text.labels import method_names, number

TENFOLD = (0.7, 1.3)  # powers of ten that count as an order of magnitude: 5 to 20 times
SAME_ORDER = 0.8  # rank correlation from which two orders count as one
WEAK = 0.2  # absolute rank correlation below which there is no direction


@dataclass(frozen=True)
class Finding:
    """One finding of the paper and the number that says it here, over so many runs or pairs; None
    where there are too few. `holds`: whether it is as they have it, None where that is open.
    """

    paper: str
    measure: str
    value: float | None
    runs: int
    holds: bool | None

    @property
    def text(self) -> str:
        return number(self.value, "ratio", signed=True)


def findings(frame: pd.DataFrame, column: str) -> tuple[Finding, ...]:
    """E1 to E4 of the paper against these runs; `column` is what stands for membership."""
    both = pairs(frame)
    changes = (
        ("Forgetting lowers efficacy", "Retrain less Original", both["retrain"] - both["original"]),
        ("Training raises efficacy", "untrained less Original", both[UNTRAINED] - both["original"]),
    )
    made = [_change(paper, what, change.dropna()) for paper, what, change in changes]
    for method, up in (("retrain", True), ("fisher", True), ("amnesiac", False)):
        mine = frame[frame["method"] == method]
        found = correlation(mine["efficacy"], mine[column])
        rho, runs = found or (None, len(mine))
        holds = None if rho is None or abs(rho) < WEAK else (rho > 0) == up
        paper = (
            f"{'Less' if up else 'More'} membership where less exposed: {method_names(method)[0]}"
        )
        made.append(Finding(paper, "rank correlation", rho, runs, holds))
    rho, runs = correlation(frame["efficacy"], frame["efficacy_bound"]) or (None, 0)
    above = float((frame["efficacy_bound"] - frame["efficacy"]).median()) if runs else None
    kept = None if rho is None else rho >= SAME_ORDER
    tenfold = None if above is None else TENFOLD[0] <= above <= TENFOLD[1]
    made += [
        Finding("The bound keeps the order", "rank correlation", rho, runs, kept),
        Finding("The bound is ten times higher", "powers of ten", above, runs, tenfold),
    ]
    base = frame[frame["method"] == "original"].groupby(["set", "training_seed"])["ta"].mean()
    for method, paper in (("fisher", "keeps accuracy"), ("amnesiac", "destroys accuracy")):
        own = frame[frame["method"] == method].groupby(["set", "training_seed"])["ta"].mean()
        moved = 100 * (own - base).dropna()
        value = float(moved.mean()) if len(moved) else None
        holds = None if value is None else abs(value) < 1 if method == "fisher" else value < -30
        name = method_names(method)[0]
        made.append(Finding(f"{name} {paper}", "TA, points", value, len(moved), holds))
    return tuple(made)


def _change(paper: str, what: str, change: pd.Series) -> Finding:
    """Whether most of the pairs have a change below 0; None where about half do."""
    value = float(change.median()) if len(change) else None
    share = float((change < 0).mean()) if len(change) else None
    holds = None if share is None or UNCLEAR[0] < share < UNCLEAR[1] else share >= UNCLEAR[1]
    return Finding(paper, f"{what}, powers of ten", value, len(change), holds)


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
