"""Paired tests of methods, in a table."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dashboard.frames.tradeoffs.lines import line_title
from dashboard.frames.tradeoffs.measures import Measure, measure
from mucore import catalog
from mucore.catalog.cards import MetricCard
from mucore.statistics import Statistics
from mucore.statistics.significance import LEVEL


def pairs_frame(found: Statistics, forgot: Mapping[str, int]) -> pd.DataFrame:
    """The paired tests, most certain first, the better method of each pair on the left; `forgot`
    counts settings, as in `forgot_in`.
    """
    card = catalog.metric(found.metric)
    how = measure(found.metric)
    settings = len({setting for setting, _ in found.blocks})
    head = "Scenarios" if settings > 1 else "Seeds"
    made = []
    columns = (
        found.pairs[name].tolist() for name in ("first", "second", "difference", "n", "p", "p_holm")
    )
    for better, worse, difference, blocks, p, holm in zip(*columns, strict=True):
        if difference > 0:
            better, worse = worse, better
        line = {
            "Better": line_title(better),
            "Worse": line_title(worse),
            "Better forgot in": f"{forgot[better]} of {settings}",
            difference_head(card, how): abs(difference) * how.scale,
            head: blocks,
            "p": p,
            "p (Holm)": holm,
        }
        made.append(
            line
            | {"Significant": "yes" if holm < 1 - LEVEL else "equal" if difference == 0 else "no"}
        )
    heads = [
        "Better",
        "Worse",
        "Better forgot in",
        difference_head(card, how),
        head,
        "p",
        "p (Holm)",
        "Significant",
    ]
    return pd.DataFrame(made, columns=heads).sort_values(
        ["p (Holm)", heads[3]], ascending=[True, False], ignore_index=True
    )


def difference_head(card: MetricCard, how: Measure) -> str:
    unit = "points" if how.unit == "percent" else how.unit_name
    return (
        f"Median difference in {card.short}{' gap' if how.gap else ''}{f', {unit}' if unit else ''}"
    )
