"""Where metrics agree on the order of methods, in a table."""

from __future__ import annotations

import pandas as pd

from dashboard.frames.tradeoffs.measures import short_name


def tau_frame(tau: pd.DataFrame) -> pd.DataFrame:
    """The matrix under the metrics' short names."""
    heads = [short_name(name) for name in tau.columns]
    shown = tau.round(3).set_axis(heads, axis=1)
    shown.insert(0, "Metric", heads)
    return shown.reset_index(drop=True)
