"""Files of a page: that their HTML stands alone and escapes, and that figures come in every
format.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import OrderedDict
from datetime import UTC, datetime
from html.parser import HTMLParser

import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard.report import Facts, Items, Picture, Report, Section, Table, Text, render
from dashboard.report import html as report_html
from dashboard.widgets import figures

ATTACK = '<script>alert("1")</script> & <a href="https://x.example">y</a> 50% _$#'
VOID = {"meta", "br", "hr", "img", "input", "link", "col", "wbr"}
LOADS = {"src", "srcset", "href", "xlink:href", "action", "data", "poster", "background"}


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


def drawn(made: Report) -> str:
    """The page with an SVG as plotly writes it for each figure: ids that repeat, references to
    them, and a label that became a link.
    """
    svg = (
        b'<svg xmlns="http://www.w3.org/2000/svg"><defs id="defs"><clipPath id="clip"/></defs>'
        b'<g clip-path="url(#clip)"><text><a xlink:href="http://x.example">y</a></text></g></svg>'
    )
    return report_html.html(made, {picture.name: svg for picture in made.pictures})


@pytest.fixture
def made() -> Report:
    """Every block, with words that try to be markup and two figures."""
    frame = pd.DataFrame({"Method": ["SCRUB", ATTACK], "FA": ["93.1 ± 0.2", "–"]})
    pictures = [
        Picture(name, f"Figure {name}", ATTACK, go.Figure(go.Bar(y=[1, 2])), "Two bars.")
        for name in ("1", "2")
    ]
    blocks = (Text(ATTACK), Items((ATTACK,)), Facts(((ATTACK, ATTACK),)), Table(ATTACK, frame))
    sections = (Section(ATTACK, blocks), Section("Figures", tuple(pictures)))
    return Report(ATTACK, sections, demo=True, made=datetime(2026, 11, 29, tzinfo=UTC))


def test_html_stands_alone_and_escapes_what_people_typed(made):
    text = drawn(made)
    read = Reader(text)
    loaded = [value for name in LOADS for value in read.values(name)]
    assert loaded and all(value.startswith("#") for value in loaded)
    ids = read.values("id")
    assert {value[1:] for value in loaded} <= {*ids} and len(ids) == len(set(ids))
    assert "url(" not in re.sub(r"url\(#", "", text) and "@import" not in text
    assert "script" not in read.tags and "script-src" not in text and "default-src 'none'" in text
    # title twice, contents, head, text, item, fact, caption, cell, two figures
    assert "".join(read.text).count(ATTACK) == 12
    assert read.rows["SCRUB"] == ["93.1"] and read.rows[ATTACK] == ["–"]
    assert read.tags.count("figure") == len(made.pictures) == len(read.values("aria-label")) - 1


def test_without_a_browser_figures_draw_themselves_and_upload_nothing(made):
    """plotly.js offers to send a chart to its maker's cloud unless it is told not to."""
    text = report_html.html(made, {})
    read, plots = Reader(text), text.count("Plotly.newPlot(")
    assert read.tags.count("script") == 1 + len(made.pictures) and not read.values("src")
    assert text.count('"showSendToCloud": false') == plots >= 2
    assert "script-src 'unsafe-inline'" in text


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
