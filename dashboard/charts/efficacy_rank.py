"""Methods ranked by efficacy on one forget set, lowest on top; Retrain dashed, Original dotted
(after Becker & Liebig, Figures 2 and 6).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, families, intervals, log_axis, noise, references, strips
from dashboard.charts.parts.noise import Span
from dashboard.frames import half_width
from dashboard.frames.efficacy import UNTRAINED, lines
from dashboard.frames.efficacy import noise as noise_of

SYMBOLS = {"original": "circle-open", UNTRAINED: "circle-open-dot"}


@dataclass(frozen=True)
class Mark:
    """One method, references included: exponents of efficacy and bound, means over training seeds;
    `key` is one of its runs.
    """

    key: str
    keys: tuple[str, ...]
    method: str
    title: str
    family: str
    mean: float
    half: float | None
    bound: float | None
    said: str = ""  # the verdict on the forget set
    grey: bool = False  # a method that is not known to have forgotten


@dataclass(frozen=True)
class EfficacyRankInfo:
    marks: tuple[Mark, ...]  # lowest efficacy first
    retrain: float | None
    original: float | None
    missing: tuple[str, ...]
    # training seeds behind the means; where `shared`, every method has all of them
    seeds: tuple[int, ...]
    shared: bool
    noise: Span | None = None  # where a Retrain of another seed stands


def efficacy_rank_info(frame: pd.DataFrame) -> EfficacyRankInfo:
    """`frame` is `frames.efficacy.run_frame` of one forget set. Means are over the training seeds
    that all methods share, if there are any: seeds differ more than methods do, so means over
    different seeds could not be ranked.
    """
    marks, found = [], lines(frame)
    measured = frame[frame["efficacy"].notna()]
    seeds_of: dict[str, set[int]] = {}
    for row, seed in zip(measured["row"].tolist(), measured["training_seed"].tolist(), strict=True):
        seeds_of.setdefault(row, set()).add(seed)
    each = [seeds_of.get(line.id, set()) for line in found]
    shared = set.intersection(*(seeds for seeds in each if seeds)) if any(each) else set()
    if shared:
        measured = measured[measured["training_seed"].isin(shared)]
    missing = [line.title for line, seeds in zip(found, each, strict=True) if not seeds]
    keys: dict[str, list[str]] = {}
    for row, key in zip(measured["row"].tolist(), measured["key"].tolist(), strict=True):
        keys.setdefault(row, []).append(key)
    seeds_first = measured.groupby(["row", "training_seed"])["efficacy"].mean()
    numbers = seeds_first.groupby(level="row").agg(["mean", "std", "count"])
    numbers["bound"] = measured.groupby("row")["efficacy_bound"].mean()
    mean, deviation, count, bound = (
        numbers[name].to_dict() for name in ("mean", "std", "count", "bound")
    )
    said, qualified = (
        frame.groupby("row")[name].first().to_dict() for name in ("said", "qualified")
    )
    for line in found:
        if line.id not in keys:
            continue
        marks.append(
            Mark(
                key=keys[line.id][0],
                keys=tuple(keys[line.id]),
                method=line.method,
                title=line.title,
                family=line.family,
                mean=mean[line.id],
                half=half_width(deviation[line.id], count[line.id]),
                bound=None if math.isnan(bound[line.id]) else bound[line.id],
                said=said[line.id],
                grey=line.family != "reference" and not qualified[line.id],
            )
        )
    marks.sort(key=lambda mark: (mark.mean, mark.title))
    references = {
        method: next((mark.mean for mark in marks if mark.method == method), None)
        for method in ("retrain", "original")
    }
    seeds = tuple(int(seed) for seed in sorted(set(measured["training_seed"])))
    return EfficacyRankInfo(
        tuple(marks),
        references["retrain"],
        references["original"],
        tuple(missing),
        seeds,
        bool(shared),
        next(iter(noise_of(measured, "efficacy").values()), None),
    )


def draw(info: EfficacyRankInfo, *, dark: bool, selected: str = "") -> go.Figure:
    """One line a method; points carry the key of a run. `selected` is the run whose method is
    ringed.
    """
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    if info.noise is not None:
        figure.add_shape(noise.band(look, x=info.noise))
    for family, mine in families.groups(info.marks).items():
        style = theme.family_style(family)
        colors = [look.muted if mark.grey else style.color(dark) for mark in mine]
        symbols = [SYMBOLS.get(mark.method, style.symbol) for mark in mine]
        figure.add_trace(
            go.Scatter(
                x=[mark.mean for mark in mine],
                y=[mark.title for mark in mine],
                name=families.title(family),
                mode="markers",
                customdata=[
                    [
                        mark.key,
                        f" ± {mark.half:.2f}" if mark.half is not None else "",
                        f"<br>{mark.said}" if mark.said else "",
                    ]
                    for mark in mine
                ],
                marker={
                    "symbol": symbols,
                    "size": 11,
                    "color": colors,
                    "opacity": 1,
                    "line": {
                        "width": 2,
                        "color": [
                            look.text if selected in mark.keys else color
                            for mark, color in zip(mine, colors, strict=True)
                        ],
                    },
                },
                error_x=intervals.bars([mark.half for mark in mine], look.muted),
                hovertemplate="<b>%{y}</b><br>efficacy 10<sup>%{x:.2f}%{customdata[1]}"
                "</sup>%{customdata[2]}<extra></extra>",
                showlegend=False,
            )
        )
    bounded = [mark for mark in info.marks if mark.bound is not None]
    if bounded:
        figure.add_trace(
            go.Scatter(
                x=[mark.bound for mark in bounded],
                y=[mark.title for mark in bounded],
                name="Bound",
                mode="markers",
                marker={
                    "symbol": "line-ns",
                    "size": 10,
                    "opacity": 1,
                    "line": {"width": 2, "color": look.muted},
                },
                hovertemplate="<b>%{y}</b><br>bound 10<sup>%{x:.2f}</sup><extra></extra>",
            )
        )
    for value, name in ((info.retrain, "Retrain"), (info.original, "Original")):
        if value is not None:
            line = references.line(name, look, 1.4)
            figure.add_vline(x=value, line=line, layer="below")
            figure.add_trace(
                go.Scatter(x=[None], y=[info.marks[0].title], name=name, mode="lines", line=line)
            )
    values = [mark.mean for mark in info.marks] + [
        mark.bound for mark in bounded if mark.bound is not None
    ]
    figure.update_xaxes(title=strips.AXIS, **log_axis.axis(*log_axis.span(values)))
    titles = [mark.title for mark in info.marks]
    figure.update_yaxes(
        autorange="reversed", type="category", categoryorder="array", categoryarray=titles
    )
    legend = {"orientation": "h", "y": 1.01, "yanchor": "bottom", "x": 0}
    figure.update_layout(height=150 + 22 * len(titles), legend=legend, margin={"t": 50})
    return figure


def alt_text(info: EfficacyRankInfo) -> str:
    if not info.marks:
        return "Methods ranked by efficacy; none has a value."
    low, high = info.marks[0], info.marks[-1]
    retrain = "" if info.retrain is None else f" Retrain is at 10^{info.retrain:.1f}."
    return (
        f"{len(info.marks)} lines ranked by efficacy on a log scale, from {low.title} "
        f"(10^{low.mean:.1f}) to {high.title} (10^{high.mean:.1f}).{retrain}"
    )
