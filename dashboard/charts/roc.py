"""ROC curve of one attack on one run: forgotten samples against test samples, with Retrain's
(dashed) and Original's (dotted) beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, references
from dashboard.frames.membership import Scored
from mucore.metrics import mia

EDGE = 0.05  # percent, where the log axis begins


@dataclass(frozen=True, eq=False)
class Curve:
    """Rates in percent from (0, 0) to (100, 100), the area under them, and by false-positive rate
    the true-positive one, of rates that the negatives are enough for.
    """

    name: str
    false: np.ndarray
    true: np.ndarray
    auc: float
    at: Mapping[float, float]


def curve(name: str, scored: Scored) -> Curve:
    scores = {"positives": scored.forget, "negatives": scored.negatives}
    false, true = mia.roc(**scores)
    at = {
        100 * rate: 100 * mia.tpr_at_fpr(**scores, fpr=rate)
        for rate in mia.LOW_RATES
        if rate * len(scored.negatives) >= 1
    }
    return Curve(name, 100 * false, 100 * true, 100 * mia.auc(**scores), at)


def draw(curves: Sequence[Curve], *, family: str, dark: bool) -> go.Figure:
    """The curves as steps on a log axis, where a rate of 0 stands at the left edge; the first is
    that of the run, in the colour of its `family`.
    """
    look, color = theme.ground(dark), theme.family_style(family).color(dark)
    figure = axes.figure(dark=dark)
    guess = np.geomspace(EDGE, 100, 60)
    thin = {"color": look.muted, "width": 1}
    figure.add_scatter(x=guess, y=guess, name="Guess", mode="lines", line=thin, hoverinfo="skip")
    for each in reversed(curves):  # the run above all
        line = {"color": color, "width": 2.6}
        if each.name in references.DASHES:
            line = references.line(each.name, look, 1.4)
        figure.add_scatter(
            x=np.maximum(each.false, EDGE),
            y=each.true,
            name=f"{each.name}, area {each.auc:.1f} %",
            mode="lines",
            line=line | {"shape": "hv"},
            hovertemplate=f"<b>{each.name}</b><br>TPR %{{y:.1f}} % at %{{x:.2g}} % FPR"
            "<extra></extra>",
        )
    figure.add_scatter(
        x=list(curves[0].at),
        y=list(curves[0].at.values()),
        mode="markers+text",
        text=[f"{true:.1f} %" for true in curves[0].at.values()],
        textposition="top left",
        textfont={"color": look.text, "size": 12},
        marker={"symbol": "diamond-open", "size": 11, "color": color, "line": {"width": 2}},
        hoverinfo="skip",
        showlegend=False,
    )
    ticks = (0.1, 1, 10, 100)
    figure.update_xaxes(
        type="log",
        range=[float(np.log10(EDGE)), 2.03],
        tickvals=ticks,
        ticktext=[f"{value:g}" for value in ticks],
        title="FPR: test samples called seen, % (log scale)",
    )
    figure.update_yaxes(
        range=[-3, 106], title="TPR: forgotten samples called seen, %", zeroline=False
    )
    figure.update_layout(height=380, margin={"t": 40}, legend=axes.below(-0.28))
    return figure


def alt_text(curves: Sequence[Curve]) -> str:
    low = "".join(f", TPR {y:.1f} % at {x:g} % false positives" for x, y in curves[0].at.items())
    areas = "; ".join(f"{each.name} {each.auc:.1f} %" for each in curves)
    return f"ROC curves, forgotten against test samples. Area under the curve: {areas}{low}."
