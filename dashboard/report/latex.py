"""All tables of an evidence report as one LaTeX document that compiles by itself: booktabs and
graphicx, every text escaped.
"""

from __future__ import annotations

import re
from itertools import groupby

import pandas as pd

from dashboard.report import Facts, Items, Report, Section, Table, Text
from mucore.export.tables import escape_latex, latex_row

HEAD = r"""\documentclass[10pt]{article}
\usepackage[utf8]{inputenc}
\usepackage[a4paper,landscape,margin=16mm]{geometry}
\usepackage{booktabs}
\usepackage{graphicx}
\setlength{\tabcolsep}{4pt}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\emergencystretch=3em
% A table wider than the page is made smaller, another keeps its size.
\newsavebox{\tablebox}
\newcommand{\fitted}[1]{\sbox{\tablebox}{#1}\ifdim\wd\tablebox>\linewidth\resizebox{\linewidth}{!}{\usebox{\tablebox}}\else\usebox{\tablebox}\fi}
"""
LINES = 28  # lines a page holds; longer tables go on in another tabular
# a column with a longer text becomes a paragraph of this many characters a line, or of three times
# as many
LONG_TEXT = 34

PARAGRAPH, WIDE_PARAGRAPH = r"p{55mm}", r"p{165mm}"


def latex(report: Report) -> str:
    """The document: headings, sentences and tables; figures and commands are in the other
    formats.
    """
    author = rf"\author{{{_text(report.author)}}}" if report.author else r"\author{}"
    parts = [
        HEAD,
        rf"\title{{{_text(report.title)}}}",
        author,
        rf"\date{{{report.made:%Y-%m-%d}}}",
        r"\begin{document}",
        r"\maketitle",
    ]
    if report.demo:
        parts.append(r"\emph{Demo results: of a real run that comes with the program.}" + "\n")
    if report.remark:
        parts.append("\n\n".join(_text(line) for line in report.remark.splitlines()) + "\n")
    for section in report.sections:
        written = [text for block in section.blocks if (text := _block(block))]
        if written or _leads(report, section):
            parts += [
                rf"\{'sub' * (section.level - 2)}section*{{{_text(section.title)}}}",
                *written,
            ]
    return "\n".join([*parts, r"\end{document}"]) + "\n"


def _leads(report: Report, section: Section) -> bool:
    """Whether the section is a heading above others."""
    place = report.sections.index(section) + 1
    return (
        not section.blocks
        and place < len(report.sections)
        and report.sections[place].level > section.level
    )


def _block(block: object) -> str:
    match block:
        case Text(text):
            return _text(text) + "\n"
        case Items(items):
            return "\n".join(
                [
                    r"\begin{itemize}",
                    *(rf"\item {{}}{_text(item)}" for item in items),
                    r"\end{itemize}",
                ]
            )
        case Facts(facts):
            lines = [rf"\item[{_text(name)}] {_text(text)}" for name, text in facts]
            return "\n".join([r"\begin{description}", *lines, r"\end{description}"])
        case Table():
            return table(block)
        case _:
            return ""


def table(shown: Table) -> str:
    """A table in pieces of one page at most, each with its head; its caption stands above the
    first.
    """
    frame = shown.frame.astype(str)
    bands = frame[shown.by].tolist() if shown.by else [""] * len(frame)
    frame = frame.drop(columns=shown.by) if shown.by else frame
    columns = [str(name) for name in frame.columns]
    specs = {name: _column(frame[name], len(columns)) for name in columns}
    lines: list[tuple[str, int]] = []  # with how many lines of text it takes
    rows = zip(bands, frame.itertuples(index=False, name=None), strict=True)
    for band, members in groupby(rows, key=lambda pair: pair[0]):
        if band:
            lines.append((rf"\multicolumn{{{len(columns)}}}{{l}}{{\emph{{{_text(band)}}}}} \\", 1))
        lines += [
            (latex_row(map(_text, cells)), _height(cells, list(specs.values())))
            for _, cells in members
        ]
    head = [
        *_groups(shown, columns),
        latex_row(_text(shown.heads.get(name, name)) for name in columns),
        r"\midrule",
    ]
    start, end = (
        [rf"\begin{{tabular}}{{{''.join(specs.values())}}}", r"\toprule", *head],
        [r"\bottomrule", r"\end{tabular}"],
    )
    pieces = [rf"\fitted{{{chr(10).join([*start, *piece, *end])}}}" for piece in _pages(lines)]
    first = [
        r"\begin{samepage}",
        rf"{{\small {_text(shown.caption)}}}\nopagebreak",
        "",
        pieces[0],
        r"\end{samepage}",
        "",
    ]
    return "\n\n".join(["\n".join(first), *pieces[1:]]) + "\n"


def _pages(lines: list[tuple[str, int]]) -> list[list[str]]:
    pages: list[list[str]] = [[]]
    room = LINES
    for line, height in lines:
        if height > room and pages[-1]:
            pages.append([])
            room = LINES
        pages[-1].append(line)
        room -= height
    return pages


def _height(cells: tuple, specs: list[str]) -> int:
    wide = {PARAGRAPH: LONG_TEXT, WIDE_PARAGRAPH: 3 * LONG_TEXT}
    return (
        max(
            -(-len(cell) // wide[spec]) if spec in wide else 1
            for cell, spec in zip(cells, specs, strict=True)
        )
        or 1
    )


def _groups(shown: Table, columns: list[str]) -> list[str]:
    if not shown.groups:
        return []
    cells, rules, place = [], "", 1
    for name, members in groupby(shown.groups.get(column, "") for column in columns):
        count = len(list(members))
        cells.append(rf"\multicolumn{{{count}}}{{c}}{{{_text(name)}}}")
        rules += rf"\cmidrule(lr){{{place}-{place + count - 1}}}" if name else ""
        place += count
    return [" & ".join(cells) + r" \\", rules]


def _column(column: pd.Series, columns: int) -> str:
    texts = [text for text in column if text not in ("", "–")]
    if max(map(len, texts), default=0) > LONG_TEXT:
        return PARAGRAPH if columns > 3 else WIDE_PARAGRAPH
    return "r" if texts and all(re.match(r"[+−-]?\d", text) for text in texts) else "l"


def _text(text: str) -> str:
    """Escaped; thin and no-break spaces, which report.py would print as code points, are plain
    ones.
    """
    return escape_latex(" ".join(text.split()) if text.strip() else text)
