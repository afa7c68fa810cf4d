"""The results table as HTML."""

from __future__ import annotations

import re
from html import escape

from dashboard.charts import results_table


def test_results_table_html(table):
    html = results_table.html(table, dark=False, selected=table.methods[0].id, sort="", paper=None)
    names = re.findall(r'<th class="name"[^>]* title="[^"]*">([^<]+)<', html)
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
