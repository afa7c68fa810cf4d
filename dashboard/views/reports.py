"""Report: a selection of runs as one file for who must check it, its tables for LaTeX, and all its
numbers.
"""

from __future__ import annotations

from dashboard import data
from dashboard.sections.reports import files, selection
from dashboard.widgets import header, messages
from dashboard.widgets.provenance import provenance

QUESTION = "Export a report"
HOW = """**Report**: what was run, tables with verdicts, figures, warnings and the commands, in one
file that opens without a network.  
**Tables**: of Results, a table a forget set, for booktabs.  
**CSV, JSON**: every run with its key, in full precision."""


def page() -> None:
    source, runs = data.source(), data.unlearning_runs()
    if runs.empty:
        messages.no_results(QUESTION, HOW)
        return
    header.header(QUESTION, HOW, source)
    runs = selection.pick(runs)
    if runs.empty:
        messages.none_finished()
        return
    if messages.none_chosen(runs):
        return
    files.show(source, runs)
    provenance(runs)


page()
