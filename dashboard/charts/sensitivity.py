"""How much a measure depends on a setting: one line a measure, the values of the setting in equal
steps on x (Are We Truly Forgetting?, Figures 6, 8, 10, 11 and 13). Retrain's lines are dashed.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes
from mucore import catalog

# One colour a line: those of families, without their meaning.
_STYLES = ("influence", "gradient_ascent", "teacher", "relabelling", "sparsity", "competition")


def draw(lines: pd.DataFrame, setting: str, texts: Mapping[float, str], *, dark: bool) -> go.Figure:
    """`lines`: columns of `frames.sensitivity.along`, and `of`, "method" or "Retrain"; `texts` name
    the values of x.
    """
    figure = axes.figure(dark=dark)
    values = sorted(texts)
    styles = dict(zip(lines["metric"].unique(), map(theme.family_style, _STYLES), strict=False))
    for of, metric in lines[["of", "metric"]].drop_duplicates().itertuples(index=False, name=None):
        line, style = lines[(lines["of"] == of) & (lines["metric"] == metric)], styles[metric]
        color, half = style.color(dark), line["half"].fillna(0.0)
        up, down = np.minimum(half, 1 - line["mean"]), np.minimum(half, line["mean"])
        name = f"{'Retrain: ' if of == 'Retrain' else ''}{_title(metric)}"
        figure.add_scatter(
            x=[values.index(x) for x in line["x"]],
            y=line["mean"],
            name=name,
            mode="lines+markers",
            line={"color": color, "width": 2, "dash": "dash" if of == "Retrain" else "solid"},
            marker={"symbol": "square", "size": 8, "color": color},
            error_y={"array": up, "arrayminus": down, "thickness": 1, "width": 0, "color": color},
            customdata=[
                [texts[x], seeds] for x, seeds in zip(line["x"], line["seeds"], strict=True)
            ],
            hovertemplate=f"<b>{name}</b><br>{setting} %{{customdata[0]}}<br>%{{y:.3f}}, training "
            "seeds: %{customdata[1]}<extra></extra>",
        )
    figure.update_xaxes(
        title=setting[:1].upper() + setting[1:],
        tickvals=list(range(len(values))),
        ticktext=[texts[value] for value in values],
        zeroline=False,
    )
    low = float(lines["mean"].min())
    floor = min(low - 0.05, 0.9) if low > 0.3 else -0.02
    figure.update_yaxes(title="CKA, agreement or accuracy", range=[floor, 1.03], zeroline=False)
    figure.update_layout(height=430, legend=axes.below(-0.2), showlegend=True, margin={"t": 12})
    return figure


def alt_text(lines: pd.DataFrame, setting: str) -> str:
    parts = [
        f"{_title(str(metric))} from {line['mean'].iloc[0]:.3f} to {line['mean'].iloc[-1]:.3f}"
        for metric, line in lines[lines["of"] == "method"].groupby("metric", sort=False)
    ]
    return f"Lines over {setting} with {lines['x'].nunique()} values: {'; '.join(parts)}."


def _title(metric: str) -> str:
    card = catalog.metric(metric)
    return card.short if metric in ("agl", "agr") else card.title
