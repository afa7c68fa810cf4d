"""The results table as HTML, with the style and the script that the page mounts it with.

Why not st.dataframe: its grid cannot pin the reference rows on top while the methods are sorted,
draws no rules between groups of rows and puts no second line (± interval, the paper's number) or
reason into a cell. A real table also reads well aloud and prints. Streamlit's own components.v2
carries the clicks back, so no third party is needed. What stands in the cells is said here; the
markup is assets/results_table.html.j2, which escapes every text.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import groupby
from typing import Any

from dashboard import assets, theme
from dashboard.frames import DISTANCE, FAMILY, USUAL, VERDICT, Column, ResultsTable, Row, cell_text
from dashboard.frames.results import NOISE, noise_text, shades
from dashboard.papers.tables import Published
from dashboard.text import verdicts
from dashboard.text.labels import MISSING, THIN, settings_text
from mucore import catalog

# More columns than these are set tighter where the page is narrow.
USUAL_COLUMNS = 11
VERDICT_MEANING = (
    "The outcome in one word, judged against the original and Retrain. "
    "A question mark: indicated, more seeds may change the verdict."
)

NOISE_MEANING = (
    "95 % of the differences of every two Retrains of other training seeds fall into this band. A "
    "gap inside it may be chance. Three seeds reveal about 3/5 of the spread due to chance; "
    "five, 3/4."
)

# The colours come from Streamlit's theme variables, so the table follows the reader's switch
# between light and dark at once.
CSS = assets.text("results_table.css")

JS = assets.text("results_table.js")

Shades = Mapping[Hashable, str]  # by row id and column id
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
    shade = _shades(table, dark)
    sort = sort or (USUAL if _judged(table) else FAMILY)
    methods = [(row.family if sort == FAMILY else "", row) for row in table.methods]
    bodies = [("references", [row for row in table.rows if row.reference])]
    for _, pairs in groupby(methods, key=lambda pair: pair[0]):
        bodies.append(("family", [row for _, row in pairs]))
    groups = groupby(table.columns, key=lambda column: column.group)
    return assets.template("results_table.html.j2").render(
        wide=len(table.columns) > USUAL_COLUMNS,
        interval=table.interval,
        unnamed=2 if _judged(table) else 1,
        groups=[(name, len(list(columns))) for name, columns in groups],
        heads=_heads(table),
        sort=sort,
        descending=descending,
        selected=selected,
        noise=_noise(table),
        bodies=[
            (name, [_line(row, table, shade, dark, paper) for row in rows])
            for name, rows in bodies
            if rows
        ],
    )


def short_html(table: ResultsTable, *, dark: bool, selected: str = "", lines: int = 13) -> str:
    """Retrain and the `lines` nearest methods: verdict, `table.short` and the cost."""
    shade = _shades(table, dark)
    return assets.template("short_table.html.j2").render(
        heads=[f"{c.head}, %" if c.id != DISTANCE else c.head for c in table.short],
        hints=[column.help for column in table.short],
        selected=selected,
        rows=[
            {
                "id": row.id,
                "title": row.title,
                "fate": _fate(row, dark),
                "cells": [_short_cell(row, c, table, shade) for c in table.short],
                "cost": percent(row.cost),
            }
            for row in table.nearest(lines)
        ],
    )


def _short_cell(row: Row, column: Column, table: ResultsTable, shade: Shades) -> dict[str, str]:
    """As in the whole table, but the nearest methods' distances need another digit to differ."""
    cell = _cell(row, column, table, shade)
    if column.id == DISTANCE and row.away is not None:
        cell["text"] = f"{100 * row.away:.2f}"
    return cell


def _fate(row: Row, dark: bool) -> dict[str, Any]:
    if row.verdict is None:
        return {"icon": "star", "color": "inherit", "hint": "What methods are measured against."}
    fate = verdicts.fate(row.verdict)
    return {
        "icon": verdicts.FATES[fate],
        "color": theme.FATES[fate].color(dark),
        "hint": f"{verdicts.text(row.verdict)}. {row.verdict.sentence}",
        "solid": not row.verdict.provisional,
    }


def percent(share: float | None) -> str:
    """A cost as a whole percentage, one decimal below 1 %."""
    if share is None:
        return MISSING
    return f"{100 * share:.0f}{THIN}%" if share >= 0.01 else f"{100 * share:.1f}{THIN}%"


def _heads(table: ResultsTable) -> list[dict[str, str]]:
    def head(name: str, text: str, hint: str, kind: str = "") -> dict[str, str]:
        return {"id": name, "text": text, "hint": hint, "kind": kind}

    heads = [head(FAMILY, "Method", "The paper's order: by family.", "name")]
    if _judged(table):
        heads.append(head(VERDICT, "Verdict", VERDICT_MEANING, "verdict"))
    return heads + [head(column.id, column.head, column.help) for column in table.columns]


def _line(
    row: Row, table: ResultsTable, shade: Shades, dark: bool, paper: Published | None
) -> dict[str, Any]:
    family = catalog.FAMILIES.get(row.family, "Other")
    return {
        "id": row.id,
        "hint": f"{family}. {settings_text(row.parameters) if row.parameters else ''}".strip(),
        "title": row.title,
        "status": "" if row.status == "ok" else row.status,
        "verdict": _verdict(row, dark) if _judged(table) else None,
        "cells": [_cell(row, column, table, shade) for column in table.columns],
        "paper": _paper_line(row, table, paper) if paper else None,
    }


def _noise(table: ResultsTable) -> dict[str, Any] | None:
    """The line above all others: the 95 % band of Retrains of other seeds."""
    if not table.noise:
        return None
    texts = [noise_text(table, column) for column in table.columns]
    return {"title": NOISE, "hint": NOISE_MEANING, "texts": [""] * _judged(table) + texts}


def _judged(table: ResultsTable) -> bool:
    return any(row.verdict for row in table.rows)


def _verdict(row: Row, dark: bool) -> dict[str, Any]:
    verdict = row.verdict
    if verdict is None:
        reason = "Retrain is what methods are measured against." if row.reference else "Not judged."
        return {"gone": reason}
    # a narrow table breaks between words, never after the icon
    first, _, rest = verdicts.text(verdict).partition(" ")
    return {
        "hint": "\n".join(
            part for part in (verdict.sentence, verdicts.checks_text(verdict)) if part
        ),
        "qualified": verdicts.qualified([row]),
        "fate": _fate(row, dark),
        "first": first,
        "rest": rest,
    }


def _shades(table: ResultsTable, dark: bool) -> Shades:
    """The colours behind cells, by row and column."""
    found = shades(table).stack()
    return {place: theme.distance_shade(each, dark) for place, each in found[found >= 0.02].items()}


def _cell(row: Row, column: Column, table: ResultsTable, shade: Shades) -> dict[str, str]:
    """`gone` is the reason of a missing number."""
    cell = row.cells[column.id]
    text, half = cell_text(cell, column, table.view, reference=row.reference)
    if text == MISSING:
        return {"gone": cell.reason}
    return {"text": text, "half": half, "shade": shade.get((row.id, column.id), "")}


def _paper_line(row: Row, table: ResultsTable, paper: Published) -> dict[str, Any] | None:
    texts = [
        paper.text(row.method, column, table.view, reference=row.reference)
        for column in table.columns
    ]
    if not any(texts):
        return None
    return {"source": paper.source, "texts": ([""] if _judged(table) else []) + texts}
