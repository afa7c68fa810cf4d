"""A lesson's scatter: likeness of features to the original's on x, to Retrain's on y, both CKA."""

from __future__ import annotations

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts import similarity_scatter
from dashboard.charts.parts import noise
from dashboard.charts.scatter import Dot
from dashboard.charts.similarity_scatter import Measures, SimilarityScatterInfo
from dashboard.lessons.results import REFERENCES, LessonResults

CKA = Measures(
    x="cka_original_forget",
    y="cka_retrain_forget",
    across="CKA to the original: 1 is unchanged",
    up="CKA to Retrain: 1 is ideal",
)


def lesson_scatter_info(results: LessonResults) -> SimilarityScatterInfo:
    """All models with both numbers, without their verdicts."""
    places = {
        one.method: (one.title, one.values[CKA.x], one.values[CKA.y])
        for one in results.entries
        if one.scenario == results.scenario and {CKA.x, CKA.y} <= set(one.values)
    }
    retrain, original = (
        places[name][1:] if name in places else None for name in ("retrain", "original")
    )
    dots = tuple(
        Dot(
            key=method,
            title=title,
            x=x,
            y=y,
            fate="cannot tell",
            told=f"{x:.2f} across, {y:.2f} up",
        )
        for method, (title, x, y) in places.items()
        if method not in REFERENCES
    )
    return SimilarityScatterInfo(measures=CKA, dots=dots, retrain=retrain, original=original)


def draw(info: SimilarityScatterInfo, half: float | None, *, dark: bool) -> go.Figure:
    """`half` is that of the band of Retrains of other seeds across; upwards each is compared with
    itself.
    """
    figure = similarity_scatter.draw(info, dark=dark)
    band = noise.around(info.retrain[0] if info.retrain else None, half)
    return figure if band is None else figure.add_shape(noise.band(theme.ground(dark), x=band))
