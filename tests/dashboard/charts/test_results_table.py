"""The results table as HTML."""

from __future__ import annotations

import dataclasses
import re
from html import escape

import pytest
from gap_tables import with_verdicts

from dashboard import frames
from dashboard.charts import results_table
from dashboard.papers import tables
from dashboard.text import labels


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
    for said in ("Said of &#34;it&#34; &amp; others.", "progress 0.20", "+40.0"):
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


def test_results_table_html(table):
    html = results_table.html(table, dark=False, selected=table.methods[0].id, sort="", paper=None)
    names = re.findall(r"</svg>([^<]+)<", html)
    assert names == ["Original", "Retrain", "SSD", "Bad teacher", "SCRUB", "Fine-tune", "SalUn"]
    assert html.count('class="references"') == 1
    families = len({row.family for row in table.methods})
    assert html.count('<tbody class="family">') == families
    assert html.count("data-row=") == len(table.rows) and html.count('class="selected"') == 1
    (reason,) = [row.cells["fa"].reason for row in table.rows if row.method == "bad_teacher"]
    assert f'title="{escape(reason)}"' in html and escape(reason) != reason  # texts from runs
    references, methods = html.split('<tbody class="family">', 1)
    assert "background:" not in references and "background:" in methods
    assert re.search(r"diverged</span></th>", html)
    assert "+40.0" in html and "−30.0" in html  # gap view
    assert 'aria-sort="descending"' in results_table.html(
        table, dark=True, sort="fa", descending=True
    )


@pytest.mark.parametrize(
    ("size", "text"), [(1600.0, "&lt;0.01"), (1e4, "0.01"), (7.4e7, "74"), (0.0, "0")]
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
