"""Papers: the index is whole, its links and commands name what exists, and the page shows it."""

from __future__ import annotations

import re
import shlex
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl

import pandas as pd
import pytest
from builders import full_store
from pages import fill, links, open_page, words_on

from dashboard import papers
from dashboard.frames import identity as identity_frames
from dashboard.frames import representation as representation_frames
from dashboard.pages import BY_ID, MOVED, TAB
from dashboard.papers import PAPERS, Exhibit, Having, Link, Paper, Standing, tables
from dashboard.papers.newer import BESIDE
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
# What the papers print, and which of their findings this project follows.
PRINTED = {
    "mubox": {*(f"Table {n}" for n in range(1, 13)), *(f"Figure {n}" for n in (1, *range(3, 8)))},
    "persons": {"Figure 1", "Figure 3", "Figure 4"},
    "truly": {
        *(f"Table {n}" for n in (1, 2, 3, 4, 5, 7, 8, *range(9, 16))),
        *(f"Figure {n}" for n in ("2", "3", "4a", "4b", *range(5, 14))),
    },
    "efficacy": {"Table 1", "Table 2", *(f"Figure {n}" for n in range(1, 9))},
    "competition": {"Figure 1", "Figure 2"},
}
FINDINGS = {
    "mubox": ("F", 11),
    "persons": ("I", 4),
    "truly": ("R", 7),
    "efficacy": ("E", 4),
    "competition": ("", 0),
}


def numbered(name: str) -> set[str]:
    """The tables and figures that a name such as "Tables 8–12" or "Figures 3, 12" stands for."""
    match = re.fullmatch(r"(Table|Figure)s? (.+)", name)
    if not match:
        return set()
    found = set()
    for part in match[2].split(", "):
        first, _, last = part.partition("–")
        found |= {
            f"{match[1]} {n}" for n in (range(int(first), int(last) + 1) if last else [first])
        }
    return found


def test_every_table_and_figure_appears_once():
    for paper in PAPERS:
        named = [number for exhibit in paper.exhibits for number in sorted(numbered(exhibit.name))]
        assert sorted(named) == sorted(PRINTED[paper.id])
        letter, count = FINDINGS[paper.id]
        assert list(paper.findings) == [f"{letter}{n}" for n in range(1, count + 1)]
        assert paper.presets and all(catalog.preset(name).source for name in paper.presets)


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


def test_a_figure_over_a_setting_needs_runs_that_differ_in_it():
    rows = [
        ("random_classes", "pseudo_labels", '{"lr": 0.1, "epochs": 1}'),
        ("random_classes", "duck", '{"lr": 0.2}'),
    ]
    frame = pd.DataFrame(rows, columns=["scenario", "method", "parameters"]).assign(
        dataset="glyphs"
    )
    # two methods differ anyway
    assert papers.having(frame) == Having({"random_classes": set()}, {"random_classes": {"glyphs"}})
    rows.append(
        ("random_classes", "pseudo_labels", '{"lr": 0.1, "epochs": 1, "gradient_noise": 0.01}')
    )
    found = papers.having(
        pd.DataFrame(rows, columns=["scenario", "method", "parameters"]).assign(dataset="glyphs")
    )
    assert found.settings == {"random_classes": {"gradient_noise"}}
    by_name = {exhibit.name: exhibit for exhibit in papers.TRULY.exhibits}
    names = ("Figure 4a", "Figure 4b", "Figure 10", "Figure 11", "Figure 13")
    assert [name for name in names if papers.is_filled(by_name[name], found)] == [
        "Figure 4a",
        "Figure 11",
    ]


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


def test_figures_over_many_models_are_filled_by_an_experiment_under_any_scenario(demo_home):
    """The demo's is under one_class, none of its runs under the competition's own scenario."""
    figures = papers.PAPERS[-1].exhibits
    one_class = {"one_class": {"digits"}}
    assert [
        papers.is_filled(each, Having({"one_class": ()}, one_class, many_models=True))
        for each in figures
    ] == [True, True]
    assert not any(
        papers.is_filled(each, Having({"competition": ()}, {"competition": {"faces"}}))
        for each in figures
    )
    text = words_on(opened(paper="competition"))
    assert "No run under this scenario" not in text and "No experiment with many models" not in text


def test_the_table_of_half_a_class_opens_on_half_a_class(demo_home):
    (link,) = [link for link in LINKS if link.query.get("table") == "efficacy-0.5"]
    at = open_page(link.page, **link.query)
    assert not at.exception and not at.error
    assert next(box for box in at.selectbox if box.label == "Forget set").value == link.query["set"]
    assert "Forget **50 samples of class 3**" in [
        each.proto.popover.label for each in at.get("popover")
    ]


@pytest.mark.parametrize(
    "link",
    [link for link in LINKS if link.query.get("over") == "forget set.n"],
    ids=lambda link: link.label,
)
def test_figure_8_opens_on_the_number_of_classes(demo_home, link: Link):
    at = open_page(link.page, **link.query)
    assert not at.exception and not at.error
    chosen = {box.label: box.value for box in at.selectbox}
    assert chosen["Method"] == link.query["of"] and chosen["Setting"] == "forget set.n"


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


def test_every_published_table_is_linked_from_the_index():
    """Except the counts that a reader chooses on the page, the other 200 and 300 classes and the
    other shares of one class.
    """
    linked = {
        link.query["table"] for link in LINKS if link.page == "results" and "table" in link.query
    }
    newer = {one.id for paper in BESIDE for one in paper.tables}
    every = {
        one.id
        for card in catalog.scenarios()
        for one in tables.printed_tables(card.id)
        if not one.id.startswith("persons-")
    } - newer
    chosen_there = {one for one in every if re.fullmatch(r"truly-\d+-[23]00|efficacy-.*", one)}
    assert every - chosen_there <= linked
    assert {link.query.get("table") for link in LINKS if link.page == "identity"} >= set(
        identity_frames.TABLES
    )


def test_newer_papers_link_to_each_of_their_tables(home):
    said = {link.proto.query_string for link in open_page("papers").get("page_link")}
    tables_of = {paper.id: {one.id for one in paper.tables} for paper in BESIDE}
    assert {paper: len(names) for paper, names in tables_of.items()} == {
        "salun": 2,
        "l1-sparse": 4,
        "lotus": 7,
    }
    for name in set().union(*tables_of.values()):
        assert any(f"table={name}" in query for query in said)


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


def test_an_exhibit_has_a_line_a_page_and_without_one_its_reason():
    link = (Link("Results", "results"),)
    exhibits = (
        Exhibit(name="Table 1", shows="a", links=link, scenarios=("one_class", "class_wise")),
        Exhibit(name="Table 2", shows="b", links=link, scenarios=("backdoor",)),
        Exhibit(name="Table 3", shows="c", missing="none"),
    )
    paper = Paper(
        id="x",
        title="X",
        citation="X",
        about="x",
        exhibits=exhibits,
        findings={},
        presets=(),
        small="",
    )
    frame = papers.frame([paper])
    assert list(frame["Page"]) == ["results", "results", "–"] and list(
        frame["Without counterpart"]
    ) == ["", "", "none"]


def test_a_paper_leads_to_a_launch_of_its_data(home):
    fill(home, "full")
    at = opened()
    assert "Launch MUBox, CIFAR-10" in links(at)


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


AWAY = [
    link
    for link in LINKS
    if link.query.get("scenario")
    in ("identities", "random_classes", "top_classes", "class_fraction")
    and (link.label, link.page)
    in {
        ("Persons", "results"),
        ("Table 9, at random", "results"),
        ("Table 11, near CUB", "results"),
        ("Results", "results"),
        ("Budget curves, all shares", "budget"),
        ("AGL", "representation"),
    }
]


def tab_of(link: Link) -> dict[str, str]:
    """What an address of an earlier page's name says besides."""
    return {TAB: MOVED[link.page][1]} if link.page in MOVED else {}


@pytest.mark.parametrize("link", AWAY, ids=lambda link: f"{link.page} {link.query['scenario']}")
def test_a_link_shows_its_scenario_although_other_data_have_more_runs(demo_home, link: Link):
    """Most runs of the demo are of Fashion-MNIST, which has none of these scenarios."""
    at = open_page(link.page, **link.query)
    assert not at.exception and not at.error
    if link.page != "budget":  # it shows several, each in a panel
        box = next(box for box in at.selectbox if box.label == "Scenario")
        assert box.value == link.query["scenario"]
    if "table" in link.query:
        printed = next(
            one
            for one in tables.printed_tables(link.query["scenario"])
            if one.id == link.query["table"]
        )
        assert printed.title in words_on(at)
