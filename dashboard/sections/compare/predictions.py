"""Predictions: the share of samples on which two models say the same."""

from __future__ import annotations

import pandas as pd

from dashboard import state
from dashboard.charts import agreement
from dashboard.frames import compare as compare_frames
from dashboard.sections.compare.selection import Chosen, pick_common
from dashboard.widgets import clicks, figures

WHAT = "same predictions, %"


def show(chosen: Chosen) -> None:
    chosen, found, split = pick_common(chosen)
    if found is None:
        return
    shares = compare_frames.shared_predictions(found)
    square = pd.DataFrame(shares, chosen.names, chosen.names)
    figure = agreement.draw(square, WHAT, signed=False, dark=state.dark())
    alt = agreement.alt_text(square, WHAT, signed=False)
    clicks.heatmap(figure, "predictions", lambda _, row, __: chosen.results[row].key, alt=alt)
    frame = (100 * square).round(2).rename_axis("Run").reset_index()
    figures.numbers(frame, f"same-predictions-{split}", figure)
