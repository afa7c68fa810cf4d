"""Distance to Retrain, or any metric, against the size of the forget set: a line a method, named at
its end (MUBox, Figures 3 and 4).

x: samples to forget, on a log axis; y: points of distance on a log axis, or the metric in its own
unit. Both as exponents where the axis is logarithmic.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, end_labels, families
from dashboard.charts.scatter import Axis
from dashboard.frames.budget import DISTANCE
from dashboard.text import units, verdicts
from dashboard.text.labels import number
from mucore.verdicts import Verdict

FLOOR: Final = 0.1  # points: the least that a log axis of distances shows
COLOURED: Final = 8  # methods in colour and with a name
DASHES: Final = ("solid", "dash", "dashdot", "longdash")  # of a family's coloured lines, by turns
REFERENCES: Final = {"retrain": "dash", "original": "dot"}
HEIGHT: Final = 470
TOP, BOTTOM = 34, 46  # margins


def of_metric(found: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The `frames.budget.points` to draw; Retrain has no distance to itself."""
    mine = found[found["metric"] == metric]
    return mine[mine["method"] != "retrain"] if metric == DISTANCE else mine


def coloured(found: pd.DataFrame) -> list[str]:
    """The titles of the methods in colour in a panel: those whose distance differs most from that
    of the original, which nobody touched.
    """
    table = of_metric(found, DISTANCE).pivot_table(index="title", columns="size", values="value")
    logs = table.clip(lower=FLOOR).map(math.log)
    base = logs.loc["Original"] if "Original" in logs.index else 0.0
    apart = (logs - base).abs().mean(axis=1).drop("Original", errors="ignore")
    return [*apart.sort_values(ascending=False, kind="stable").index[:COLOURED]]


def dashes(found: pd.DataFrame, vivid: Collection[str]) -> dict[str, str]:
    """How the line of each method in colour is dashed, by its title: the second of a family is not
    as the first.
    """
    lines = found[found["title"].isin(vivid)].drop_duplicates("title")
    turns = lines.groupby("family").cumcount()
    return {
        title: families.dash(family, DASHES[turn % len(DASHES)])
        for title, family, turn in zip(lines["title"], lines["family"], turns, strict=True)
    }


def up(found: pd.DataFrame) -> Axis:
    """The axis that panels of one metric share."""
    heights = found["value"]
    if set(found["metric"]) == {DISTANCE}:
        heights = pd.concat([heights, found["low"], found["high"]]).dropna()
        low = max(FLOOR, min(FLOOR * 10, heights.min()))
        return Axis(title="", low=low / 1.25, high=1.35 * max(low * 10, heights.max()), log=True)
    alike = heights.min() == heights.max()
    low, high = axes.padded(heights.tolist(), 0.08, 0.5 if alike else 0.0)
    return Axis(title="", low=low, high=high)


def draw(
    found: pd.DataFrame,
    title: str,
    axis: Axis,
    turns: Mapping[str, str],
    *,
    dark: bool,
    selected: str = "",
) -> go.Figure:
    """One panel of one metric on the shared `axis`; in colour are the titles of `turns`, which
    gives their dashes, and the `selected` line.
    """
    look, figure = theme.ground(dark), axes.figure(dark=dark)
    sizes = dict(sorted(zip(found["size"], found["share"], strict=True)))
    places = [float(np.log10(size)) for size in sizes]
    named: list[tuple[float, str, str]] = []
    lines = [mine for _, mine in found.groupby("line", sort=False)]
    for mine in sorted(lines, key=lambda mine: _rank(mine, turns)):
        chosen = mine["line"].iloc[0] == selected
        trace = _trace(mine, axis, turns, dark, chosen=chosen)
        figure.add_trace(trace)
        if _rank(mine, turns) or chosen:
            end = axis.place(mine["value"].iloc[-1])
            named.append((end, trace["name"], trace["line"]["color"]))
    step = 0.009 * max(places[-1] - places[0], 0.3)
    figure.layout.shapes = _bars(found[found["title"].isin(turns)], axis, step, dark)
    room = 0.05 * max(places[-1] - places[0], 0.3)
    figure.update_layout(
        height=HEIGHT,
        showlegend=False,
        margin={
            "l": 8,
            "r": end_labels.margin([name for _, name, _ in named]),
            "t": TOP,
            "b": BOTTOM,
        },
    )
    figure.update_xaxes(
        range=[places[0] - room, places[-1] + room],
        zeroline=False,
        showline=False,
        tickvals=places,
        ticktext=[tick(*each) for each in sizes.items()],
    )
    figure.update_yaxes(**axis.layout())
    paper: dict[str, Any] = {"xref": "paper", "yref": "paper", "x": 0, "xanchor": "left"}
    head = axes.words(
        f"<b>{title}</b>", look.text, size=15, y=1, yanchor="bottom", yshift=8, **paper
    )
    foot = axes.words(across(sizes), look.muted, size=13, y=0, yanchor="top", yshift=-24, **paper)
    axes.put(figure, [head, foot])
    end_labels.write(figure, places[-1], named, axis.span, HEIGHT - TOP - BOTTOM, look)
    return figure


def _rank(mine: pd.DataFrame, turns: Mapping[str, str]) -> int:
    """0 for a grey line, 1 for one in colour, 2 for a reference, which lies on top."""
    first = mine.iloc[0]
    return 2 if first["family"] == "reference" else int(first["title"] in turns)


def tick(size: int, share: str) -> str:
    """The share that was asked for, or the number of samples."""
    return share.partition(" of ")[0] or number(size, "count")


def across(sizes: Mapping[int, str]) -> str:
    """What the x axis says: "Share of the class (log): 20 to 200"."""
    low, high = (number(size, "count") for size in (min(sizes), max(sizes)))
    whole = next(iter(sizes.values())).partition(" of ")[2]
    return f"{f'Share of {whole}' if whole else 'Samples'} to forget (log): {low} to {high}"


def _trace(
    mine: pd.DataFrame, axis: Axis, turns: Mapping[str, str], dark: bool, *, chosen: bool
) -> dict[str, Any]:
    first, look = mine.iloc[0], theme.ground(dark)
    reference = first["family"] == "reference"
    vivid = first["title"] in turns or chosen
    color = look.text if reference else look.muted
    if vivid and not reference:
        color = theme.family_style(first["family"]).color(dark)
    marks = [_mark(verdict) for verdict in mine["verdict"]]
    dash = REFERENCES[first["method"]] if reference else turns.get(first["title"], "solid")
    return dict(
        type="scatter",
        x=np.log10(mine["size"]),
        y=[axis.place(value) for value in mine["value"]],
        name=first["title"],
        mode="lines" if reference else "lines+markers",
        opacity=1.0 if vivid or reference else 0.45,
        line={"color": color, "width": 3 if chosen else 2 if vivid else 1.5, "dash": dash},
        marker={
            "symbol": [symbol for symbol, _ in marks],
            "size": 11 if chosen else 9 if vivid else 4,
            "color": [look.background if hollow else color for _, hollow in marks],
            "line": {
                "width": 1.5 if vivid else 1,
                "color": [color if hollow else look.background for _, hollow in marks],
            },
        },
        customdata=mine[["key", "line"]].to_numpy(),
        text=[_told(point) for point in mine.to_dict("records")],
        hovertemplate="%{text}<extra></extra>",
    )


def _mark(verdict: Verdict | None) -> tuple[str, bool]:
    """The symbol of a verdict, and whether it is hollow."""
    return theme.FATES[verdicts.fate(verdict)].mark(verdict is None or not verdict.provisional)


def _told(point: Mapping[str, Any]) -> str:
    share = f", {point['share']}" if point["share"] else ""
    ended = "" if point["status"] == "ok" else f", {point['status']}"
    verdict = "" if point["verdict"] is None else f"<br>{verdicts.text(point['verdict'])}"
    return (
        f"<b>{point['title']}</b><br>{units.count(point['size'], 'sample')}{share}"
        f"<br>{point['told']}{verdict}<br>{units.count(point['seeds'], 'seed')}{ended}"
    )


def _bars(found: pd.DataFrame, axis: Axis, step: float, dark: bool) -> list[dict[str, Any]]:
    """A thin upright bar for what several seeds span, those of one size `step` apart."""
    lines = [*dict.fromkeys(found["line"])]
    made = []
    for point in found.dropna(subset=["low", "high"]).to_dict("records"):
        turn = lines.index(point["line"]) - (len(lines) - 1) / 2
        x = np.log10(point["size"]) + step * turn
        color = theme.family_style(point["family"]).color(dark)
        ends = {"x0": x, "x1": x, "y0": axis.place(point["low"]), "y1": axis.place(point["high"])}
        line = {"width": 1.6, "color": color}
        made.append(
            {
                "type": "line",
                **ends,
                "line": line,
                "opacity": 0.5,
                "layer": "below",
                "name": "seeds",
            }
        )
    return made


def alt_text(found: pd.DataFrame, title: str) -> str:
    """The panel in a sentence or two, for a reader who cannot see it."""
    sizes = found["size"].nunique()
    last = found[(found["size"] == found["size"].max()) & (found["family"] != "reference")]
    said = f"{title}: {units.count(len(last), 'line')} over {sizes} budgets."
    if last.empty:
        return said
    low, high = last.loc[last["value"].idxmin()], last.loc[last["value"].idxmax()]
    return (
        f"{said} At the largest {low['title']} is lowest, {low['told']}, and {high['title']} "
        f"highest, {high['told']}."
    )
