"""Papers: the index is whole, its links and commands name what exists, and the page shows it."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from builders import full_store
from pages import open_page, words_on

from dashboard import papers
from dashboard.frames import identity as identity_frames
from dashboard.frames import representation as representation_frames
from dashboard.pages import BY_ID, MOVED, TAB
from dashboard.papers import NEWER, PAPERS, tables
from dashboard.widgets.markdown import escape
from mucore import catalog

ROOT = Path(__file__).resolve().parents[3]
opened = partial(open_page, "papers")
EXHIBITS = [exhibit for paper in PAPERS for exhibit in paper.exhibits]
LINKS = [
    (page, dict(parse_qsl(query)))
    for exhibit in EXHIBITS
    for page, _, query in (link.partition("?") for link in exhibit.links.values())
]
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
    assert [each.name for each in EXHIBITS if not (each.links or each.missing)] == []
    for page, query in LINKS:
        assert (ROOT / "dashboard" / BY_ID[MOVED.get(page, (page,))[0]].file).is_file()
        for name, ids in known.items():
            assert name not in query or set(query[name].split(",")) <= ids, query
        assert "dataset" not in query or "scenario" in query
        assert page != "representation" or query["tab"] in ("map", "scatter", "last")
    assert {one.paper for one in tables.every()} >= {each.tables for each in NEWER} - {""}


def test_a_link_opens_on_the_papers_data_or_on_what_stands_in_for_them():
    link = "identity?scenario=identities&table=mucac&dataset=mucac,faces-attributes"
    opens = {
        datasets: (query["dataset"], there)
        for datasets in (("faces", "faces-attributes"), ("faces-attributes", "mucac"), ("faces",))
        for _, query, there in (papers.address(link, {"identities": datasets}),)
    }
    assert [*opens.values()] == [("faces-attributes", True), ("mucac", True), ("mucac", False)]
    assert papers.address("budget?scenario=one_class", {}) == (
        "budget",
        {"scenario": "one_class"},
        False,
    )


def test_a_link_names_a_printed_table_of_its_scenario():
    for page, query in LINKS:
        scenario, table = query.get("scenario", ""), query.get("table")
        if page == "results" and table:
            (printed,) = [one for one in tables.printed_tables(scenario) if one.id == table]
            assert query["paper"] == "1"
            assert query.get("model", printed.model) == printed.model
            assert query.get("dataset", printed.datasets[0]) == printed.datasets[0]
        elif page == "identity" and table:
            assert query["paper"] == "1"
            assert tuple(query["dataset"].split(",")) == identity_frames.TABLES[table].datasets
        else:
            assert table is None
        assert query.get("paper_set", "random") in representation_frames.PAPER_SETS


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
        "F1": ("for all", "as there"),
        "F8": ("not yet", ""),
        "F9": ("not yet", ""),
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
    for exhibit in paper.exhibits:
        for link in exhibit.links.values():
            page, query, _ = papers.address(link, {})
            assert query | ({TAB: MOVED[page][1]} if page in MOVED else {}) in queries
    assert ("What the paper found" in text) == bool(paper.findings)
