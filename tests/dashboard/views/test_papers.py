"""Papers: the index is whole, its links and commands name what exists, and the page shows it."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl

import pandas as pd
import pytest
from builders import full_store
from pages import open_page, words_on

from dashboard import papers
from dashboard.frames import identity as identity_frames
from dashboard.frames import representation as representation_frames
from dashboard.pages import BY_ID, MOVED, TAB
from dashboard.papers import PAPERS, Having, Link, Standing, tables
from dashboard.widgets.markdown import escape
from mucore import catalog

ROOT = Path(__file__).resolve().parents[3]
opened = partial(open_page, "papers")
EXHIBITS = [exhibit for paper in PAPERS for exhibit in paper.exhibits]
LINKS = [link for exhibit in EXHIBITS for link in exhibit.links]
COMMANDS = [
    command
    for paper in PAPERS
    for command in (paper.small, *(c for exhibit in paper.exhibits for c in exhibit.commands))
]


def test_every_line_leads_to_a_page_or_says_why_not():
    known = {
        "scenario": {card.id for card in catalog.scenarios()},
        "dataset": {card.id for card in catalog.datasets()},
        "model": {card.id for card in catalog.models()},
    }
    for exhibit in EXHIBITS:
        assert (
            bool(exhibit.links) == bool(exhibit.scenarios) != bool(exhibit.missing) or exhibit.links
        )
        assert set(exhibit.scenarios) <= known["scenario"]
        for link in exhibit.links:
            assert (
                ROOT / "dashboard" / BY_ID[MOVED.get(link.page, (link.page,))[0]].file
            ).is_file()
            for name, ids in known.items():
                assert name not in link.query or link.query[name] in ids, link
            assert set(link.datasets) <= known["dataset"]
            assert not link.datasets or "scenario" in link.query
            assert link.page != "representation" or link.query["tab"] in ("map", "scatter", "last")


def test_a_link_opens_on_the_papers_data_or_on_what_stands_in_for_them():
    table = next(one for one in papers.CHOI.exhibits if one.name == "MUCAC table")
    (link,) = table.links

    def having(*datasets: str) -> Having:
        frame = pd.DataFrame(
            {
                "scenario": "identities",
                "method": "scrub",
                "parameters": "{}",
                "dataset": list(datasets),
            }
        )
        return papers.having(frame)

    assert (
        papers.address(link, having("faces", "faces-attributes"))["dataset"] == "faces-attributes"
    )
    assert papers.address(link, having("faces-attributes", "mucac"))["dataset"] == "mucac"
    assert papers.address(link, having("faces"))["dataset"] == "mucac"
    assert [
        papers.is_filled(table, having(name)) for name in ("faces", "faces-attributes", "mucac")
    ] == [False, True, True]


def test_a_link_names_a_printed_table_of_its_scenario():
    for link in LINKS:
        scenario, table = link.query.get("scenario", ""), link.query.get("table")
        if link.page == "results" and table:
            (printed,) = [one for one in tables.printed_tables(scenario) if one.id == table]
            assert link.query["paper"] == "1"
            assert link.query.get("model", printed.model) == printed.model
            assert link.query.get("dataset", printed.datasets[0]) == printed.datasets[0]
        elif link.page == "identity" and table:
            assert link.query["paper"] == "1"
            assert link.datasets == identity_frames.TABLES[table].datasets
        else:
            assert table is None
        assert link.query.get("paper_set", "random") in representation_frames.PAPER_SETS


def test_every_command_names_what_exists():
    for command in sorted(set(COMMANDS)):
        names_what_exists(command)


def names_what_exists(command: str) -> None:
    words = shlex.split(command)
    assert words[:3] == ["python", "-m", "mucore"] and words[3] in ("run", "quality", "forget-set")
    flags = dict(zip(words[4::2], words[5::2], strict=True))
    known = {
        "--preset": {card.id for card in catalog.presets()},
        "--dataset": {card.id for card in catalog.datasets()},
        "--model": {card.id for card in catalog.models()},
        "--scenario": {card.id for card in catalog.scenarios()},
        "--methods": {card.id for card in catalog.methods()} | {"all"},
    }
    for flag, values in known.items():
        assert set(flags.get(flag, "").split(",")) - {""} <= values
    settings = [
        value for flag, value in zip(words[4::2], words[5::2], strict=True) if flag == "--set"
    ]
    scenario = flags.get("--scenario") or next(iter(catalog.preset(flags["--preset"]).scenarios))
    cards = {"scenario": catalog.scenario(scenario.split(",")[0])} | {
        card.id: card for card in catalog.methods()
    }
    for setting in settings:
        owner, _, name = setting.partition("=")[0].partition(".")
        assert name in {parameter.name for parameter in cards[owner].parameters}


def test_fidelity_is_read_from_its_tables():
    rows = [
        "| finding | here | why |",
        "| --- | --- | --- |",
        "| F1 Lose utility | for all. | as there. |",
        "| F8, F9 Poison | not yet | |",
    ]
    text = "\n".join([*rows, "F2 no row"])
    assert papers.fidelity(text) == {
        "F1": Standing("for all", "as there"),
        "F8": Standing("not yet", ""),
        "F9": Standing("not yet", ""),
    }
    document = papers.fidelity((ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8"))
    assert {name for paper in papers.PAPERS for name in paper.findings} <= set(document)


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.id)
def test_a_paper_is_chosen_by_the_address(home, paper):
    full_store(home).close()
    at = opened(paper=paper.id)
    assert not at.exception and not at.error
    text = words_on(at, escaped=True)
    assert paper.small in text and escape(paper.citation) in text
    for exhibit in paper.exhibits:
        assert f"**{exhibit.name}**" in text
        assert not exhibit.missing or escape(exhibit.missing) in text
    queries = [dict(parse_qsl(one.proto.query_string)) for one in at.get("page_link")]
    none = Having({}, {})
    assert all(
        papers.address(link, none) | tab_of(link) in queries
        for exhibit in paper.exhibits
        for link in exhibit.links
    )
    assert ("What the paper found" in text) == bool(paper.findings)


def tab_of(link: Link) -> dict[str, str]:
    """What an address of an earlier page's name says besides."""
    return {TAB: MOVED[link.page][1]} if link.page in MOVED else {}
