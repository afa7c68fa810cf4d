"""An evidence report as one file of HTML: no request leaves it, no script runs in it where its
figures are SVG, and it prints on A4.

Everything that comes from outside is escaped here. The policy in the head forbids the file to load
or run anything, in case something slips through.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import escape
from itertools import groupby

import pandas as pd
import plotly.io as pio
from plotly.offline import get_plotlyjs

from dashboard import assets, theme
from dashboard.report import Command, Facts, Items, Picture, Report, Section, Table, Text

STYLE = assets.text("report.css")
# More columns than these are set in smaller type on paper.
MANY_COLUMNS = 11
SHORT_ROWS = 14  # a table of so few is never broken by a page
LONG_TEXT = 24  # a column with a longer text wraps

_STATIC = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_SCRIPTED = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data: blob:"
)


def html(report: Report, drawings: Mapping[str, bytes | None]) -> str:
    """The page. `drawings` are SVG files by `Picture.name`; a picture without one is drawn by
    plotly in the reader's browser.
    """
    scripted = any(drawings.get(picture.name) is None for picture in report.pictures)
    look = theme.LIGHT
    colours = {
        "TEXT": look.text,
        "MUTED": look.muted,
        "LINE": look.grid,
        "PANEL": look.panel,
        "PRIMARY": look.primary,
    }
    style = STYLE.replace('string(none) "FOOT"', _css_text(report.title))
    for name, colour in colours.items():
        style = style.replace(name, colour)
    top = [section for section in report.sections if section.level == 2]
    links = "".join(
        f'<li><a href="#s{report.sections.index(section) + 1}">{escape(section.title)}</a></li>'
        for section in top
    )
    policy = _SCRIPTED if scripted else _STATIC
    head = (
        '<meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta name="author" content="{escape(report.author)}">'
        f"<title>{escape(report.title)}</title><style>{style}</style>"
    )
    if scripted:
        head += f"<script>{get_plotlyjs()}</script>"
    by = f"{escape(report.author)}, " if report.author else ""
    demo = (
        ("<p class='demo'>Demo results: of a real run that comes with the program, not yours.</p>")
        if report.demo
        else ""
    )
    remark = f'<p class="remark">{escape(report.remark)}</p>' if report.remark else ""
    start = (
        f'<header><h1>{escape(report.title)}</h1><p class="by">{by}made '
        f'{report.made:%Y-%m-%d %H:%M} UTC</p>{demo}{remark}<nav aria-label="Contents"><ol>{links}'
        "</ol></nav></header>"
    )
    body = "".join(
        _section(section, place, drawings) for place, section in enumerate(report.sections, start=1)
    )
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="en"><head>{head}</head><body>{start}<main>{body}</main></body></html>\n'
    )


def _section(section: Section, place: int, drawings: Mapping[str, bytes | None]) -> str:
    blocks = "".join(_block(block, drawings) for block in section.blocks)
    wide = ' class="wide"' if section.wide else ""
    tag = f"h{section.level}"
    return f'<section{wide}><{tag} id="s{place}">{escape(section.title)}</{tag}>{blocks}</section>'


def _block(block: object, drawings: Mapping[str, bytes | None]) -> str:
    match block:
        case Text(text):
            return f"<p>{escape(text)}</p>"
        case Items(items):
            return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in items)}</ul>"
        case Facts(facts):
            lines = (f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts)
            return f"<dl>{''.join(lines)}</dl>"
        case Command(label, text):
            return f'<p class="label">{escape(label)}</p><pre><code>{escape(text)}</code></pre>'
        case Table():
            return _table(block)
        case Picture():
            return _picture(block, drawings.get(block.name))
        case _:
            raise TypeError(type(block).__name__)


# --- tables
# --------------------------------------------------------------------------------------------------


def _table(table: Table) -> str:
    frame = table.frame.astype(str)
    bands = frame[table.by].tolist() if table.by else [""] * len(frame)
    frame = frame.drop(columns=table.by) if table.by else frame
    columns = [str(name) for name in frame.columns]
    classes = [_class(name, frame[name]) for name in columns]
    head = (
        _groups(table, columns)
        + "<tr>"
        + "".join(
            _head(table.heads.get(name, name), kind)
            for name, kind in zip(columns, classes, strict=True)
        )
    )
    body = []
    rows = zip(bands, frame.itertuples(index=False, name=None), strict=True)
    for band, members in groupby(rows, key=lambda pair: pair[0]):
        line = (
            (
                f'<tr class="band"><th scope="colgroup" colspan="{len(columns)}">{escape(band)}'
                "</th></tr>"
            )
            if band
            else ""
        )
        body.append(f"<tbody>{line}{''.join(_row(cells, classes) for _, cells in members)}</tbody>")
    kinds = (" many" if len(columns) > MANY_COLUMNS else "") + (
        " short" if len(frame) <= SHORT_ROWS else ""
    )
    return (
        f'<div class="scroll{kinds}"><table><caption>{escape(table.caption)}</caption>'
        f"<thead>{head}</tr></thead>{''.join(body)}</table></div>"
    )


def _groups(table: Table, columns: list[str]) -> str:
    if not table.groups:
        return ""
    cells = ""
    for name, members in groupby(table.groups.get(column, "") for column in columns):
        count = len(list(members))
        cells += (
            f'<th scope="colgroup" colspan="{count}">{escape(name)}</th>'
            if name
            else f'<td colspan="{count}"></td>'
        )
    return f'<tr class="groups">{cells}</tr>'


def _head(text: str, kind: str) -> str:
    return f'<th scope="col"{_attribute(kind.removesuffix(" code"))}>{escape(text)}</th>'


def _row(cells: tuple, classes: list[str]) -> str:
    first, *rest = cells
    made = "".join(
        f"<td{_attribute(kind)}>{_cell(text, kind)}</td>"
        for text, kind in zip(rest, classes[1:], strict=True)
    )
    return f'<tr><th scope="row"{_attribute(classes[0])}>{_cell(first, classes[0])}</th>{made}</tr>'


def _cell(text: str, kind: str) -> str:
    """A number's interval stands below it, so that columns stay narrow."""
    value, sign, half = text.partition(" ± ")
    if sign and kind == "n":
        return f'{escape(value)}<span class="half">±{escape(half)}</span>'
    value, sign, rest = text.partition(" [")
    return (
        f'{escape(value)}<span class="half">[{escape(rest)}</span>'
        if sign and kind == "n"
        else escape(text)
    )


def _class(name: str, column: pd.Series) -> str:
    if name in ("Key", "Forget set", "Parameters"):
        return "long code"
    texts = [text for text in column if text not in ("", "–")]
    if (
        texts
        and all(
            re.match(r"[+−-]?\d", text) and (", " not in text or " [" in text) for text in texts
        )
        and "Finished" not in name
    ):
        return "n"
    return "long" if any(len(text) > LONG_TEXT for text in texts) else ""


def _attribute(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


# --- figures
# --------------------------------------------------------------------------------------------------


def _picture(picture: Picture, drawing: bytes | None) -> str:
    words = f"<figcaption><b>{escape(picture.title)}.</b> {escape(picture.sentence)}</figcaption>"
    label = f'role="img" aria-label="{escape(picture.alt)}"'
    name = f"f-{picture.name}"
    if drawing is not None:
        return (
            f'<figure id="{name}">{words}<div class="ink" {label}>{inline(drawing.decode(), name)}'
            "</div></figure>"
        )
    drawn = pio.to_html(
        picture.figure,
        full_html=False,
        include_plotlyjs=False,
        include_mathjax=False,
        div_id=f"{name}-plot",
    )
    return (
        f'<figure id="{name}">{words}<div {label}>{drawn}</div><p '
        f'class="note">{escape(picture.alt)}</p></figure>'
    )


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


def _css_text(text: str) -> str:
    """A CSS string; characters that could end it or the style element are written as code
    points.
    """
    return (
        '"'
        + "".join(
            char if char.isalnum() or char in " .,:;()-" else f"\\{ord(char):06X}" for char in text
        )
        + '"'
    )
