"""The report: what it holds against the store, that its HTML stands alone and escapes, its other
files and its page.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import pytest
import streamlit as st
from builders import full_results, full_store, make_result, make_spec_row
from pages import as_retrain, judged, open_page

from dashboard import access, report
from dashboard.data import DEMO
from dashboard.report import html as report_html
from dashboard.report import render
from dashboard.sections.reports import files
from dashboard.widgets import figures
from mucore.store import Store, open_pack, open_store
from mucore.store.results import Filters

opened = partial(open_page, "reports")
ATTACK = '<script>alert("1")</script> & <a href="https://x.example">y</a> 50% _$#'
VOID = {"meta", "br", "hr", "img", "input", "link", "col", "wbr"}
LOADS = {"src", "srcset", "href", "xlink:href", "action", "data", "poster", "background"}
HTML, LATEX, CSV, JSON = (
    "Report (HTML)",
    "Tables (LaTeX)",
    "All numbers (CSV)",
    "All records (JSON)",
)
Offered = dict[str, Callable[[], str]]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Offered:
    """What makes the files of the page's buttons, by their labels, on a machine without a
    browser.
    """
    made: Offered = {}

    def button(label: str, make: Callable[[], str], *rest: Any, **options: Any) -> None:
        made.update({label: make} if not options["disabled"] else {})

    monkeypatch.setattr(render, "browser", lambda: None)
    monkeypatch.setattr(st, "download_button", button)
    return made


class Reader(HTMLParser):
    """Reads a page strictly: every tag that opens must close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.rows: dict[str, list[str]] = {}  # texts of cells by that of the row's head
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)
            if self.open[-1] == "th":
                self.rows[data] = []
            elif self.open[-1] == "td" and self.rows:
                self.rows[list(self.rows)[-1]].append(data)

    def values(self, name: str) -> list[str]:
        return [value for _, each, value in self.attributes if each == name]


def built(store: Store, comparison: str = "", **filters: Any) -> report.Report:
    keys = [key for key in store.summaries(**filters)["key"]]
    return report.build(store, keys, comparison)


def drawn(made: report.Report) -> str:
    """The page with an SVG as plotly writes it for each figure: ids that repeat, references to
    them, and a label that became a link.
    """
    svg = (
        b'<svg xmlns="http://www.w3.org/2000/svg"><defs id="defs"><clipPath id="clip"/></defs>'
        b'<g clip-path="url(#clip)"><text><a xlink:href="http://x.example">y</a></text></g></svg>'
    )
    return report_html.html(made, {picture.name: svg for picture in made.pictures})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> report.Report:
    """Two scenarios, three methods, two seeds; a comparison, a flag and notes that try to be
    markup.
    """
    with open_store(tmp_path_factory.mktemp("report")) as store:
        for place, result in enumerate(full_results()):
            odd = result.spec["method"] == "salun"
            flags, notes = ((ATTACK,), (f"Took {place}.5 s",)) if odd else ((), ())
            store.put_result(replace(result, flags=flags, notes=notes))
        as_retrain(store, "salun")
        return built(store, f"Named {ATTACK}")


def blocks(made: report.Report, kind: type) -> list[Any]:
    return [each for one in made.sections for each in one.blocks if isinstance(each, kind)]


# --- what it holds
# --------------------------------------------------------------------------------------------------


def test_the_report_of_the_demo_has_the_stored_numbers(demo_home, offered):
    at = opened(settings="tuned")
    assert not at.exception and offered.keys() == {HTML, LATEX, CSV, JSON}
    text = offered[HTML]()
    read = Reader(text)
    with open_pack(DEMO) as store:
        chosen: Filters = {
            "dataset": "fashion-mnist-10k",
            "scenario": "class_wise",
            "method": "scrub",
        }
        runs = store.summaries(**chosen)
        runs = runs[runs["method_preset"] == "tuned"]
        values = store.metric_values(**chosen)
    mine = values[values["key"].isin(runs["key"])].groupby("metric")["value"].mean()
    assert len(runs) == 5
    shown = read.rows["SCRUB"]
    assert {f"{100 * mine[name]:.1f}" for name in ("ta", "tfa", "tra")} <= {*shown}
    assert shown[0] == "forgot" and runs["forget_hash"].iloc[0] in read.text
    assert "ships with the program" in "".join(read.text)
    tuned = json.loads(runs["parameters"].iloc[0])
    assert f"scrub.lr={tuned['lr']:g}" in text and "--seeds 0,1,2,3,4" in text


def test_every_forget_set_has_its_table_and_sizes_and_ranks_their_figures(tmp_path):
    with open_store(tmp_path) as store:
        for budget, count in ((0.1, 10), (0.2, 20)):
            for method, fa in (("retrain", 0.4), ("finetune", 0.9), ("ssd", 0.5), ("scrub", 0.4)):
                spec = make_spec_row(method=method, scenario_parameters={"budget": budget})
                alike = {"ta": 0.9, "ra": 0.9, "mia_confidence": 0.5}
                gaps = {} if method == "retrain" else dict.fromkeys(alike, 0.0) | {"fa": fa - 0.4}
                values = {**alike, "fa": fa, "rte": 0.5}
                store.put_result(make_result(spec, metrics=values, gaps=gaps, forget_count=count))
        alone = make_spec_row(method="retrain", scenario_parameters={"budget": 0.5})
        store.put_result(make_result(alone, metrics={"fa": 0.3}, forget_count=50))
        found = built(store)
    assert len(found.sections) == 7  # a Retrain alone makes no setting
    assert {"cost-1", "cost-2", "budget-one_class"} == {each.name for each in found.pictures}
    ranks = blocks(found, report.Table)[-1].frame.set_index("Method")["Average rank"]
    # by |FA gap|, 0, 0.1 and 0.5 at either size
    assert ranks.to_dict() == {"SCRUB": "1.00", "SSD": "2.00", "Fine-tune": "3.00"}


def test_warnings_that_differ_in_numbers_alone_are_counted_together(made):
    warned = next(each.frame for each in blocks(made, report.Table) if "Warn" in each.caption)
    lines = warned.set_index("Warning")["Runs"].to_dict()
    (note,) = (line for line in lines if line.startswith("Took"))
    assert lines[ATTACK] == lines[note] == 2 and note == "Took 5.5 s"  # the sixth of a seed


def test_runs_share_a_command_only_where_it_names_just_them(tmp_path):
    with open_store(tmp_path) as store:
        for training, unlearning in ((0, 0), (1, 0), (0, 1)):
            store.put_result(make_result(training_seed=training, unlearning_seed=unlearning))
        (command,) = blocks(built(store), report.Command)
    assert re.findall(r"--seeds.*?(?= --mia|\n|$)", command.text) == [
        "--seeds 0,1",
        "--seeds 0 --unlearning-seeds 1",
    ]


# --- HTML
# --------------------------------------------------------------------------------------------------


def test_html_stands_alone_and_escapes_what_people_typed(made):
    text = drawn(made)
    read = Reader(text)
    loaded = [value for name in LOADS for value in read.values(name)]
    assert loaded and all(value.startswith("#") for value in loaded)
    ids = read.values("id")
    assert {value[1:] for value in loaded} <= {*ids} and len(ids) == len(set(ids))
    assert "url(" not in re.sub(r"url\(#", "", text) and "@import" not in text
    assert "script" not in read.tags and "script-src" not in text and "default-src 'none'" in text
    shown = "".join(read.text)
    assert f"Named {ATTACK}" in shown and shown.count(ATTACK) == 1 + 2  # and a flag in two settings
    assert read.tags.count("figure") == len(made.pictures) == len(read.values("aria-label")) - 1


def test_without_a_browser_figures_draw_themselves_and_upload_nothing(made):
    """plotly.js offers to send a chart to its maker's cloud unless it is told not to."""
    text = report_html.html(made, {})
    read, plots = Reader(text), text.count("Plotly.newPlot(")
    assert read.tags.count("script") == 1 + len(made.pictures) and not read.values("src")
    assert text.count('"showSendToCloud": false') == plots >= 2
    assert "script-src 'unsafe-inline'" in text


# --- figures as files
# --------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not render.draws(), reason="no Chromium, or no kaleido")
def test_figures_are_drawn_in_every_format(made):
    wanted = [made.pictures[0].figure, go.Figure(go.Bar(y=[1, 2]))]
    svg = render.images(wanted, "svg")
    assert all(one is not None and one.lstrip().startswith(b"<svg") for one in svg)
    assert render.image(wanted[1], "png").startswith(b"\x89PNG")
    assert render.image(wanted[1], "pdf").startswith(b"%PDF")


def test_figures_of_every_page_come_as_svg_png_and_pdf(monkeypatch):
    frame, figure = pd.DataFrame({"x": [1]}), go.Figure()
    monkeypatch.setattr(render, "draws", lambda: True)
    monkeypatch.setattr(
        render,
        "images",
        lambda figures, kind, width: [f"{kind} {width} {figures[0] is figure}".encode()],
    )
    made = {label: (mime, make) for label, mime, make in figures._downloads(frame, figure)}
    assert [made[label][1]() for label in ("SVG", "PNG", "PDF")] == [
        b"svg 900 True",
        b"png 900 True",
        b"pdf 900 True",
    ]
    assert made["PDF"][0] == "application/pdf"
    monkeypatch.setattr(render, "draws", lambda: False)
    assert {label for label, _, _ in figures._downloads(frame, figure)} == {"CSV", "LaTeX", "HTML"}


DRAWS_BADLY = """
import json, subprocess, sys
asked = json.load(open(sys.argv[1]))
titles = [each["figure"]["layout"].get("title", {}).get("text") for each in asked["figures"]]
for each, title in zip(asked["figures"], titles):
    if title == "bad":
        raise SystemExit("cannot draw this")
    open(each["path"], "w").write(f"{asked['kind']} {asked['width']} {each['height']}")
"""


def test_one_bad_figure_does_not_take_the_others(tmp_path, monkeypatch):
    draw = tmp_path / "draw.py"
    draw.write_text(DRAWS_BADLY)
    monkeypatch.setattr(render, "_kept", OrderedDict())
    monkeypatch.setattr(render, "draws", lambda: True)
    monkeypatch.setattr(render, "DRAW", draw)
    asked = [
        go.Figure(layout={"height": height, "title": {"text": text}})
        for height, text in ((50, "fine"), (60, "bad"), (70, "fine"))
    ]
    fine = [f"svg {render.WIDTH} {height}".encode() for height in (50, 70)]
    assert render.images(asked, "svg") == [fine[0], None, fine[1]]


def test_a_browser_that_hangs_is_ended():
    sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert render._run(sleeps, 0.3, subprocess.DEVNULL) is None
    assert render._run([sys.executable, "-c", "exit(3)"], 60, subprocess.DEVNULL) == 3


# --- the page and its other files
# --------------------------------------------------------------------------------------------------


def put_judged(store: Store) -> None:
    """Original 100 % on the forget set, Retrain 50 %: SalUn forgot, gradient ascent damaged the
    model.
    """
    lines = {"original": (0.9, 1.0), "retrain": (0.9, 0.5), "salun": (0.9, 0.52)}
    for method, (ta, fa) in {**lines, "gradient_ascent": (0.6, 0.5)}.items():
        gaps = {} if method == "retrain" else {"ta": ta - 0.9, "ra": 0.0, "fa": fa - 0.5}
        values = {"ta": ta, "ra": 0.99, "fa": fa, "mia_confidence": 0.5}
        gaps |= {"mia_confidence": 0.0} if gaps else {}
        store.put_result(make_result(method=method, metrics=values, gaps=gaps))


def test_latex_csv_and_json_have_the_numbers_and_verdicts(home, offered):
    with open_store(home) as store:
        put_judged(store)
    assert not opened().exception
    lines = [line.split(" & ") for line in offered[LATEX]().splitlines() if line.endswith(r"\\")]
    assert len({len(line) for line in lines}) == 1 and len(lines) == 1 + 4
    (salun,) = (line for line in lines if line[0] == "SalUn")
    assert salun[1:3] == ["forgot?", "0.5"] and {"90.0", "52.0"} <= {*salun}
    rows = {row["method"]: row for row in csv.DictReader(io.StringIO(offered[CSV]()))}
    assert float(rows["salun"]["fa"]) == 0.52 and rows["gradient_ascent"]["verdict"] == "damaged"
    runs = {run["spec"]["method"]: run for run in json.loads(offered[JSON]())}
    assert runs["salun"]["verdict"]["word"] == "forgot" and runs["retrain"]["verdict"] is None
    assert runs["salun"]["distance"] == pytest.approx(0.005)


def test_a_selection_without_all_retrains_is_judged_as_on_the_pages(tmp_path):
    with open_store(tmp_path) as store:
        put_judged(store)
        chosen = [one.key for one in store.results()]
        # Retrains end between 30 and 70 % of the forget set: Original's 100 % is no longer far away
        for seed, fa in enumerate((0.3, 0.7, 0.35, 0.65), start=1):
            values = {"ta": 0.9, "ra": 0.99, "fa": fa, "mia_confidence": 0.5}
            store.put_result(make_result(method="retrain", training_seed=seed, metrics=values))
        (found,), _ = report.read(store, chosen)
        row = next(row for row in found.table.rows if row.method == "salun")
        line = judged(store)[row.keys[0]]
    assert row.verdict is not None and row.verdict == line.verdict
    assert (row.verdict.word, row.verdict.retrains) == ("nothing to forget", 5)


def test_guests_wait_for_their_turn_at_every_file(home, offered, monkeypatch, become):
    with open_store(home) as store:
        put_judged(store)
    monkeypatch.setattr(access, "PATIENCE", 0.01)
    become("guest")
    assert not opened().exception and len(offered) == 4
    for make in offered.values():
        with access.heavy(), pytest.raises(access.Busy):
            make()
        assert "salun" in make().lower()


def test_an_empty_store_and_references_alone_have_nothing_to_export(home, offered):
    open_store(home).close()
    at = opened(source="own")
    assert not at.exception and not at.error
    with open_store(home) as store:
        store.put_result(make_result(method="retrain"))
    assert not opened(source="own").exception and not offered


def test_too_many_runs_leave_the_numbers(home, offered, monkeypatch):
    full_store(home).close()
    monkeypatch.setattr(files, "MAX_RUNS", 5)
    at = opened(scenario="one_class")
    assert "5 runs" in at.warning[0].value and offered.keys() == {CSV, JSON}


def chosen_of(**query: str | Sequence[str]) -> int:
    at = opened(**query)
    assert not at.exception and not at.error
    return len(at.multiselect(key="url:sets").value)


def test_the_address_chooses_and_a_wrong_one_falls_back(home, offered):
    full_store(home).close()
    assert chosen_of(scenario=["one_class", "class_wise"], methods="salun") == 2
    assert chosen_of(scenario="one_class", parts=["answer"], title="Mine <b>") == 1
    assert chosen_of(scenario="no_such", sets="0", methods="x", comparison="99", dataset="q") == 1


def test_a_report_is_of_the_comparison_that_the_filters_show(home, offered):
    with full_store(home) as store:
        key = next(
            one.key
            for one in store.results()
            if (one.spec["scenario"], one.spec["method"]) == ("one_class", "salun")
        )
        plain = store.create_comparison("Plain", "", {}, [key]).id
        tagged = store.create_comparison("Tagged", "#talk", {}, [key]).id
    names = []
    for query in (
        {"comparison": str(plain)},
        {"comparison": str(plain), "tag": "talk"},
        {"comparison": str(tagged), "tag": "talk"},
    ):
        assert not opened(**query).exception
        names += re.findall(r"<dt>Comparison</dt><dd>(.*?)</dd>", offered[HTML]()) or [""]
    assert names == ["Plain", "", "Tagged. #talk"]
