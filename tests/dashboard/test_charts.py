"""Figures of the reading pages: what they show by value, how they are drawn by structure."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from dashboard import frames, theme
from dashboard.charts import class_accuracy, loss_curve, method_settings, results_table, tradeoff
from dashboard.papers import tables
from dashboard.text import labels
from mucore import catalog
from mucore.verdicts import Check, Verdict, Word

# FA and TA of Retrain are 0.5 and 0.9; (FA gap, TA gap) of the methods
GAPS = {
    "finetune": (0.40, 0.01),
    "scrub": (0.04, -0.02),
    "ssd": (-0.02, -0.30),
    "salun": (0.06, -0.03),
}


def line(method: str, seed: int = 0, status: str = "ok") -> dict:
    return {
        "key": f"{method}-{seed}",
        "method": method,
        "method_preset": "authors",
        "parameters": "{}",
        "training_seed": seed,
        "unlearning_seed": 0,
        "evaluation_seed": 0,
        "status": status,
    }


@pytest.fixture
def table() -> frames.ResultsTable:
    lines = [
        line("original"),
        line("retrain"),
        *(line(method) for method in GAPS),
        line("bad_teacher", status="diverged"),
    ]
    values: list[tuple] = [
        ("original-0", "fa", 1.0, None, None),
        ("original-0", "ta", 0.91, None, None),
    ]
    values += [("retrain-0", "fa", 0.5, None, None), ("retrain-0", "ta", 0.9, None, None)]
    for method, (fa, ta) in GAPS.items():
        values += [
            (f"{method}-0", "fa", 0.5 + fa, fa, None),
            (f"{method}-0", "ta", 0.9 + ta, ta, None),
        ]
    values += [("bad_teacher-0", "fa", None, None, "No <forget> set & no value.")]
    return frames.results_table(
        pd.DataFrame(lines),
        pd.DataFrame(values, columns=["key", "metric", "value", "gap", "error"]),
        view="gap",
    )


def test_pareto_by_hand():
    """(distance, utility): b beats c in both; a and b trade; d ties with a and is no better, so
    both stay.
    """
    a, b, c, d = (0.0, 1.0), (1.0, 2.0), (1.5, 1.5), (0.0, 1.0)
    assert tradeoff.pareto([a, b, c, d]) == [True, True, False, True]
    assert tradeoff.pareto([]) == []


def test_tradeoff_info_is_in_points(table):
    info = tradeoff.tradeoff_info(table)
    marks = {mark.title: mark for mark in info.marks}
    assert (marks["SCRUB"].x, marks["SCRUB"].y) == (pytest.approx(4.0), pytest.approx(-2.0))
    assert marks["SCRUB"].x_half is None
    # nearest in FA: SSD (2 points), then SCRUB (4, but higher TA), then Fine-tune (highest TA);
    # SalUn is farther and lower than SCRUB
    assert {title for title, mark in marks.items() if mark.pareto} == {"SSD", "SCRUB", "Fine-tune"}
    assert info.original == (pytest.approx(50.0), pytest.approx(1.0))
    assert info.missing == ("Bad teacher",)
    # 30 points of TA lost; 50 points of FA away, where the farthest near method has 40
    assert info.outside == ("SSD", "Original")
    assert info.near_y[0] > -tradeoff.NEAR_POINTS > info.all_y[0] + 20
    # 0 to 40 and 15 % room on either side
    assert info.near_x == (pytest.approx(-6.0), pytest.approx(46.0))
    assert info.all_x[1] > 50


def with_verdicts(table: frames.ResultsTable, words: Mapping[str, Word]) -> frames.ResultsTable:
    """The same table, judged: `words` by method, provisional for SCRUB."""

    def judged(row: frames.Row) -> frames.Row:
        if row.method not in words:
            return row
        check = Check(
            metric="fa",
            value=0.9,
            original=1.0,
            retrain=0.5,
            band=0.04,
            tolerance=0.05,
            resolvable=True,
            progress=0.2,
            excess=0.4,
        )
        verdict = Verdict(
            word=words[row.method],
            metric="fa",
            sentence='Said of "it" & others.',
            provisional=row.method == "scrub",
            checks=(check,),
            retrains=3,
        )
        return replace(row, verdict=verdict)

    return replace(table, rows=tuple(judged(row) for row in table.rows))


def test_only_methods_that_forgot_are_called_unbeaten(table):
    judged = with_verdicts(
        table, {"ssd": "damaged", "scrub": "forgot", "finetune": "did nothing", "salun": "forgot"}
    )
    info = tradeoff.tradeoff_info(judged)
    assert {mark.title for mark in info.marks if mark.pareto} == {"SCRUB"}
    assert {mark.title: mark.verdict for mark in info.marks}["SCRUB"] == "forgot?"
    none = tradeoff.tradeoff_info(
        with_verdicts(table, dict.fromkeys(("ssd", "scrub", "finetune", "salun"), "damaged"))
    )
    assert not any(
        mark.pareto for mark in none.marks
    ) and "None of them forgot" in tradeoff.alt_text(none)


def test_the_verdict_stands_behind_the_method_as_icon_and_word(table):
    html = results_table.html(
        with_verdicts(table, {"original": "did nothing", "ssd": "damaged", "scrub": "forgot"}),
        dark=False,
    )
    cells = dict(
        re.findall(
            r'<tr data-row="([a-z_]+)-[^>]*>.*?</th>(<td class="verdict.*?</td>)', html, re.S
        )
    )
    assert (
        'class="icon solid"' in cells["ssd"]
        and ">cancel<" in cells["ssd"]
        and "</span>damaged</span>" in cells["ssd"]
    )
    assert (
        'class="icon"' in cells["scrub"]
        and "</span>forgot?</span>" in cells["scrub"]
        and "qualified" in cells["scrub"]
    )
    for said in (
        "Said of &quot;it&quot; &amp; others.",
        "ρ 0.20",
        "excess +40.0",
        "τ 5.0",
        "b 4.0",
        "3 Retrain seeds",
    ):
        assert said in cells["ssd"]
    assert (
        "–" in cells["retrain"] and 'data-sort="verdict"' in html and 'data-sort="family"' in html
    )
    widths = {
        len(re.findall("<t[dh]", line)) for line in re.findall(r"<tr data-row.*?</tr>", html, re.S)
    }
    assert widths == {
        len(re.findall("<th", html[html.index('class="heads"') :].partition("</tr>")[0]))
    }
    assert 'data-sort="verdict"' not in results_table.html(table, dark=False)


def test_tradeoff_figure(table):
    info = tradeoff.tradeoff_info(table)
    figure = tradeoff.draw(info, dark=False, selected=info.marks[0].row)
    families = [
        catalog.FAMILIES[f]
        for f in catalog.FAMILIES
        if any(mark.family == f for mark in info.marks)
    ]
    assert [trace.name for trace in figure.data] == [*families, "Retrain", "Original"]
    assert figure.layout.xaxis.title.text == "FA gap to Retrain, points: 0 is ideal"
    assert figure.layout.yaxis.title.text == "TA gap to Retrain, points"
    assert [shape.line.dash for shape in figure.layout.shapes] == ["dash", "dash"]
    assert sum(len(trace.x) for trace in figure.data) == len(GAPS) + 2
    symbols = {trace.name: trace.marker.symbol for trace in figure.data}
    assert symbols[catalog.FAMILIES["teacher"]] == theme.family_style("teacher").symbol
    named = {annotation.text for annotation in figure.layout.annotations}
    assert {"Retrain", "Original", "SSD"} <= named and "SalUn" not in named
    near = tradeoff.draw(info, dark=True, zoom=True)
    assert near.layout.yaxis.range == info.near_y
    assert "SSD" not in {annotation.text for annotation in near.layout.annotations}
    assert "Scatter of 4 methods" in tradeoff.alt_text(info)
    beside = tradeoff.draw(info, dark=False, legend=False)  # the table beside it has the same marks
    assert (
        figure.layout.showlegend
        and not beside.layout.showlegend
        and beside.layout.height == tradeoff.TALL
    )


def test_results_table_html(table):
    html = results_table.html(table, dark=False, selected=table.methods[0].id, sort="", paper=None)
    names = re.findall(r"</svg>([^<]+)<", html)
    assert names == ["Original", "Retrain", "SSD", "SCRUB", "Bad teacher", "Fine-tune", "SalUn"]
    assert html.count('class="references"') == 1
    families = len({row.family for row in table.methods})
    assert html.count('<tbody class="family">') == families
    assert html.count("data-row=") == len(table.rows) and html.count('class="selected"') == 1
    assert 'title="No &lt;forget&gt; set &amp; no value."' in html  # texts from runs are escaped
    references, methods = html.split('<tbody class="family">', 1)
    assert "background:" not in references and "background:" in methods
    assert re.search(r"diverged</span></th>", html)
    assert "+40.0" in html and "−30.0" in html  # gap view
    assert 'aria-sort="descending"' in results_table.html(
        table, dark=True, sort="fa", descending=True
    )


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (1600.0, "&lt;0.01"),
        (5.7e4, "0.06"),
        (1e4, "0.01"),
        (6.3e5, "0.63"),
        (7.4e7, "74"),
        (0.0, "0"),
    ],
)
def test_storage_has_two_decimals_at_most(table, size, text):
    """A narrow column: the number in full stands under the cursor and in the downloads."""
    row = table.methods[0]
    cell = frames.Cell(value=frames.Estimate(size, None, 1), gap=None)
    one = dataclasses.replace(
        table, rows=(dataclasses.replace(row, cells={**row.cells, "storage": cell}),)
    )
    cells = re.findall(r"<td[^>]*>(?:<span[^>]*>)?([^<]*)", results_table.html(one, dark=False))
    assert cells[-1] == text
    if 0 < size < results_table.SMALL:
        assert f'title="{labels.number(size, "MB")} MB"' in results_table.html(one, dark=False)


def test_the_papers_line_stands_below_its_method(table):
    paper = tables.Published(
        {("scrub", "ta"): 0.9285, ("retrain", "ta"): 0.9303},
        {("scrub", "ta"): -0.0018},
        "MUBox Table 1.",
    )
    html = results_table.html(table, dark=False, paper=paper)
    assert html.count('class="paper"') == 2
    assert "−0.2" in html and "93.0" in html


@pytest.mark.parametrize("family", [*catalog.FAMILIES, "unknown"])
def test_every_family_has_a_mark(family):
    mark = results_table.marker(family, dark=True)
    assert mark.startswith("<svg") and theme.family_style(family).color(True) in mark


def test_loss_curve_leaves_out_what_is_not_finite():
    info = loss_curve.loss_curve_info([2.0, float("nan"), 0.5, float("inf")])
    assert (info.epochs, info.losses, info.broken) == ((1, 3), (2.0, 0.5), 2)
    assert not info.log
    assert loss_curve.loss_curve_info([10.0, 0.01]).log
    figure = loss_curve.draw(info, dark=False)
    assert isinstance(figure, go.Figure) and list(figure.data[0].y) == [2.0, 0.5]
    assert figure.layout.yaxis.title.text == "Training loss"
    assert (
        loss_curve.draw(loss_curve.loss_curve_info([10.0, 0.01]), dark=True).layout.yaxis.type
        == "log"
    )
    assert loss_curve.alt_text(loss_curve.loss_curve_info([])).endswith("no epoch has ended yet.")


def test_class_accuracy_by_hand():
    """Class 0: 3 of 4 right; class 1 has no sample; class 2: 2 of 2."""
    confusion = np.array([[3, 0, 1], [0, 0, 0], [0, 0, 2]])
    info = class_accuracy.class_accuracy_info(
        confusion, ("shirt", "bag", "boot"), np.eye(3, dtype=int)
    )
    assert info.method == (75.0, None, 100.0)
    assert info.retrain == (100.0, 100.0, 100.0)
    assert class_accuracy.class_accuracy_info(confusion).names == ("0", "1", "2")
    figure = class_accuracy.draw(info, dark=False)
    assert [trace.name for trace in figure.data] == ["This run", "Retrain"]
    assert "lowest shirt with 75.0 %" in class_accuracy.alt_text(info)


@pytest.mark.parametrize(
    ("label", "lines"),
    [
        ("Whole classes · tuned", "Whole classes · tuned"),
        (
            "Part of one class · budget 2 % · digits, mlp, Quick",
            "Part of one class · budget 2 %<br>digits, mlp, Quick",
        ),
        (
            "A scenario without any dot that is longer than a line",
            "A scenario without any dot that is longer than a line",
        ),
    ],
)
def test_a_long_label_of_a_setting_breaks_at_a_dot(label, lines):
    assert method_settings.in_two_lines(label) == lines


def test_method_settings_has_three_panels_with_retrain_at_its_place():
    cells = {
        "fa": frames.Cell(gap=frames.Estimate(0.1, 0.02, 3)),
        "ta": frames.Cell(gap=frames.Estimate(-0.03, None, 1)),
        "rte": frames.Cell(value=frames.Estimate(0.2, None, 1)),
    }
    missing = {name: frames.Cell() for name in ("fa", "ta", "rte")}
    settings = [
        frames.Setting(
            label="Part of one class",
            scenario="one_class",
            title="SSD",
            cells=cells,
            runs=3,
            key="a",
            verdict=Verdict(word="forgot", metric="fa", sentence="It did.", provisional=True),
            distance=frames.Estimate(0.031, None, 1),
        ),
        frames.Setting(
            label="Whole classes",
            scenario="class_wise",
            title="SSD",
            cells=missing,
            runs=1,
            key="b",
            verdict=Verdict(word="forgot", metric="fa", sentence="It did.", provisional=False),
            status="unsolved",
        ),
        frames.Setting(
            label="Persons", scenario="identities", title="SSD", cells=missing, runs=1, key="c"
        ),
    ]
    info = method_settings.method_settings_info(settings)
    forget, test, cost = info.panels
    assert (forget.means, forget.halves, forget.retrain) == (
        (pytest.approx(10.0), None, None),
        (pytest.approx(2.0), None, None),
        0.0,
    )
    assert test.means == (pytest.approx(-3.0), None, None)
    assert (cost.means, cost.retrain) == ((0.2, None, None), 1.0)
    assert info.outcomes == (
        ("forgot?", "3.1 points"),
        ("forgot", "unsolved"),
        (),
    ) and info.qualified == (True, False, False)
    figure = method_settings.draw(info, family="influence", dark=False)
    assert len(figure.data) == 3 and len(figure.layout.shapes) == 3
    # a click opens the first run of a setting
    assert [each[0] for each in figure.data[2].customdata] == ["a", "b", "c"]
    beside = {note.y: note.text for note in figure.layout.annotations if note.yref == "y"}
    assert (
        beside["Part of one class"] == "<b>forgot?</b><br>3.1 points"
        and beside["Whole classes"] == "forgot<br>unsolved"
    )
    assert figure.layout.xaxis3.title.text.replace("<br>", " ") == method_settings.PANELS[2]
    assert "10.0 points" in method_settings.alt_text(info)
