"""The evidence report: what it holds against the store, that its HTML stands alone and escapes, its
LaTeX and PDF, and its page.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import subprocess
import zipfile
from collections import OrderedDict
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
import streamlit as st
from builders import full_results, full_store, make_result, make_spec_row
from facts import tells
from pages import as_retrain, judged, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import access
from dashboard import report as evidence
from dashboard.report import html as report_html
from dashboard.report import latex as report_latex
from dashboard.report import render
from dashboard.sections.reports import making
from dashboard.widgets import figures
from mucore import catalog
from mucore.errors import BadValue
from mucore.store import Store, open_store

opened = partial(open_page, "reports")
MADE = datetime(2026, 5, 6, 7, 8, tzinfo=UTC)
ATTACK = '<script>alert("1")</script> & <a href="https://x.example">y</a> \\input{z} 50% _$#'
VOID = {"meta", "br", "hr", "img", "input", "link", "col", "wbr"}
LOADS = {"src", "srcset", "href", "xlink:href", "action", "data", "poster", "background"}


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "browser", lambda: None)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the page's download buttons hand out, by their labels."""
    files: dict[str, Any] = {}
    monkeypatch.setattr(
        st,
        "download_button",
        lambda label, content, *rest, **options: files.update({label: content}),
    )
    return files


def built(store: Store, **filters) -> evidence.Report:
    return evidence.build(
        store.summaries(**filters),
        store.metric_values(**filters),
        store.results(**filters),
        made=MADE,
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> evidence.Report:
    """Two scenarios, three methods, two seeds, with class counts, a flag and a note that try to be
    markup.
    """
    with open_store(tmp_path_factory.mktemp("report")) as store:
        for place, result in enumerate(full_results()):
            counts = np.full((10, 10), 1 + place % 3) + np.eye(10, dtype=int) * 20
            odd = result.spec["method"] == "salun"
            flags, notes = ((f"Flag {ATTACK}",), (f"Note {ATTACK}",)) if odd else ((), ())
            store.put_result(
                replace(result, confusion={"test": counts.tolist()}, flags=flags, notes=notes)
            )
        as_retrain(store, "salun")
        return built(store)


def section(report: evidence.Report, title: str) -> evidence.Section:
    return next(one for one in report.sections if one.title == title)


def tables(report: evidence.Report, part: str) -> list[evidence.Table]:
    return [
        block
        for one in report.sections
        if one.part == part
        for block in one.blocks
        if isinstance(block, evidence.Table)
    ]


def items(report: evidence.Report, title: str) -> list[str]:
    return [
        item
        for block in section(report, title).blocks
        if isinstance(block, evidence.Items)
        for item in block.items
    ]


def drawing(name: str) -> bytes:
    """An SVG as plotly writes it: ids that repeat in every file, references to them, and a label
    that became a link.
    """
    return (
        '<svg class="main-svg" xmlns="http://www.w3.org/2000/svg" width="760" height="400" '
        'viewBox="0 0 760 400"><defs id="defs-1"><clipPath id="clip"><rect width="4" '
        'height="4"/></clipPath></defs><g clip-path="url(#clip)"><use '
        f'xlink:href="#clip"/><text><a xlink:href="http://x.example">{name}</a></text></g></svg>'
    ).encode()


def page_of(report: evidence.Report) -> str:
    return report_html.html(
        report, {picture.name: drawing(picture.name) for picture in report.pictures}
    )


class Reader(HTMLParser):
    """Reads a page strictly: every tag that opens must close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.cells: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self._seen(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self._seen(tag, attrs)

    def _seen(self, tag, attrs):
        self.tags.append(tag)
        self.cells += [(tag, dict(attrs))] if tag in ("th", "td") else []
        self.ids += [value for name, value in attrs if name == "id"]
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text.append(data)


# --- what it holds
# --------------------------------------------------------------------------------------------------


def test_results_hold_the_means_of_the_store(tmp_path):
    with full_store(tmp_path) as store:
        report = built(store, scenario="class_wise")
        values = store.metric_values(scenario="class_wise").merge(
            store.summaries(scenario="class_wise")[["key", "method"]], on="key"
        )
    table = tables(report, "results")[0].frame.set_index("Method")
    gaps = tables(report, "gaps")[0].frame.set_index("Method")
    for method, title in (("salun", "SalUn"), ("retrain", "Retrain"), ("finetune", "Fine-tune")):
        mine = values[(values["method"] == method) & (values["metric"] == "tfa")]
        shown = str(table.loc[title, "TFA (%)"])
        assert shown.startswith(f"{100 * mine['value'].mean():.1f} ± ")
        if method != "retrain":
            gap = f"{100 * mine['gap'].mean():+.1f}".replace("-", "−")
            assert str(gaps.loc[title, "TFA (%)"]).startswith(gap)


def test_the_report_names_what_was_asked(report):
    asked = section(report, "What was asked").blocks[0]
    assert isinstance(asked, evidence.Facts)
    facts = dict(asked.facts)
    assert (
        facts["Data set"] == catalog.dataset("digits").title
        and facts["Model"] == catalog.model("mlp").title
    )
    assert "100 samples, hash ffffffffffffffff" in facts["Forget set"]
    assert tells(facts["Runs"], "20 runs", "2 training seeds", "0-1")
    methods = ("original", "retrain", "gradient_ascent", "finetune", "salun")
    assert facts["Methods"].split(", ") == [catalog.method(name).title for name in methods]


@pytest.mark.slow
def test_flags_and_notes_stand_in_full_and_name_their_run(report):
    flags = [item for item in items(report, "Flags and notes") if "Flag" in item]
    assert len(flags) == 4 and all(
        item.endswith(f"Flag {ATTACK}") and item.startswith("SalUn, ") for item in flags
    )
    assert {"training seed 0", "training seed 1"} == {
        re.findall(r"training seed \d", item)[0] for item in flags
    }
    assert f"Note {ATTACK} (4 runs: SalUn)" in items(report, "Flags and notes")


def test_every_run_is_configured_and_has_a_command(report):
    runs = section(report, "Configuration of every run")
    table = next(block for block in runs.blocks if isinstance(block, evidence.Table)).frame
    assert (
        len(table) == 20
        and table["Key"].is_unique
        and set(table["Seeds"]) == {"0, 0, 0", "1, 0, 0"}
    )
    commands = [
        block
        for one in report.sections
        for block in one.blocks
        if isinstance(block, evidence.Command)
    ]
    assert len(commands) == 8  # retrain and three methods, in two scenarios
    assert all(
        "python -m mucore run" in one.text and "--seeds 0,1" in one.text and "\n" not in one.text
        for one in commands
    )
    numbers = table.loc[table["Method"] == "SalUn", "Command"].tolist()
    assert len(set(numbers)) == 2 and all(
        "--methods salun" in commands[int(one) - 1].text for one in numbers
    )
    assert set(table.loc[table["Method"] == "Original", "Command"]) == {"–"}


@pytest.mark.slow
def test_runs_share_a_command_only_where_it_names_just_them(tmp_path):
    with open_store(tmp_path) as store:
        for training, unlearning in ((0, 0), (1, 0), (0, 1), (0, 2)):
            store.put_result(make_result(training_seed=training, unlearning_seed=unlearning))
        report = built(store)
    commands = [
        block.text
        for one in report.sections
        for block in one.blocks
        if isinstance(block, evidence.Command)
    ]
    assert [re.findall("--seeds.*(?= --mia)", text)[0] for text in commands] == [
        "--seeds 0,1",
        "--seeds 0 --unlearning-seeds 1,2",
    ]
    table = tables(report, "configuration")[0].frame
    assert dict(zip(table["Seeds"], table["Command"], strict=True)) == {
        "0, 0, 0": "1",
        "1, 0, 0": "1",
        "0, 1, 0": "2",
        "0, 2, 0": "2",
    }


def test_the_answer_and_only_sound_runs_compete(report):
    answer = tables(report, "answer")[0].frame
    # the numbers are drawn at random; in one of the two settings SalUn has Retrain's
    asked = {
        str(setting): list(lines["Asked"])
        for setting, lines in answer.groupby("Setting", sort=False)
    }
    some, none = sorted(asked.values(), key=len, reverse=True)
    assert some == ["What happened", "Nearest to Retrain", "Most accurate", "Cheapest", "Warnings"]
    assert none == ["What happened", "Nearest, most accurate, cheapest", "Warnings"]
    assert (answer["Answer"] == "None qualifies").sum() == 1
    twice = answer.loc[answer["Asked"] == "Warnings", "How it stands"]
    assert len(twice) == 2 and twice.str.contains("2 with a sanity flag").all()


def put_judged(store: Store) -> None:
    """Original 100 % on the forget set, Retrain 50 %: SalUn forgot, gradient ascent damaged the
    model, Fine-tune did nothing.
    """
    lines = {
        "original": (0.9, 1.0),
        "retrain": (0.9, 0.5),
        "salun": (0.9, 0.52),
        "gradient_ascent": (0.6, 0.5),
        "finetune": (0.9, 1.0),
    }
    for method, (ta, fa) in lines.items():
        gaps = (
            {}
            if method == "retrain"
            else {"ta": ta - 0.9, "ra": 0.0, "fa": fa - 0.5, "mia_confidence": 0.0}
        )
        store.put_result(
            make_result(
                method=method,
                metrics={"ta": ta, "ra": 0.99, "fa": fa, "mia_confidence": 0.5},
                gaps=gaps,
            )
        )


def test_tables_of_methods_have_verdict_and_distance_behind_the_method(tmp_path):
    with open_store(tmp_path) as store:
        put_judged(store)
        report = built(store)
    words = {
        "Original": "did nothing?",
        "SalUn": "forgot?",
        "Gradient ascent": "damaged",
        "Fine-tune": "did nothing?",
    }
    for part, by in (
        ("results", ""),
        ("gaps", ""),
        ("verdicts", ""),
        ("cost", "Setting"),
        ("statistics", "Setting"),
    ):
        frame = tables(report, part)[0].frame.drop(columns=by, errors="ignore")
        assert list(frame.columns[:2]) == ["Method", "Verdict"] and frame.columns[2].startswith(
            "Distance"
        ), part
        found = dict(zip(frame["Method"], frame["Verdict"], strict=True))
        assert {name: words[name] for name in found if name in words} == {
            name: found[name] for name in words if name in found
        }, part
        assert len(found) >= 4
    verdicts = tables(report, "verdicts")[0].frame.set_index("Method")
    # 0.5, 7.5 and 12.5 points from Retrain
    assert list(verdicts.index)[1:] == ["SalUn", "Gradient ascent", "Fine-tune"]
    assert (
        verdicts.loc["Gradient ascent", "Distance, points"] == "7.5"
        and "60.0 %" in verdicts.loc["Gradient ascent", "Why"]
    )
    answer = tables(report, "answer")[0].frame.set_index("Asked")
    assert answer.loc["What happened", "Answer"] == "1 line qualified"
    assert "did nothing" in answer.loc["What happened", "How it stands"]


def test_a_selection_without_all_retrains_is_judged_as_on_the_pages(tmp_path):
    with open_store(tmp_path) as store:
        put_judged(store)
        chosen = tuple(one.key for one in store.results())
        # Retrains end between 30 and 70 % of the forget set: Original's 100 % is no longer far away
        for seed, fa in enumerate((0.3, 0.7, 0.35, 0.65), start=1):
            store.put_result(
                make_result(
                    method="retrain",
                    training_seed=seed,
                    metrics={"ta": 0.9, "ra": 0.99, "fa": fa, "mia_confidence": 0.5},
                )
            )
        line = judged(store)[next(one.key for one in store.results() if is_salun(one))]
        alone = tables(built(store, keys=chosen), "verdicts")[0].frame.set_index("Method")
        report = making.built(store, "own", 0, chosen, "")
    assert line.verdict is not None and line.verdict.retrains == 5
    said = tables(report, "verdicts")[0].frame.set_index("Method")
    assert said["Why"]["SalUn"] == line.verdict.sentence != alone["Why"]["SalUn"]
    assert [each["Verdict"]["SalUn"] for each in (said, alone)] == ["nothing to forget", "forgot?"]


def is_salun(result):
    return result.spec["method"] == "salun"


def test_statistics_hold_the_interval_of_the_seeds(tmp_path):
    with open_store(tmp_path) as store:
        for seed, ta in ((0, 0.80), (1, 0.90)):
            store.put_result(
                make_result(method="retrain", training_seed=seed, metrics={"ta": 0.9, "fa": 0.5})
            )
            store.put_result(
                make_result(
                    training_seed=seed,
                    metrics={"ta": ta, "fa": 0.5},
                    gaps={"ta": ta - 0.9, "fa": 0.0},
                )
            )
        report = built(store)
    table = tables(report, "statistics")[0].frame.set_index("Method")
    # mean 85, s = 7.071 points, t(0.975, 1) = 12.706: half width 63.5
    assert table.loc["Fine-tune", "TA mean, %"] == "85.0 [21.5, 148.5]"
    assert table.loc["Fine-tune", "TA gap, points"] == "−5.0 [−68.5, +58.5]"
    assert table.loc["Retrain", "FA mean, %"] == "50.0 [50.0, 50.0]"


@pytest.mark.slow
def test_sizes_of_the_forget_set_make_a_figure(tmp_path):
    with open_store(tmp_path) as store:
        for budget, count in ((0.1, 10), (0.2, 20)):
            for method, fa in (("retrain", 0.4), ("finetune", 0.9)):
                spec = make_spec_row(method=method, scenario_parameters={"budget": budget})
                gaps = {} if method == "retrain" else {"ta": 0.0, "fa": fa - 0.4}
                store.put_result(
                    make_result(spec, metrics={"ta": 0.9, "fa": fa}, gaps=gaps, forget_count=count)
                )
        report = built(store)
        outline = evidence.outline(store.summaries())
    figures = {picture.name for picture in report.pictures}
    assert {"budget-1"} == figures
    assert outline["budget"] == "1 figure" and outline["results"] == "2 tables, 4 lines"


def test_nothing_and_too_much_are_refused(tmp_path, monkeypatch):
    with full_store(tmp_path) as store:
        with pytest.raises(BadValue, match="nothing to report"):
            built(store, scenario="all_classes")
        monkeypatch.setattr("dashboard.report.report.MAX_RUNS", 5)
        with pytest.raises(BadValue, match="at most 5"):
            built(store)


def test_what_a_person_typed_is_cut_and_cleaned(report):
    titled = report.titled("a\x00b" + "x" * 500, "  ", "one\ntwo\x07")
    assert titled.title.startswith("a b") and len(titled.title) == evidence.MAX_TITLE
    assert titled.author == "" and titled.remark == "one\ntwo"
    assert report.titled(" \n", "", "").title == evidence.DEFAULT_TITLE


# --- figures
# --------------------------------------------------------------------------------------------------


# --- HTML
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_html_is_well_formed_and_in_order(report):
    text = page_of(report)
    read = Reader(text)
    assert text.startswith("<!DOCTYPE html>") and '<html lang="en">' in text
    assert read.tags.count("h1") == 1 and len(read.ids) == len(set(read.ids))
    levels = [int(tag[1]) for tag in read.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1 and all(
        after <= before + 1 for before, after in zip(levels, levels[1:], strict=False)
    )
    assert all(
        attributes.get("scope") in ("col", "row", "colgroup")
        for tag, attributes in read.cells
        if tag == "th"
    )
    alts = [value for tag, name, value in read.attributes if tag == "div" and name == "aria-label"]
    assert read.tags.count("figure") == len(report.pictures) == len(alts) and all(alts)
    anchors = {value[1:] for tag, name, value in read.attributes if tag == "a" and name == "href"}
    assert anchors and anchors <= set(read.ids)


def test_html_stands_alone(report):
    text = page_of(report)
    read = Reader(text)
    loaded = [value for _, name, value in read.attributes if name in LOADS]
    assert loaded and all(value.startswith("#") for value in loaded)
    assert "url(" not in re.sub(r"url\(#", "", text) and "@import" not in text
    assert "script" not in read.tags and "script-src" not in text and "default-src 'none'" in text


def test_figures_in_files_upload_nothing(report):
    """plotly.js offers to send a chart to its maker's cloud unless it is told not to."""
    text = report_html.html(report, {})
    assert text.count('"showSendToCloud": false') == text.count("Plotly.newPlot(") > 0


def test_html_escapes_what_people_typed(report):
    text = page_of(report.titled(ATTACK, ATTACK, ATTACK))
    read = Reader(text)
    assert "script" not in read.tags
    shown = "".join(read.text)
    assert shown.count(ATTACK) >= 3 + 4 + 1  # title, author and remark, four flags, one note
    assert f"Flag {ATTACK}" in shown and f"Note {ATTACK}" in shown
    style = text[text.index("<style>") : text.index("</style>")]
    assert "<" not in style.removeprefix("<style>") and "\\00003Cscript" in style


def test_html_shows_the_tables_cell_by_cell(report):
    read = "".join(Reader(page_of(report)).text)
    frame = tables(report, "results")[0].frame
    noise, *texts = frame["TA (%)"]
    assert noise.startswith("± ") and noise in read
    for text in texts:
        value, _, half = text.partition(" ± ")
        assert f"{value}±{half}" in read
    assert all(key in read for key in tables(report, "configuration")[0].frame["Key"])


@pytest.mark.slow
def test_without_a_browser_figures_draw_themselves(report):
    text = report_html.html(report.only(["cost"]), {})
    read = Reader(text)
    assert read.tags.count("script") == 1 + 2  # the library once, then a figure a scenario
    assert (
        not any(name == "src" for _, name, _ in read.attributes)
        and text.count("Plotly.newPlot(") >= 2
    )
    assert "script-src 'unsafe-inline'" in text


# --- LaTeX and PDF
# --------------------------------------------------------------------------------------------------


def test_latex_escapes_what_people_typed(report):
    text = report_latex.latex(report.titled(ATTACK, ATTACK, ATTACK))
    assert r"\textbackslash{}input\{z\} 50\% \_\$\#" in text and r"\input{z}" not in text.replace(
        r"\textbackslash{}input", ""
    )
    assert text.startswith(r"\documentclass") and text.endswith("\\end{document}\n")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") >= len(report.tables)
    assert "[U+" not in text


def test_latex_rows_have_equal_cells():
    frame = pd.DataFrame({"Name": ["[a", "b & c"], "Long": ["word " * 40, "x"], "N": ["1.0", "−2"]})
    lines = report_latex.table(evidence.Table("caption", frame)).splitlines()
    rows = [line for line in lines if line.endswith(r"\\")]
    assert len(rows) == 3 and all(len(re.findall(r"(?<!\\)&", row)) == 2 for row in rows)
    assert rows[1].startswith("{}[a") and rows[2].startswith(r"b \& c")
    assert r"\begin{tabular}{lp{165mm}r}" in "\n".join(lines)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(report, tmp_path):
    (tmp_path / "report.tex").write_text(
        report_latex.latex(report.titled(ATTACK, "é 中文 [x]", "[start\n* end")), encoding="utf-8"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "report.tex"],
        cwd=tmp_path,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


needs_browser = pytest.mark.skipif(not render.draws(), reason="no Chromium, or no kaleido")


@pytest.mark.slow
@needs_browser
def test_pdf_has_pages(report):
    content = render.pdf(page_of(report))
    assert content.startswith(b"%PDF") and len(re.findall(rb"/Type\s*/Page\b", content)) > 3


@pytest.mark.slow
@needs_browser
def test_figures_are_drawn_in_every_format(report):
    figures = [report.pictures[0].figure, go.Figure(go.Bar(y=[1, 2]))]
    svg = render.images(figures, "svg")
    assert all(one is not None and one.lstrip().startswith(b"<svg") for one in svg)
    text = report_html.html(
        report.only(["cost"]), dict(zip(("1-cost", "2-cost"), svg, strict=True))
    )
    read = Reader(text)
    assert "script" not in read.tags and len(read.ids) == len(set(read.ids))
    assert render.image(figures[1], "png").startswith(b"\x89PNG") and render.image(
        figures[1], "pdf"
    ).startswith(b"%PDF")


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_browser_that_hangs_is_ended(tmp_path, monkeypatch):
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(render, "browser", lambda: str(program))
    with pytest.raises(render.NotRendered, match="within 0.3 s"):
        render.pdf("<p>x</p>", seconds=0.3)
    program.write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(render.NotRendered, match="gave no PDF"):
        render.pdf("<p>x</p>")


# --- the page
# --------------------------------------------------------------------------------------------------


def downloads(at: AppTest) -> list[str]:
    """Labels of the page's own downloads; every page can be taken home."""
    labels = [element.proto.label for element in at.get("download_button")]
    return [label for label in labels if label != "Take home"]


def press(at: AppTest, kind: str) -> AppTest:
    at.button(key=f"make:{kind}").click().run()
    assert not at.exception
    return at


@pytest.mark.slow
def test_full_page_makes_files_that_go_when_the_selection_changes(home, no_browser):
    full_store(home).close()
    at = opened(scenario=["one_class", "class_wise"])
    # no sizes to compare
    assert (
        "20" in words_on(at)
        and len([box for box in at.checkbox if box.value]) == len(evidence.PARTS) - 1
    )
    press(press(at, "LaTeX"), "HTML")
    assert [label.split(" (")[0] for label in downloads(at)] == [
        "Download HTML",
        "Download LaTeX",
        "CSV",
        "JSON",
    ]
    at.checkbox(key="url:parts:cost").uncheck().run()
    assert (
        downloads(at) == ["CSV", "JSON"]
        and "cost" not in at.query_params["parts"]
        and "answer" in at.query_params["parts"]
    )
    at.checkbox(key="url:parts:cost").check().run()
    assert "parts" not in at.query_params


def test_the_json_of_a_selection_has_the_verdict_of_every_run(home, no_browser, offered):
    with open_store(home) as store:
        put_judged(store)
    at = opened()
    assert not at.exception and "1 of 3 lines forgot" in words_on(at)
    runs = {run["spec"]["method"]: run for run in json.loads(offered["JSON"]())}
    assert (
        runs["salun"]["verdict"].keys() >= {"word", "sentence", "metric", "shown"}
        and runs["salun"]["verdict"]["word"] == "forgot"
    )
    assert runs["salun"]["distance"] == pytest.approx(0.005) and runs["retrain"]["verdict"] is None


@pytest.mark.slow
def test_guests_wait_for_their_turn_at_all_numbers_of_a_selection(
    home, no_browser, offered, monkeypatch, become
):
    with open_store(home) as store:
        put_judged(store)
    monkeypatch.setattr(access, "PATIENCE", 0.01)
    become("guest")
    assert not opened().exception and offered.keys() == {"CSV", "JSON"}
    for make in offered.values():
        with access.heavy(), pytest.raises(access.Busy):
            make()
        assert "salun" in make()


@pytest.mark.slow
def test_a_file_outlives_a_change_of_the_store_and_says_so(home, no_browser):
    full_store(home).close()
    at = press(opened(scenario="one_class"), "LaTeX")
    with open_store(home) as store:
        store.put_result(make_result(scenario="all_classes"))
    at.run()
    assert downloads(at)[0].startswith("Download LaTeX") and "The store has changed" in words_on(at)


def test_the_address_chooses_and_a_wrong_one_falls_back(home, no_browser):
    full_store(home).close()
    at = opened(
        scenario="class_wise",
        methods="salun",
        parts=["answer", "cost", "no_such"],
        title="Mine <b>",
    )
    assert [box.key for box in at.checkbox if box.value] == ["url:parts:answer", "url:parts:cost"]
    assert (
        "1 setting" in "".join(box.label for box in at.checkbox)
        and at.text_input(key="url:title").value == "Mine <b>"
    )
    at = opened(
        scenario="no_such", sets="0", methods="x", parts="y", run="z", comparison="99", dataset="q"
    )
    assert not at.exception and not at.error and "CSV" in downloads(at)


@pytest.mark.slow
def test_figures_without_a_browser_are_pages_in_the_archive(home, no_browser, monkeypatch):
    full_store(home).close()
    files = []
    monkeypatch.setattr(
        st,
        "download_button",
        lambda label, content, *rest, **options: files.append((label, content)),
    )
    press(opened(scenario="one_class"), "Figures")
    archive = zipfile.ZipFile(
        io.BytesIO(
            next(content for label, content in files if label.startswith("Download Figures"))
        )
    )
    assert {"1-cost.html", "plotly.min.js", "README.txt", "figures.txt"} <= set(archive.namelist())
    assert b'src="plotly.min.js"' in archive.read("1-cost.html")


@pytest.mark.slow
def test_demo_is_named_in_page_and_report(demo_home, monkeypatch, no_browser):
    files = []
    monkeypatch.setattr(
        st,
        "download_button",
        lambda label, content, *rest, **options: files.append((label, content)),
    )
    at = press(opened(), "LaTeX")
    assert not at.exception
    text = next(content for label, content in files if label.startswith("Download LaTeX")).decode()
    assert "Demo results" in text and r"\toprule" in text


def test_a_report_is_of_the_comparison_that_the_filters_show(home, no_browser, monkeypatch):
    asked = []
    monkeypatch.setattr(
        making,
        "make",
        lambda kind, source, keys, parts, typed, comparison, say: asked.append(comparison) or b"x",
    )
    with full_store(home) as store:
        key = next(one.key for one in store.results() if one.spec["scenario"] == "one_class")
        plain = store.create_comparison("Plain", "", {}, [key]).id
        tagged = store.create_comparison("Tagged", "#talk", {}, [key]).id
    for query in (
        {"comparison": str(plain)},
        {"comparison": str(plain), "tag": "talk"},
        {"comparison": str(tagged), "tag": "talk"},
    ):
        press(opened(**query), "LaTeX")
    assert asked == ["Plain", "", "Tagged. #talk"]
