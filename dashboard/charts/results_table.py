"""The results table as HTML, with the style and the script that the page mounts it with.

Why not st.dataframe: its grid cannot pin the reference rows on top while the methods are sorted,
draws no rules between groups of rows and puts no second line (± interval, the paper's number) or
reason into a cell. A real table also reads well aloud and prints. Streamlit's own components.v2
carries the clicks back, so no third party is needed; every text that goes into the table is escaped
here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import groupby

from dashboard import assets, theme
from dashboard.frames import DISTANCE, FAMILY, VERDICT, Cell, Column, ResultsTable, Row, cell_text
from dashboard.papers.tables import Published
from dashboard.text import verdicts
from dashboard.text.labels import settings_text
from mucore import catalog

# More columns than these are set tighter where the page is narrow.
USUAL_COLUMNS = 11
# Below these bytes, two significant digits would take more than two decimals of a MB.
SMALL = 1e5
VERDICT_MEANING = (
    "What happened, in one word, from the numbers of the method, of the original and of Retrain. "
    "A hollow mark and a question mark: more seeds may change the word."
)

# The colours come from Streamlit's theme variables, so the table follows the reader's switch
# between light and dark at once.
CSS = assets.text("results_table.css")

JS = assets.text("results_table.js")

FRAME = '<div class="frame"></div>'


def html(
    table: ResultsTable,
    *,
    dark: bool,
    selected: str = "",
    sort: str = "",
    descending: bool = False,
    paper: Published | None = None,
) -> str:
    """The table. `selected` is a row id; `paper` adds a line below each row it knows.

    `sort` is what it is sorted by, for the arrow: a column id, `FAMILY` or `VERDICT`, "" for the
    usual order.
    """
    sort = sort or (DISTANCE if _judged(table) else FAMILY)
    references = [row for row in table.rows if row.reference]
    wide = ' class="wide"' if len(table.columns) > USUAL_COLUMNS else ""
    parts = [
        (
            f"<table{wide}><caption hidden>{escape(table.interval)}"
            f"</caption><thead>{_groups(table)}{_heads(table, sort, descending)}</thead>"
        )
    ]
    if references:
        lines = "".join(_lines(row, table, dark, selected, paper) for row in references)
        parts.append(f'<tbody class="references">{lines}</tbody>')
    methods = [(row.family if sort == FAMILY else "", row) for row in table.methods]
    for _, rows in groupby(methods, key=lambda pair: pair[0]):
        lines = "".join(_lines(row, table, dark, selected, paper) for _, row in rows)
        parts.append(f'<tbody class="family">{lines}</tbody>')
    return "".join(parts) + "</table>"


def _groups(table: ResultsTable) -> str:
    cells = ["<th></th>"] * (2 if _judged(table) else 1)
    for name, group in groupby(table.columns, key=lambda column: column.group):
        cells.append(f'<th colspan="{len(list(group))}" scope="colgroup">{escape(name)}</th>')
    return f'<tr class="groups">{"".join(cells)}</tr>'


def _heads(table: ResultsTable, sort: str, descending: bool) -> str:
    def head(name: str, text: str, hint: str, kind: str = "") -> str:
        here = name == sort
        arrow = (" ↓" if descending else " ↑") if here else ""
        order = f' aria-sort="{"descending" if descending else "ascending"}"' if here else ""
        button = (
            f'<button data-sort="{name}" title="{escape(hint)} Click to '
            f'sort.">{escape(text)}{arrow}</button>'
        )
        return f'<th{kind} scope="col"{order}>{button}</th>'

    cells = [head(FAMILY, "Method", "The paper's order: by family.", ' class="name"')]
    if _judged(table):
        cells.append(head(VERDICT, "Verdict", VERDICT_MEANING, ' class="verdict"'))
    cells += [head(column.id, column.head, column.help) for column in table.columns]
    return f'<tr class="heads">{"".join(cells)}</tr>'


def _lines(
    row: Row, table: ResultsTable, dark: bool, selected: str, paper: Published | None
) -> str:
    chosen = ' class="selected" aria-selected="true"' if row.id == selected else ""
    family = catalog.FAMILIES.get(row.family, "Other")
    hint = f"{family}. {settings_text(row.parameters) if row.parameters else ''}".strip()
    status = f'<span class="status">{escape(row.status)}</span>' if row.status != "ok" else ""
    name = (
        '<th class="name" scope="row" '
        f'title="{escape(hint)}">{marker(row.family, dark)}{escape(row.title)}{status}</th>'
    )
    name += _verdict(row) if _judged(table) else ""
    cells = "".join(
        _cell(row.cells[column.id], column, table, row, dark) for column in table.columns
    )
    line = f'<tr data-row="{escape(row.id)}" tabindex="0"{chosen}>{name}{cells}</tr>'
    return line + (_paper_line(row, table, paper) if paper else "")


def _judged(table: ResultsTable) -> bool:
    return any(row.verdict for row in table.rows)


def _verdict(row: Row) -> str:
    verdict = row.verdict
    if verdict is None:
        reason = "Retrain is what methods are measured against." if row.reference else "Not judged."
        return f'<td class="verdict"><span class="gone" title="{reason}">–</span></td>'
    hint = "\n".join(part for part in (verdict.sentence, verdicts.checks_text(verdict)) if part)
    icon = (
        f'<span class="icon{"" if verdict.provisional else " solid"}" '
        f'aria-hidden="true">{verdicts.ICONS[verdict.word]}</span>'
    )
    kind = "verdict qualified" if verdicts.qualified([row]) else "verdict"
    # a narrow table breaks between words, never after the icon
    first, _, rest = escape(verdicts.text(verdict)).partition(" ")
    return (
        f'<td class="{kind}" title="{escape(hint)}"><span class="unbroken">{icon}{first}</span> '
        f"{rest}</td>"
    )


def _cell(cell: Cell, column: Column, table: ResultsTable, row: Row, dark: bool) -> str:
    text, half = cell_text(cell, column, table.view, reference=row.reference)
    if text == "–":
        return f'<td><span class="gone" title="{escape(cell.reason)}">–</span></td>'
    if column.unit == "MB" and cell.value is not None and 0 < abs(cell.value.mean) < SMALL:
        text, half = (
            (
                f'<span title="{f"{text} {half}".strip()} '
                f'MB">{_two_decimals(cell.value.mean)}</span>'
            ),
            "",
        )
    shade = (
        f' style="background:{theme.distance_shade(cell.distance, dark)}"'
        if not row.reference and cell.distance >= 0.02
        else ""
    )
    below = f'<span class="half">{half}</span>' if half else ""
    return f"<td{shade}>{text}{below}</td>"


def _two_decimals(size: float) -> str:
    """Bytes in MB for a narrow column, as HTML; the downloads have the full precision."""
    return f"{size / 1e6:.2f}" if size >= 1e4 else "&lt;0.01"


def _paper_line(row: Row, table: ResultsTable, paper: Published) -> str:
    texts = [
        paper.text(row.method, column, table.view, reference=row.reference)
        for column in table.columns
    ]
    if not any(texts):
        return ""
    cells = "".join(f"<td>{escape(text)}</td>" for text in ([""] if _judged(table) else []) + texts)
    return f'<tr class="paper"><th class="name" scope="row">{escape(paper.source)}</th>{cells}</tr>'


def marker(family: str, dark: bool) -> str:
    """The family's mark in its colour, the same as in the figures."""
    style = theme.family_style(family)
    return (
        f'<svg viewBox="-1.1 -1.1 2.2 2.2" aria-hidden="true"><path d="{_path(style.symbol)}" '
        f'fill="{style.color(dark)}"/></svg>'
    )


def _path(symbol: str) -> str:
    """SVG path of a plotly marker symbol inside the unit circle; a disc for those not drawn
    here.
    """
    corners = {"triangle-up": 3, "pentagon": 5, "hexagon": 6}
    if symbol in corners:
        count = corners[symbol]
        return _polygon(
            [
                (math.sin(2 * math.pi * k / count), -math.cos(2 * math.pi * k / count))
                for k in range(count)
            ]
        )
    if symbol == "triangle-down":
        return _polygon(
            [(-math.sin(2 * math.pi * k / 3), math.cos(2 * math.pi * k / 3)) for k in range(3)]
        )
    if symbol == "star":
        radii = [1.0, 0.42] * 5
        return _polygon(
            [
                (r * math.sin(math.pi * k / 5), -r * math.cos(math.pi * k / 5))
                for k, r in enumerate(radii)
            ]
        )
    shapes: dict[str, list[tuple[float, float]]] = {
        "square": [(-0.85, -0.85), (0.85, -0.85), (0.85, 0.85), (-0.85, 0.85)],
        "diamond": [(0, -1.05), (0.95, 0), (0, 1.05), (-0.95, 0)],
        "bowtie": [(-1, -0.8), (0, -0.1), (1, -0.8), (1, 0.8), (0, 0.1), (-1, 0.8)],
        "cross": [
            (-0.35, -1),
            (0.35, -1),
            (0.35, -0.35),
            (1, -0.35),
            (1, 0.35),
            (0.35, 0.35),
            (0.35, 1),
            (-0.35, 1),
        ]
        + [(-0.35, 0.35), (-1, 0.35), (-1, -0.35), (-0.35, -0.35)],
    }
    if symbol in shapes:
        return _polygon(shapes[symbol])
    return "M -0.95 0 a 0.95 0.95 0 1 0 1.9 0 a 0.95 0.95 0 1 0 -1.9 0 Z"


def _polygon(points: Sequence[tuple[float, float]]) -> str:
    return "M " + " L ".join(f"{x:.2f} {y:.2f}" for x, y in points) + " Z"
