"""A figure of the page, with what stands below it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure with the numbers behind it; `name` is for files, `of` for the reader."""

    name: str
    of: str
    frame: pd.DataFrame
    figure: go.Figure
