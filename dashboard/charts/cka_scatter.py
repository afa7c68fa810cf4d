"""Does the encoder forget? Likeness of features to the original's on x, to Retrain's on y, one mark
a method (Are We Truly Forgetting?, Figure 4a).

Both axes are CKA, 0..1, and have one scale. On the diagonal a model is as close to both; Retrain
stands at y = 1, the original at x = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import frames, theme
from dashboard.charts.parts import axes, intervals, name_labels, noise, scatter
from dashboard.charts.parts.scatter import Spot
from dashboard.frames import Row, verdict_text
from dashboard.frames.representation import Paper, similarity, where

_WORDS = 0.11  # of the figure's width: half of what words on the diagonal take, in either direction
_APART = 0.05  # of its width: between words on the diagonal and the nearest mark or name
GHOST = "The paper prints the CKA to Retrain alone, so its methods are ticks on the right."


@dataclass(frozen=True)
class Mark:
    """One method: CKA to the original (x) and to Retrain (y), means over training seeds, with half
    widths of the 95 % t-intervals.
    """

    row: str
    key: str  # its first run
    title: str
    family: str
    x: float
    y: float
    x_half: float | None
    y_half: float | None
    said: str = ""  # its verdict


@dataclass(frozen=True)
class CkaScatterInfo:
    """Marks of the methods; `whole` holds all of them and the references, `near` is the corner of
    the references, both squares.
    """

    split: str
    marks: tuple[Mark, ...]
    original: tuple[float, float] | None  # (1, CKA to Retrain)
    retrain: tuple[float, float] | None  # (CKA to the original, 1)
    missing: tuple[tuple[str, str], ...]  # title and reason of rows without both
    ghosts: tuple[tuple[str, float], ...]  # the paper's methods: title, CKA to Retrain
    ghost_original: float | None  # the paper's CKA of original and Retrain
    whole: tuple[float, float]
    near: tuple[float, float]
    outside: tuple[str, ...]  # titles beyond `near`
    # half of the band of Retrain's own CKA to the original over its seeds; its CKA to itself is 1
    noise: float | None = None

    @property
    def original_side(self) -> int:
        """How many methods are nearer to the original than to Retrain."""
        return sum(mark.x > mark.y for mark in self.marks)

    @property
    def note(self) -> str:
        """What is to be said about the intervals, if not all of them are drawn."""
        return intervals.note(
            len(self.marks), [half for mark in self.marks for half in (mark.x_half, mark.y_half)]
        )


def cka_scatter_info(
    rows: Sequence[Row], split: str, paper: Sequence[Paper] = ()
) -> CkaScatterInfo:
    """The scatter of `frames.representation.similarity_rows`; `paper` adds the paper's values as
    ghosts.
    """
    marks, missing = [], []
    places: dict[str, tuple[float, float]] = {}
    for row in rows:
        x, y = row.cells[f"cka_original_{split}"], row.cells[f"cka_retrain_{split}"]
        if x.value is None or y.value is None:
            missing.append((row.title, x.reason or y.reason))
        elif row.reference:
            places[row.method] = (x.value.mean, y.value.mean)
        else:
            halves = (x.value.half, y.value.half)
            marks.append(
                Mark(
                    row.id,
                    row.keys[0],
                    row.title,
                    row.family,
                    x.value.mean,
                    y.value.mean,
                    *halves,
                    verdict_text(row),
                )
            )
    ghosts = tuple(
        (one.title, one.cka)
        for one in paper
        if one.cka is not None and one.method not in ("original", "retrain")
    )
    ghost_original = next((one.cka for one in paper if one.method == "original"), None)
    anchors = [value for place in places.values() for value in place]
    everything = [
        *anchors,
        *(value for mark in marks for value in (mark.x, mark.y)),
        *(value for _, value in ghosts),
        1.0,
    ]
    everything += [] if ghost_original is None else [ghost_original]
    between = min(anchors) if anchors else min(everything)
    near = (1 - 2.2 * max(1 - between, 0.01), 1 + 0.25 * max(1 - between, 0.01))
    return CkaScatterInfo(
        split=split,
        marks=tuple(marks),
        original=places.get("original"),
        retrain=places.get("retrain"),
        missing=tuple(missing),
        ghosts=ghosts,
        ghost_original=ghost_original,
        whole=axes.padded((min(everything), 1.0), 0.06, 0.002),
        near=near,
        outside=tuple(mark.title for mark in marks if min(mark.x, mark.y) < near[0]),
        noise=frames.noise(rows, f"cka_original_{split}"),
    )


def draw(info: CkaScatterInfo, *, dark: bool, zoom: bool = False, selected: str = "") -> go.Figure:
    """The scatter; `zoom` shows the corner of the references only, `selected` is the key of the run
    whose method is ringed and named.
    """
    look = theme.ground(dark)
    low, high = info.near if zoom else info.whole
    figure = axes.figure(dark=dark)
    if info.retrain is not None and (span := noise.around(info.retrain[0], info.noise)):
        figure.add_shape(noise.band(look, x=span))
    figure.add_trace(scatter.diagonal(low, high, look, "both"))
    spots = [
        Spot(
            mark.family,
            mark.key,
            mark.x,
            mark.y,
            mark.x_half,
            mark.y_half,
            (mark.title, *_said(mark)),
        )
        for mark in info.marks
    ]
    hover = (
        "<b>%{customdata[1]}</b><br>CKA to the original %{customdata[2]}<br>CKA to Retrain "
        "%{customdata[3]}%{customdata[4]}<extra></extra>"
    )
    scatter.add(figure, spots, hover=hover, dark=dark, selected=selected)
    told = "CKA to the original %{x:.3f}<br>CKA to Retrain %{y:.3f}"
    for title, place in (("Retrain", info.retrain), ("Original", info.original)):
        if place is not None:
            figure.add_trace(scatter.reference(title, *place, look, told=told))
    ghosts = [(title, value) for title, value in info.ghosts if low <= value <= high]
    if ghosts:
        figure.add_trace(_ghosts(ghosts, high, look))
    if info.ghost_original is not None and info.ghost_original >= low:
        both = [(1.0, info.ghost_original, "Original"), (info.ghost_original, 1.0, "Retrain")]
        figure.add_trace(
            go.Scatter(
                x=[x for x, _, _ in both],
                y=[y for _, y, _ in both],
                customdata=[[name] for _, _, name in both],
                name="The paper's references",
                mode="markers",
                marker={
                    "symbol": ["circle-open", "star-open"],
                    "size": 11,
                    "color": look.muted,
                    "line": {"width": 1.5},
                },
                hovertemplate="<b>%{customdata[0]} in the paper</b><br>%{x:.3f}, "
                "%{y:.3f}<extra></extra>",
            )
        )
    marks = [(mark.x, mark.y) for mark in info.marks] + [
        place for place in (info.original, info.retrain) if place is not None
    ]
    must = {
        "Retrain",
        "Original",
        *(mark.title for mark in info.marks if selected and mark.key == selected),
    }
    names = name_labels.place(
        _names(info, selected), (low, high), (low, high), marks, most=12, must=must
    )
    name_labels.write(figure, names, look)
    _corners(figure, low, high, look)
    on = where(info.split)
    scatter.square(
        figure,
        (low, high),
        across=f"CKA to the original, {on}: 1 is unchanged",
        up=f"CKA to Retrain, {on}: 1 is ideal",
    )
    # Room for the title beside the numbers: where both axes keep one scale, plotly does not make
    # it.
    figure.update_layout(height=560, legend=scatter.legend(), margin={"t": 12, "l": 60})
    return figure


def alt_text(info: CkaScatterInfo) -> str:
    if not info.marks:
        return (
            "Scatter of the likeness of features to the original's and to Retrain's; no method "
            "has both yet."
        )
    best = max(info.marks, key=lambda mark: mark.y)
    return (
        f"Scatter of {len(info.marks)} methods on the {where(info.split)}: CKA to the original on "
        f"x, CKA to Retrain on y. {info.original_side} lie on the original's side of the "
        f"diagonal. Nearest to Retrain: {best.title}, {similarity(best.y)}."
    )


def _said(mark: Mark) -> tuple[str, str, str]:
    both = (
        intervals.said(mark.x, mark.x_half, digits=3),
        intervals.said(mark.y, mark.y_half, digits=3),
    )
    return *both, scatter.verdict_line(mark.said)


def _ghosts(ghosts: Sequence[tuple[str, float]], edge: float, look: theme.Ground) -> go.Scatter:
    return go.Scatter(
        x=[edge] * len(ghosts),
        y=[value for _, value in ghosts],
        name="The paper, CKA to Retrain alone",
        mode="markers",
        customdata=[[title] for title, _ in ghosts],
        marker={
            "symbol": "line-ew-open",
            "size": 16,
            "color": look.muted,
            "line": {"width": 2, "color": look.muted},
        },
        hovertemplate="<b>%{customdata[0]} in the paper</b><br>CKA to Retrain "
        "%{y:.3f}<extra></extra>",
        cliponaxis=False,
    )


def _names(info: CkaScatterInfo, selected: str) -> list[tuple[float, float, str]]:
    """The selected method and the references first, then from the nearest to Retrain on."""
    chosen, others = scatter.chosen(info.marks, selected)
    references = [
        (*place, title)
        for place, title in ((info.retrain, "Retrain"), (info.original, "Original"))
        if place is not None
    ]
    others.sort(key=lambda mark: -mark.y)
    return [
        *((mark.x, mark.y, mark.title) for mark in chosen),
        *references,
        *((mark.x, mark.y, mark.title) for mark in others),
    ]


def _corners(figure: go.Figure, low: float, high: float, look: theme.Ground) -> None:
    """What lies on either side of the diagonal."""
    room = 0.03 * (high - low)
    for x, y, text, anchor in (
        (low + room, high - room, "nearer to Retrain", "left"),
        (high - room, low + room, "nearer to the original", "right"),
    ):
        axes.write(figure, text, look.muted, x=x, y=y, xanchor=anchor)
