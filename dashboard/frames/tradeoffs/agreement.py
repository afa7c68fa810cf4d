"""Where metrics agree on the order of methods, in a sentence and a table."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from dashboard.frames.tradeoffs.measures import short_name
from dashboard.text import labels, units
from mucore import catalog


def extremes(tau: pd.DataFrame) -> tuple[tuple[str, str, float], tuple[str, str, float]] | None:
    """The two metrics that agree least and the two that agree most, with their τ; None where no
    pair has one. Costs stay out: that what costs more is often better is no disagreement.
    """
    names = [name for name in tau.columns if catalog.metric(name).group != "cost"]
    table = tau.loc[names, names].to_numpy(float)
    pairs = [
        (names[i], names[j], float(table[i, j]))
        for i, j in zip(*np.triu_indices(len(names), 1), strict=True)
        if math.isfinite(table[i, j])
    ]
    return (
        (min(pairs, key=lambda pair: pair[2]), max(pairs, key=lambda pair: pair[2]))
        if pairs
        else None
    )


def disagreement_text(tau: pd.DataFrame, agreement: pd.DataFrame) -> str:
    """The largest disagreement of two metrics, costs aside, in a sentence; "" where no two can be
    compared.
    """
    found = extremes(tau)
    if found is None:
        return ""
    (first, second, low), _ = found
    both = agreement[
        ((agreement["first"] == first) & (agreement["second"] == second))
        | ((agreement["first"] == second) & (agreement["second"] == first))
    ]
    settings = len(both)
    least, most = int(both["methods"].min()), int(both["methods"].max())
    basis = (
        f"{least if least == most else f'{least} to {most}'} methods in "
        f"{units.count(settings, 'forget set')}"
    )
    value = labels.number(low, "ratio")
    pair = f"{short_name(first)} and {short_name(second)}"
    if low <= -0.1:
        return f"{pair} tend to rank methods in opposite order (τ {value}, {basis})."
    if low < 0.1:
        return f"{pair} rank methods without regard to each other (τ {value}, {basis})."
    return (
        f"No two metrics rank methods in opposite order; {pair} agree least (τ {value}, {basis})."
    )


def tau_frame(tau: pd.DataFrame) -> pd.DataFrame:
    """The matrix under the metrics' short names."""
    heads = [short_name(name) for name in tau.columns]
    shown = tau.round(3).set_axis(heads, axis=1)
    shown.insert(0, "Metric", heads)
    return shown.reset_index(drop=True)
