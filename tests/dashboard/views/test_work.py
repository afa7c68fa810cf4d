"""Wherever a page or an export shows the run time relative to Retrain, results that counted their
work show that beside it; those of earlier versions have no such column.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from builders import full_results
from facts import tells
from pages import open_page

from mucore import cli
from mucore.store import open_store
from mucore.store.records import Measured

WORK = 0.125


@pytest.fixture
def counted(home: Path) -> Path:
    """A comparison whose methods did an eighth of Retrain's work each."""
    with open_store(home) as store:
        store.put_results(
            [
                replace(one, metrics={**one.metrics, "rte_work": Measured(WORK)})
                if "rte" in one.metrics
                else one
                for one in full_results()
            ]
        )
    return home


def frame_with(at, column: str) -> pd.DataFrame:
    (found,) = [one.value for one in at.dataframe if column in one.value]
    return found


def test_the_compared_runs_have_their_work_beside_their_time(counted):
    frame = frame_with(open_page("compare"), "RTE")
    assert list(frame.columns).index("Work") == list(frame.columns).index("RTE") + 1
    assert "0.12" in set(frame["Work"])


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_exports_have_it(form, counted, capsys):
    flags = ["--format", form, "--scenario", "one_class", "--metrics", "rte_work"]
    assert cli.main(["export", *flags]) == 0
    assert "0.125" in capsys.readouterr().out


def test_the_command_line_has_it(counted, capsys):
    assert cli.main(["results", "--scenario", "one_class"]) == 0
    assert tells(capsys.readouterr().out, "0.125")
