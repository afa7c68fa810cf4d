"""A figure, and the table behind it with its downloads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import access, assets, theme
from dashboard.report import render
from dashboard.text.labels import MISSING
from dashboard.widgets import columns, course, presenting
from mucore.export import tables

# The column is as high as its neighbour, so the container's frame has a way to go in it; `top`
# leaves room for the bar of the page.
STICKY: Final = assets.style("sticky.css")
WIDE_NAMES: Final = assets.style("wide_names.css")  # what a phone has no room for


def chart(
    figure: go.Figure,
    key: str,
    *,
    alt: str = "",
    selects: bool = False,
    twin: bool = False,
    **options: Any,
) -> Any:
    """Draw a figure with our own template, not Streamlit's; `options` as on_select go to
    st.plotly_chart, whose return is passed on.

    With `selects`, its bar has a lasso and a box. A `twin` is another shape of a figure of the
    page, which files have once.
    """
    config = {
        **theme.PLOTLY,
        "modeBarButtonsToRemove": ["autoScale2d", *([] if selects else ["lasso2d", "select2d"])],
        "toImageButtonOptions": {"format": "svg"},
    }
    if not twin:
        course.picture(key, figure, alt)
    if wide := (figure.layout.meta or {}).get("wide_names"):
        chosen = ", ".join(f'.st-key-{key} .annotation[data-index="{number}"]' for number in wide)
        st.html(WIDE_NAMES.replace("CHOSEN", chosen))
    shown, rest = presenting.lower(figure) if presenting.on() else (figure, "")
    with presenting.slide(key, alt=alt, rest=rest):
        return st.plotly_chart(
            shown, key=key, theme=None, config=config, alt=alt or None, **options
        )


def sticky(key: str) -> st.delta_generator.DeltaGenerator:
    """A container for all that stands in one column: it stays in sight while a longer column beside
    it scrolls past.

    Where columns stand below each other, and in windows too low for a figure, it scrolls with the
    page.
    """
    st.html(STICKY.replace("KEY", key))
    return st.container(key=key)


def numbers(
    frame: pd.DataFrame, name: str, figure: go.Figure | None = None, *, of: str = ""
) -> None:
    """An expander with the table behind a figure and its downloads. `name` becomes the file name
    and the session key, `of` says which numbers where a page has several.

    SVG, PNG and PDF are made by kaleido when the button is pressed, and offered only where a
    browser is installed.
    """
    course.table(name, f"Numbers: {of}" if of else "Numbers", frame)
    if presenting.on():
        return  # a room sees the figure alone
    with st.expander(f"Numbers: {of}" if of else "Numbers", icon=":material/table_rows:"):
        config = columns.aligned(frame)
        st.dataframe(frame, hide_index=True, placeholder=MISSING, column_config=config)
        with st.container(horizontal=True, gap="small"):
            for label, mime, make in _downloads(frame, figure):
                st.download_button(
                    label,
                    make,
                    f"{name}.{label.lower().replace('latex', 'tex')}",
                    mime,
                    key=f"download:{name}:{label}",
                    on_click="ignore",
                )
        if figure is not None and not render.draws():
            st.caption(
                "SVG: use the camera button of the figure. PNG and PDF need Chromium or Chrome on "
                "the server."
            )


def _downloads(
    frame: pd.DataFrame, figure: go.Figure | None
) -> list[tuple[str, str, Callable[[], bytes]]]:
    kinds: list[tuple[str, str, Callable[[], bytes]]] = [
        ("CSV", "text/csv", lambda: frame.to_csv(index=False).encode()),
        ("LaTeX", "text/x-tex", lambda: tables.to_latex(frame).encode()),
        ("HTML", "text/html", lambda: frame.to_html(index=False, na_rep="–").encode()),
    ]
    if figure is not None and render.draws():
        kinds += [
            ("SVG", "image/svg+xml", access.in_turn(lambda: render.image(figure, "svg"))),
            ("PNG", "image/png", access.in_turn(lambda: render.image(figure, "png"))),
            ("PDF", "application/pdf", access.in_turn(lambda: render.image(figure, "pdf"))),
        ]
    return kinds
