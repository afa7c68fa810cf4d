"""A report as one file of HTML: no request leaves it, no script runs in it where its
figures are SVG, and it prints on A4.

The markup is assets/report.html.j2, with a macro for each block in report_blocks.html.j2. They
escape everything that comes from outside. The policy in the head forbids the file to load or run
anything, in case something slips through.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd
import plotly.io as pio
from plotly.offline import get_plotlyjs

from dashboard import assets, theme
from dashboard.report.blocks import Picture, Report, Table

STYLE = assets.text("report.css")
# More columns than these are set in smaller type on paper.
MANY_COLUMNS = 11
SHORT_ROWS = 14  # a table of so few is never broken by a page
LONG_TEXT = 24  # a column with a longer text wraps

_STATIC = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_SCRIPTED = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"
)


def html(report: Report, drawings: Mapping[str, bytes | None], *, dark: bool = False) -> str:
    """The page. `drawings` are SVG files by `Picture.name`; a picture without one is drawn by
    plotly in the reader's browser. `dark` says for which theme figures were made.
    """
    scripted = any(drawings.get(picture.name) is None for picture in report.pictures)
    sections = [
        {
            "id": f"s{place}",
            "title": section.title,
            "blocks": [(type(block).__name__, _shown(block, drawings)) for block in section.blocks],
        }
        for place, section in enumerate(report.sections, start=1)
    ]
    return assets.template("report.html.j2").render(
        report=report,
        sections=sections,
        style=_style(dark),
        policy=_SCRIPTED if scripted else _STATIC,
        script=get_plotlyjs() if scripted else "",
    )


def _style(dark: bool) -> str:
    """The style sheet with the colours of the theme."""
    look = theme.ground(dark)
    style = STYLE
    for name, colour in {
        "TEXT": look.text,
        "MUTED": look.muted,
        "LINE": look.grid,
        "PANEL": look.panel,
        "PRIMARY": look.primary,
        "BACKGROUND": look.background,
        "SCHEME": "dark" if dark else "light",
    }.items():
        style = style.replace(name, colour)
    return style


def _shown(block: object, drawings: Mapping[str, bytes | None]) -> object:
    """A block as its macro takes it."""
    match block:
        case Table():
            return _table(block)
        case Picture():
            return _picture(block, drawings.get(block.name))
        case _:
            return block


# --- tables
# --------------------------------------------------------------------------------------------------


def _table(table: Table) -> dict[str, Any]:
    frame = table.frame.astype(str)
    columns = [str(name) for name in frame.columns]
    kinds = [_kind(frame[name]) for name in columns]
    return {
        "caption": table.caption,
        "look": (" many" if len(columns) > MANY_COLUMNS else "")
        + (" short" if len(frame) <= SHORT_ROWS else ""),
        "heads": [{"text": name, "kind": kind} for name, kind in zip(columns, kinds, strict=True)],
        "rows": [
            [_cell(text, kind) for text, kind in zip(cells, kinds, strict=True)]
            for cells in frame.itertuples(index=False, name=None)
        ],
    }


def _cell(text: str, kind: str) -> dict[str, str]:
    """A number's interval stands below it, so that columns stay narrow."""
    value, sign, half = text.partition(" ± ") if kind == "n" else (text, "", "")
    return {"text": value, "below": f"±{half}" if sign else "", "kind": kind}


def _kind(column: pd.Series) -> str:
    """The class of a column's cells: of numbers, of long texts, or none."""
    texts = [text for text in column if text not in ("", "–")]
    if texts and all(re.match(r"[+−-]?(± )?\d", text) and ", " not in text for text in texts):
        return "n"
    return "long" if any(len(text) > LONG_TEXT for text in texts) else ""


# --- figures
# --------------------------------------------------------------------------------------------------


def _picture(picture: Picture, drawing: bytes | None) -> dict[str, Any]:
    """`still`: an SVG, which needs no script."""
    name = f"f-{picture.name}"
    if drawing is not None:
        drawn = inline(drawing.decode(), name)
    else:
        drawn = pio.to_html(
            picture.figure,
            full_html=False,
            include_plotlyjs=False,
            include_mathjax=False,
            config=theme.PLOTLY,
            div_id=f"{name}-plot",
        )
    return {
        "id": name,
        "title": picture.title,
        "sentence": picture.sentence,
        "alt": picture.alt,
        "still": drawing is not None,
        "drawing": drawn,
    }


def inline(svg: str, name: str) -> str:
    """An SVG file to stand in a page: ids made unique by `name`, without links (plotly turns <a> in
    a label into one) and declarations.
    """
    svg = re.sub(r"^\s*<\?xml[^>]*\?>|<!DOCTYPE[^>]*>", "", svg)
    svg = re.sub(r"</?a\b[^>]*>", "", svg)
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(
        r"url\(\s*(?:&quot;|['\"])?#([^)'\"&]+)(?:&quot;|['\"])?\s*\)", rf"url(#{name}-\1)", svg
    )
    return re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', svg)
