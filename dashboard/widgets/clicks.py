"""Figures and tables that open a run: a click on a mark, a cell or a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import state
from dashboard.charts import dots
from dashboard.charts.parts import clickable
from dashboard.frames import Row
from dashboard.text import labels
from dashboard.widgets import figures, presenting, run_drawer


def chart(figure: go.Figure, name: str, *, alt: str, parameter: str = "run") -> None:
    """A figure whose marks open the drawer: a newly clicked mark's key, the first of its custom
    data, becomes `parameter` of the address. A mark without a key opens nothing.
    """
    event = figures.chart(figure, name, alt=alt, on_select="rerun", selection_mode="points")
    marks = [mark for mark in _placed(event) if mark[0]]
    if is_new(marks, name):
        _open(parameter, str(marks[0][0]))


def stacking(wide: go.Figure, narrow: go.Figure, name: str, *, alt: str) -> list[list[Any]]:
    """A figure whose panels stand below each other on a phone: `narrow` is the same for there.
    Gives the custom data of the marks that a reader has just clicked, and their places.
    """
    found = []
    for figure, shape in ((wide, "wide"), (narrow, "narrow")):
        if shape == "narrow" and presenting.on():
            break
        key = name if shape == "wide" else f"{name}-narrow"
        with st.container(key=f"{shape}_{name}"):
            event = figures.chart(
                figure,
                key,
                alt=alt,
                twin=shape == "narrow",
                on_select="rerun",
                selection_mode="points",
            )
        marks = _placed(event)
        found += marks if is_new(marks, key) else []
    return found


def dotted(
    rows: Sequence[Row],
    lines: Sequence[dots.Line],
    panels: Sequence[dots.Panel],
    name: str,
    *,
    axis: str,
) -> tuple[go.Figure, list[tuple[str, str]]]:
    """The figure of `charts.dots` of `rows` in both shapes, and of what a reader has just clicked
    the first run and the panel.
    """
    run = state.param("run")
    chosen = next((row.id for row in rows if run in row.keys), "")
    look: dict[str, Any] = {"axis": axis, "dark": state.dark(), "selected": chosen}
    figure = dots.draw(lines, panels, **look)
    narrow = dots.draw(lines, panels, stacked=True, **look)
    marks = stacking(figure, narrow, name, alt=dots.alt_text(lines, panels, axis))
    keys = {row.id: row.keys[0] for row in rows}
    return figure, [(keys[row], panel) for row, panel, *_ in marks if row in keys]


def heatmap(figure: go.Figure, name: str, key: clickable.Place, *, alt: str) -> None:
    """`chart` of a figure whose heat maps have cells of runs: `key` gives the run of each cell."""
    chart(clickable.selectable(figure, key), name, alt=alt)


def _placed(event: Any) -> list[list[Any]]:
    """With their places, so that another mark of the same run is a new selection, too."""
    return [[*found, *place] for found, *place in _marks(event)]


def clicked(event: Any) -> list[list[Any]]:
    """The custom data of the marks that a reader selected in a figure."""
    return [found for found, *_ in _marks(event)]


def _marks(event: Any) -> list[tuple[list[Any], int | None, int | None]]:
    """Custom data of each selected mark that has some, and where the mark stands: number of the
    trace, number in it.
    """
    found = [
        (point.get("customdata"), point.get("curve_number"), point.get("point_index"))
        for point in event["selection"]["points"]
    ]
    return [each for each in found if isinstance(each[0], list) and each[0]]


def open_new(keys: Sequence[str], name: str) -> None:
    """Open the first of the selected `keys` if the selection in the widget `name` is new."""
    if is_new(keys, name):
        _open("run", keys[0])


def runs_table(
    runs: pd.DataFrame, shown: pd.DataFrame, name: str, *, alt: str = "", **look: Any
) -> None:
    """A table of `runs`, a line each, whose lines open them; `shown` is what it says, `look` goes
    to `st.dataframe`. With `alt` it is a screen of its own before a room.
    """
    # a selection belongs to these lines, and goes when others take their place
    key = f"{name}:{labels.short_id(' '.join(runs['key']))}"
    options: dict[str, Any] = look | {
        "placeholder": labels.MISSING,
        "hide_index": True,
        "on_select": "rerun",
        "selection_mode": "single-row",
        "key": key,
    }
    event: Any = (
        presenting.dataframe(shown, name, alt=alt, **options)
        if alt
        else st.dataframe(shown, **options)
    )
    open_new(
        [str(runs.iloc[place]["key"]) for place in event["selection"]["rows"] if place < len(runs)],
        name,
    )


def open_run(marks: Sequence[Sequence[Any]]) -> None:
    """Open the run whose key the first of the clicked `marks` begins with, if there is one."""
    if marks and marks[0][0]:
        _open("run", str(marks[0][0]))


def _open(parameter: str, key: str) -> None:
    """Draw the page again with the run or line `key`; its drawer takes the keyboard even if it was
    there already.
    """
    if parameter in ("run", "row"):
        run_drawer.closed()
    state.set_param(parameter, key)
    st.rerun()


def is_new(selection: Sequence[Any], name: str) -> bool:
    """Whether the reader selected this just now: a selection stays in its widget, and an old one
    must not move the address again.
    """
    if list(selection) == (state.ticket(name) or []):
        return False
    state.set_ticket(name, list(selection))
    return bool(selection)
