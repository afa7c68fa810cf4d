"""The evidence report: what it holds against the store, that its HTML stands alone and escapes, its
LaTeX and PDF, and its page.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import OrderedDict
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from html.parser import HTMLParser

import numpy as np
import plotly.graph_objects as go
import pytest
from builders import full_results, full_store, make_result
from pages import as_retrain, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import report as evidence
from dashboard.report import html as report_html
from dashboard.report import latex as report_latex
from dashboard.report import render
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


def tables(report: evidence.Report, part: str) -> list[evidence.Table]:
    return [
        block
        for one in report.sections
        if one.part == part
        for block in one.blocks
        if isinstance(block, evidence.Table)
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
def test_a_figure_is_drawn_in_another_format():
    """As SVG it goes home in tests/browser/test_take_home.py."""
    assert render.image(go.Figure(go.Bar(y=[1, 2])), "png").startswith(b"\x89PNG")


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
