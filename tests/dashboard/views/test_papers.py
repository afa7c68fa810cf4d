"""Papers: the index is whole, its links and commands name what exists, and the page shows it."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from urllib.parse import parse_qsl

import pandas as pd
import pytest
from builders import full_store, make_result
from facts import tells
from pages import fill, open_page, words_on

from dashboard import papers
from dashboard.frames import identity as identity_frames
from dashboard.frames import representation as representation_frames
from dashboard.pages import BY_ID
from dashboard.papers import PAPERS, Coverage, Exhibit, Having, Link, Paper, Standing, tables
from dashboard.papers.newer import BESIDE
from dashboard.sections.papers.exhibits import no_runs, other_data
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.runner.plan import expand, parse_grid
from mucore.store import open_store

ROOT = Path(__file__).resolve().parents[3]
opened = partial(open_page, "papers")
EXHIBITS = [
    pytest.param(paper, exhibit, id=f"{paper.id} {exhibit.name}")
    for paper in PAPERS
    for exhibit in paper.exhibits
]
LINKS = [link for paper in PAPERS for exhibit in paper.exhibits for link in exhibit.links]
COMMANDS = [
    command
    for paper in PAPERS
    for command in (paper.small, *(c for exhibit in paper.exhibits for c in exhibit.commands))
]
# What the papers print, and which of their findings this project follows.
PRINTED = {
    "mubox": {
        *(f"Table {n}" for n in (1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12)),
        *(f"Figure {n}" for n in range(3, 8)),
    },
    "persons": {"Figure 1", "Figure 3", "Figure 4"},
    "truly": {
        *(f"Table {n}" for n in (1, 2, 3, 4, 5, 7, 8, *range(9, 16))),
        *(f"Figure {n}" for n in ("2", "3", "4a", "4b", *range(5, 14))),
    },
    "efficacy": {"Table 1", *(f"Figure {n}" for n in range(1, 9))},
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


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.id)
def test_every_table_and_figure_appears_once(paper):
    named = [number for exhibit in paper.exhibits for number in sorted(numbered(exhibit.name))]
    assert sorted(named) == sorted(PRINTED[paper.id])
    letter, count = FINDINGS[paper.id]
    assert list(paper.findings) == [f"{letter}{n}" for n in range(1, count + 1)]
    assert paper.presets and all(catalog.preset(name).source for name in paper.presets)


def test_the_unnumbered_tables_of_the_persons_are_there():
    names = [exhibit.name for exhibit in papers.CHOI.exhibits]
    assert {"MUFAC table", "MUCAC table", "Three single-attribute tables"} <= set(names)


@pytest.mark.parametrize(("paper", "exhibit"), EXHIBITS)
def test_every_line_leads_to_a_page_or_says_why_not(paper: Paper, exhibit: Exhibit):
    assert exhibit.shows.endswith(".") and (exhibit.links or exhibit.missing.endswith("."))
    assert bool(exhibit.links) == bool(exhibit.scenarios)
    for link in exhibit.links:
        assert link.page in BY_ID and (ROOT / "dashboard" / BY_ID[link.page].file).is_file()
        for name, known in (
            ("scenario", catalog.scenarios()),
            ("dataset", catalog.datasets()),
            ("model", catalog.models()),
        ):
            assert link.query.get(name, known[0].id) in {card.id for card in known}
        assert set(link.datasets) <= {card.id for card in catalog.datasets()} and (
            not link.datasets or "scenario" in link.query
        )
        views = set(
            re.findall(
                r'^    "(\w+)": "',
                (ROOT / "dashboard" / "views" / "representation.py").read_text(encoding="utf-8"),
                re.MULTILINE,
            )
        )
        assert link.page != "representation" or link.query["view"] in views
    assert set(exhibit.scenarios) <= {card.id for card in catalog.scenarios()}


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


def test_figures_over_many_models_say_that_there_is_no_experiment(home):
    full_store(home).close()
    many = [each for each in papers.COMPETITION.exhibits if each.many_models]
    (said,) = {no_runs(each) for each in many}
    assert tells(said, "No experiment", "many models", "command")
    assert words_on(opened(paper="competition")).count(said) == len(many) == 2


def test_a_link_of_a_filled_line_says_that_it_opens_on_other_data(demo_home):
    text = words_on(opened(paper="persons"))
    (persons,) = [paper for paper in PAPERS if paper.id == "persons"]
    targets = [target for each in persons.exhibits for target in each.links]
    (other,) = [target for target in targets if target.datasets and other_data(target) in text]
    assert other.label == "Third table, smiling" and text.count(other_data(other)) == 1
    assert set(other.datasets) == {"mucac-smiling", "faces-attributes-smiling"}
    names = [catalog.dataset(name).title for name in other.datasets]
    assert tells(text, other.label, "no run", " or ".join(names))


def test_figure_10_varies_the_rate_that_duck_trains_with_where_classes_go():
    figure = next(exhibit for exhibit in papers.TRULY.exhibits if exhibit.name == "Figure 10")
    assert [link.query["over"] for link in figure.links if link.query["of"] == "duck"] == [
        "method.class_lr",
        "method.epochs",
    ]
    assert sum("duck.class_lr=" in command for command in figure.commands) == 3
    assert not any("duck.lr=" in command for command in figure.commands)


def test_what_a_figure_over_a_setting_wants_is_said(home):
    grid = {
        "dataset": "digits",
        "model": "mlp",
        "methods": [{"id": "pseudo_labels"}],
        "scenarios": [{"id": "random_classes"}],
    }
    with open_store(home) as store:
        for spec in expand(parse_grid(grid))[0]:
            store.put_result(make_result(spec, metrics={"agl": 0.5}))
    text = words_on(opened(paper="truly"))
    for named in (
        ("learning rate", "the commands"),
        ("gradient noise", "the command"),
        ("layers that may change",),
    ):
        assert tells(text, "No runs", *named)


def test_the_table_of_half_a_class_opens_on_half_a_class(demo_home):
    (link,) = [link for link in LINKS if link.query.get("table") == "efficacy-0.5"]
    at = open_page(link.page, **link.query)
    assert not at.exception and not at.error
    assert next(box for box in at.selectbox if box.label == "Forget set").value == link.query["set"]
    assert "fraction 50" in words_on(at)


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


def test_what_is_not_there_of_a_table_with_a_page_is_said(home):
    (table,) = [exhibit for exhibit in papers.TRULY.exhibits if exhibit.name == "Table 8"]
    assert table.links and "deviations cannot be switched on" in table.missing
    assert "8" not in set(tables.cells("truly")["table"])
    full_store(home).close()
    text = words_on(opened(paper="truly"), escaped=True)
    assert escape(table.missing) in text and no_runs(table) in text
    assert tells(no_runs(table), "No run", "scenario")


def test_both_sizes_of_poison_stand_behind_the_link_of_figures_5_and_6(home):
    (figure,) = [exhibit for exhibit in papers.MUBOX.exhibits if exhibit.name == "Figures 5, 6"]
    (link,) = figure.links
    with open_store(home) as store:
        for budget in (0.05, 0.1):
            made_of = {
                "dataset": "digits",
                "model": "mlp",
                "methods": [{"id": "finetune"}, {"id": "salun"}],
            }
            grid = {
                **made_of,
                "scenarios": [{"id": "label_flip", "parameters": {"budget": budget}}],
            }
            for spec in expand(parse_grid(grid))[0]:
                poisoned = replace(
                    make_result(spec, metrics=dict.fromkeys(("ta", "fa", "fa_true"), 0.5)),
                    forget_count=round(1200 * budget),
                )
                store.put_result(poisoned)
    at = open_page(link.page, **link.query)
    assert not at.exception and not at.error
    text = words_on(at)
    assert (
        "**60 poisoned samples**" in text
        and "**120 poisoned samples**" in text
        and len(at.get("plotly_chart")) >= 2
    )
    (sizes,) = [box for box in at.selectbox if box.label == "Poisoned"]
    assert [*sizes.options] == ["All", "120 samples", "60 samples"]
    assert len(figure.commands) == 2


def test_only_a_table_about_other_papers_has_no_page():
    assert [
        exhibit.name for paper in PAPERS for exhibit in paper.exhibits if not exhibit.links
    ] == ["Table 1"]
    assert not papers.TRULY.exhibits[0].links  # that of Are We Truly Forgetting?


@pytest.mark.parametrize("link", LINKS, ids=lambda link: f"{link.page} {link.label}")
def test_a_link_names_a_printed_table_of_its_scenario(link: Link):
    scenario, table = link.query.get("scenario", ""), link.query.get("table")
    if link.page == "results" and table:
        (printed,) = [one for one in tables.printed_tables(scenario) if one.id == table]
        assert (
            link.query["paper"] == "1" and link.query.get("model", printed.model) == printed.model
        )
        assert link.query.get("dataset", printed.datasets[0]) == printed.datasets[0]
    elif link.page == "identity" and table:
        assert (
            link.query["paper"] == "1" and link.datasets == identity_frames.TABLES[table].datasets
        )
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


@pytest.mark.parametrize("command", sorted(set(COMMANDS)))
def test_every_command_names_what_exists(command):
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
    listed = [
        "- **R1, nearer to the original:** appears for",
        "  *all* six.",
        "- **R2, R3:** DUCK is first.",
        ("- **Of shares, E1 to E3 (digits):** Falls (E1). Training does not. E3 appears: by half."),
        "- **Something else (R5):** no row of its own.",
    ]
    assert papers.fidelity("\n".join(listed)) == {
        "R1": Standing("appears for all six", ""),
        "R2": Standing("DUCK is first", ""),
        "R3": Standing("DUCK is first", ""),
        "E1": Standing("Falls (E1). Training does not", ""),
        "E3": Standing("E3 appears: by half", ""),
    }
    document = papers.fidelity((ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8"))
    assert {name for paper in papers.PAPERS for name in paper.findings} <= set(document)


def test_coverage_counts_what_has_a_page_and_runs():
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
    assert papers.coverage(
        [paper], Having({"class_wise": ()}, {"class_wise": ["digits"]})
    ) == Coverage(exhibits=3, live=2, filled=1)
    assert papers.coverage([paper], Having({}, {})) == Coverage(3, 2, 0)
    frame = papers.frame([paper])
    assert list(frame["Page"]) == ["results", "results", "–"] and list(
        frame["Without counterpart"]
    ) == ["", "", "none"]


@pytest.mark.parametrize("amount", ["empty", "one", "full"])
def test_the_page_opens(home, amount):
    fill(home, amount)
    at = opened()
    assert not at.exception and not at.error
    assert at.title[0].value.endswith("?")
    labels = [element.proto.label for element in at.get("page_link")]
    assert ("Launch a comparison" in labels) == (amount == "empty")
    assert "Launch MUBox, CIFAR-10" in labels
    live = sum(bool(exhibit.links) for paper in PAPERS for exhibit in paper.exhibits)
    scenarios = {"empty": [], "one": ["one_class"], "full": ["one_class", "class_wise"]}[amount]
    filled = papers.coverage(
        PAPERS, Having(dict.fromkeys(scenarios, ()), dict.fromkeys(scenarios, ("toy",)))
    ).filled
    assert {f"#### {live}", f"#### {filled}"} <= {one.value for one in at.markdown}


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
        papers.address(link, none) in queries
        for exhibit in paper.exhibits
        for link in exhibit.links
    )
    assert ("What the paper found" in text) == bool(paper.findings)


def test_a_wrong_paper_falls_back_to_the_first(home):
    full_store(home).close()
    assert escape(PAPERS[0].citation) in words_on(opened(paper="no-such"), escaped=True)


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


@pytest.mark.parametrize("link", AWAY, ids=lambda link: f"{link.page} {link.query['scenario']}")
def test_a_link_shows_its_scenario_although_other_data_have_more_runs(demo_home, link: Link):
    """Most runs of the demo are of Fashion-MNIST, which has none of these scenarios."""
    at = open_page(link.page, **link.query)
    assert not at.exception and not at.error
    assert (
        next(box for box in at.selectbox if box.label == "Scenario").value == link.query["scenario"]
    )
    if "table" in link.query:
        printed = next(
            one
            for one in tables.printed_tables(link.query["scenario"])
            if one.id == link.query["table"]
        )
        assert printed.title in words_on(at)
