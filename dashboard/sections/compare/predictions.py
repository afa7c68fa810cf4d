"""Predictions: the share of samples on which two models say the same."""

from __future__ import annotations

import pandas as pd

from dashboard import state
from dashboard.charts import agreement
from dashboard.frames import compare as compare_frames
from dashboard.sections.compare.selection import Chosen, pick_common
from dashboard.widgets import clicks, figures


def show(chosen: Chosen) -> None:
    chosen, found, split = pick_common(chosen)
    if found is None:
        return
    titles = chosen.names
    shares = compare_frames.shared_predictions(found)
    info = agreement.agreement_info(titles, shares, what="same predictions, %", signed=False)
    figure = agreement.draw(info, dark=state.dark())
    clicks.heatmap(
        figure,
        "predictions",
        lambda _, row, __: chosen.results[row].key,
        alt=agreement.alt_text(info),
    )
    frame = pd.DataFrame((100 * shares).round(2), columns=titles)
    frame.insert(0, "Run", titles)
    figures.numbers(frame, f"same-predictions-{split}", figure)
