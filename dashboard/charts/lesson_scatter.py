"""A lesson's scatter: likeness of features to the original's on x, to Retrain's on y, both CKA."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import scatter
from dashboard.charts.parts import noise
from dashboard.charts.scatter import Axis, Dot
from dashboard.lessons.results import LessonResults
from mucore.runs import REFERENCES

ACROSS = Axis(title="CKA to the original: 1 is unchanged", low=-0.04, high=1.06)
UP = Axis(title="CKA to Retrain: 1 is ideal", low=-0.04, high=1.06)
X, Y = "cka_original_forget", "cka_retrain_forget"


def dots_of(results: LessonResults) -> list[Dot]:
    """All models with both numbers, without their verdicts."""
    return [
        Dot(
            key=one.method,
            title=one.title,
            x=one.values[X],
            y=one.values[Y],
            fate="cannot tell",
            told=f"{one.values[X]:.2f} across, {one.values[Y]:.2f} up",
        )
        for one in results.entries
        if one.scenario == results.scenario and {X, Y} <= set(one.values)
    ]


def draw(dots: Sequence[Dot], half: float | None, *, dark: bool) -> go.Figure:
    """`half` is that of the band of Retrains of other seeds across; upwards each is compared with
    itself.
    """
    places = {dot.key: (dot.x, dot.y) for dot in dots}
    figure = scatter.draw(
        [dot for dot in dots if dot.key not in REFERENCES],
        ACROSS,
        UP,
        dark=dark,
        retrain=places.get("retrain"),
        original=places.get("original"),
        diagonal=True,
        height=520,
    )
    band = noise.around(places["retrain"][0] if "retrain" in places else None, half)
    return figure if band is None else figure.add_shape(noise.band(theme.ground(dark), x=band))


def alt_text(dots: Sequence[Dot]) -> str:
    said = "; ".join(f"{dot.title} {dot.told}" for dot in dots)
    return f"CKA to the original across, to Retrain up: {said or 'not measured'}."
