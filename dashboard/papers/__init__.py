"""Which table, figure and finding of which paper can be seen here, and where: the records of
data/papers/index.json. No Streamlit.

A counterpart is the address of a page; where there is none, a sentence says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl

import pandas as pd

from dashboard.papers.tables import FOLDER


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One table or figure, or some that belong together."""

    name: str  # as printed: "Table 2", "Tables 8–12"
    shows: str
    links: Mapping[str, str] = field(default_factory=dict)  # label -> "page?query"
    missing: str = ""  # what has no counterpart; without `links`, why
    commands: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper; `presets` hold its setting, `small` is a command for a laptop that shows the same on
    data that come with the program.
    """

    id: str
    title: str
    citation: str
    about: str
    exhibits: Sequence[Exhibit]
    findings: Mapping[str, str]
    presets: Sequence[str]
    small: str
    caveat: str = ""


@dataclass(frozen=True, kw_only=True)
class Newer:
    """A paper beyond the five: one whose `tables` (of data/papers/tables.csv) stand beside ours on
    Results, or a benchmark in words; `remark` says what differs here.
    """

    citation: str
    remark: str
    tables: str = ""
    does: str = ""


def _paper(line: dict[str, Any]) -> Paper:
    line["exhibits"] = [Exhibit(**each) for each in line["exhibits"]]
    return Paper(**line)


_INDEX: Final = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
PAPERS: Final = tuple(map(_paper, _INDEX["papers"]))
NEWER: Final = tuple(Newer(**line) for line in _INDEX["newer"])


def address(link: str, datasets: Mapping[str, Collection[str]]) -> tuple[str, dict[str, str], bool]:
    """The page of a link, its URL parameters, and whether runs give it something to show;
    `datasets` are those with runs, by scenario. Of several data sets, the paper's own first, it
    opens on the first that has runs, on the paper's where none has.
    """
    page, _, text = link.partition("?")
    query = dict(parse_qsl(text))
    there = datasets.get(query.get("scenario", ""), ())
    if "dataset" not in query:
        return page, query, "scenario" not in query or bool(len(there))
    names = query["dataset"].split(",")
    known = [name for name in names if name in there]
    return page, query | {"dataset": [*known, *names][0]}, bool(known)


def fidelity(text: str) -> dict[str, tuple[str, str]]:
    """Finding id -> what docs/fidelity.md says appears of it here, and why: of table rows
    "| F1 ... | here | why |"; "F8, F9 ..." speaks of both.
    """
    # links to other parts of the document, in brackets
    text = re.sub(r" \(\[[^\]]*\]\([^)]*\)\)", "", text)
    found = {}
    for line in text.splitlines():
        cells = [cell.strip().rstrip(".") for cell in line.strip().strip("|").split("|")]
        head = re.match(r"((?:[A-Z]\d+)(?:, [A-Z]\d+)*) ", cells[0])
        if line.startswith("|") and head and len(cells) == 3:
            found |= {name: (cells[1], cells[2]) for name in head[1].split(", ")}
    return found


def frame(paper: Paper) -> pd.DataFrame:
    """A line a table or figure: what, shows, where, why not, command."""
    return pd.DataFrame(
        {
            "Table or figure": each.name,
            "Shows": each.shows,
            "Page": ", ".join(dict.fromkeys(link.partition("?")[0] for link in each.links.values()))
            or "–",
            "Without counterpart": each.missing,
            "Commands": "\n".join(each.commands),
        }
        for each in paper.exhibits
    )
