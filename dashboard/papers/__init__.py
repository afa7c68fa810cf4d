"""Which table, figure and finding of which paper can be seen here, and where. Data, one file a
paper, and pure functions; no Streamlit.

A counterpart is a page with the parameters of its address. Where there is none, a sentence says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dashboard.papers.competition import COMPETITION
from dashboard.papers.efficacy import BECKER
from dashboard.papers.mubox import MUBOX
from dashboard.papers.mufac import CHOI
from dashboard.papers.records import Exhibit, Link, Paper
from dashboard.papers.truly_forgetting import TRULY

PAPERS: tuple[Paper, ...] = (MUBOX, CHOI, TRULY, BECKER, COMPETITION)

__all__ = [
    "CHOI",
    "MUBOX",
    "PAPERS",
    "TRULY",
    "Exhibit",
    "Having",
    "Link",
    "Paper",
    "Standing",
    "address",
    "fidelity",
    "frame",
    "having",
    "is_filled",
    "on_other_data",
]


@dataclass(frozen=True)
class Standing:
    """A row of docs/fidelity.md: what appears here of a finding, and why."""

    here: str
    why: str


def fidelity(text: str) -> dict[str, Standing]:
    """Finding id -> what docs/fidelity.md says of it.

    Of table rows "| F1 ... | here | why |"; "F8, F9 ..." speaks of both.
    """
    # links to other parts of the document, in brackets
    text = re.sub(r" \(\[[^\]]*\]\([^)]*\)\)", "", text)
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        head = re.match(r"((?:[A-Z]\d+)(?:, [A-Z]\d+)*) ", cells[0])
        if line.startswith("|") and head and len(cells) == 3:
            here, why = (cell.rstrip(".") for cell in cells[1:])
            found |= {name: Standing(here, why) for name in head[1].split(", ")}
    return found


def frame(papers: Sequence[Paper]) -> pd.DataFrame:
    """The index as a table: paper, what, shows, where, why not, command."""
    return pd.DataFrame(
        [
            {
                "Paper": paper.title,
                "Table or figure": exhibit.name,
                "Shows": exhibit.shows,
                "Page": ", ".join(dict.fromkeys(link.page for link in exhibit.links)) or "–",
                "Without counterpart": exhibit.missing,
                "Commands": "\n".join(exhibit.commands),
            }
            for paper in papers
            for exhibit in paper.exhibits
        ]
    )


@dataclass(frozen=True)
class Having:
    """What runs there are: of each of their scenarios the settings in which runs of one method
    differ, and its data sets.

    `many_models`: whether some of them make up an experiment with many models of each method.
    """

    settings: Mapping[str, Collection[str]]
    datasets: Mapping[str, Collection[str]]
    many_models: bool = False


def having(runs: pd.DataFrame, *, many_models: bool = False) -> Having:
    """`runs` as in `Store.summaries`; `many_models`: whether `quality_frames.experiments` finds any
    among them.
    """
    found: dict[str, set[str]] = {str(name): set() for name in runs["scenario"].unique()}
    told: dict[tuple[str, str], set[str]] = {}
    for scenario, method, text in zip(
        runs["scenario"], runs["method"], runs["parameters"], strict=True
    ):
        told.setdefault((str(scenario), str(method)), set()).add(str(text))
    for (scenario, _), texts in told.items():
        values = [json.loads(text) for text in texts]
        names = {name for each in values for name in each}
        found[scenario] |= {
            name for name in names if len({json.dumps(each.get(name)) for each in values}) > 1
        }
    return Having(
        found,
        {str(name): set(group) for name, group in runs.groupby("scenario")["dataset"]},
        many_models,
    )


def is_filled(exhibit: Exhibit, found: Having) -> bool:
    """Whether runs give its pages something to show: under its scenario, with its setting varied,
    on data of one of its links.

    Where it takes many models, any experiment does: its page looks for them under every scenario.
    """
    if exhibit.many_models:
        return found.many_models
    named = {dataset for link in exhibit.links for dataset in link.datasets}
    return bool(exhibit.links) and any(
        name in found.settings
        and (not exhibit.varies or exhibit.varies in found.settings[name])
        and (not named or bool(named & set(found.datasets[name])))
        for name in exhibit.scenarios
    )


def on_other_data(exhibit: Exhibit, found: Having) -> list[Link]:
    """Its links to data sets without runs under their scenario; their pages open on data of another
    kind.
    """
    return [
        link
        for link in exhibit.links
        if link.datasets
        and not set(link.datasets) & set(found.datasets.get(link.query["scenario"], ()))
    ]


def address(link: Link, found: Having) -> dict[str, str]:
    """Its URL parameters, with the first of its data sets that has runs under its scenario (the
    first of all where none has).
    """
    if not link.datasets:
        return dict(link.query)
    there = found.datasets.get(link.query["scenario"], ())
    return {
        **link.query,
        "dataset": next((name for name in link.datasets if name in there), link.datasets[0]),
    }
