"""How a file is made; every step is kept for the next format."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime

import streamlit as st
from plotly.offline import get_plotlyjs

from dashboard import data, theme
from dashboard import report as evidence
from dashboard.report import html as report_html
from dashboard.report import latex as report_latex
from dashboard.report import render
from dashboard.text import units
from mucore.store import Store
from mucore.verdicts import references_of

README = """\
The browser of the machine that made this folder could not draw these figures, so they are
pages that draw themselves:
open one and save it with its camera button. plotly.min.js must lie beside them.
"""


def make(
    kind: str,
    source: data.Source,
    keys: tuple[str, ...],
    parts: list[str],
    typed: tuple[str, str, str],
    comparison: str,
    say: Callable[[str], None],
) -> bytes:
    """The file; every step is kept, so that the second format of a report starts where the first
    one ended.
    """
    say("Reading the runs, computing statistics")
    whole = built(source.store, source.name, source.change, keys, comparison)
    chosen = whole.only(parts).titled(*typed)
    if kind == "LaTeX":
        return report_latex.latex(chosen).encode()
    names = tuple(picture.name for picture in chosen.pictures)
    if kind == "Figures":
        say(f"Drawing {units.count(len(names), 'figure')} in three formats")
        return archive(chosen, source.name, source.change, keys, names)
    say(f"Drawing {units.count(len(names), 'figure')}")
    drawings = drawn(chosen, source.name, source.change, keys, names)
    page = report_html.html(chosen, drawings)
    if kind == "HTML":
        return page.encode()
    say("Printing the pages")
    return printed(page)


@st.cache_data(show_spinner=False, max_entries=8)
def built(
    _store: Store, name: str, change: int, keys: tuple[str, ...], comparison: str
) -> evidence.Report:
    """The report of these runs with all parts; `name` and `change` say which store, and when it was
    read.
    """
    results = _store.results(keys=keys)
    return evidence.build(
        _store.summaries(keys=keys),
        _store.metric_values(keys=keys),
        results,
        made=datetime.now(UTC),
        references=references_of(_store, results),
        comparison=comparison,
    )


@st.cache_data(show_spinner=False, max_entries=8)
def drawn(
    _report: evidence.Report,
    name: str,
    change: int,
    keys: tuple[str, ...],
    pictures: tuple[str, ...],
) -> dict[str, bytes | None]:
    """The report's figures as SVG, None for each that could not be drawn."""
    return dict(
        zip(
            pictures,
            render.images([picture.figure for picture in _report.pictures], "svg"),
            strict=True,
        )
    )


@st.cache_data(show_spinner=False, max_entries=4)
def archive(
    _report: evidence.Report,
    name: str,
    change: int,
    keys: tuple[str, ...],
    pictures: tuple[str, ...],
) -> bytes:
    """The figures as SVG, PNG and PDF; one that no browser could draw is a page that draws
    itself.
    """
    figures = [picture.figure for picture in _report.pictures]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        found: set[str] = set()
        for kind in ("svg", "png", "pdf"):
            for picture, image in zip(pictures, render.images(figures, kind), strict=True):
                if image is not None:
                    file.writestr(f"{picture}.{kind}", image)
                    found.add(picture)
        lost = [picture for picture in _report.pictures if picture.name not in found]
        for picture in lost:
            file.writestr(
                f"{picture.name}.html",
                picture.figure.to_html(include_plotlyjs="directory", config=theme.PLOTLY),
            )
        if lost:
            file.writestr("plotly.min.js", get_plotlyjs())
            file.writestr("README.txt", README)
        file.writestr(
            "figures.txt", "".join(evidence.listed(picture) for picture in _report.pictures)
        )
    return buffer.getvalue()


@st.cache_data(show_spinner=False, max_entries=4)
def printed(page: str) -> bytes:
    return render.pdf(page)
