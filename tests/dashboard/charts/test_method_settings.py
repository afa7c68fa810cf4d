"""One method over its settings."""

from __future__ import annotations

import pytest

from dashboard import frames
from dashboard.charts import method_settings
from mucore.verdicts import Verdict


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
            verdict=Verdict(word="forgot", metric="fa", sentence="It did.", shown=False),
            distance=frames.Estimate(0.031, None, 1),
        ),
        frames.Setting(
            label="Whole classes",
            scenario="class_wise",
            title="SSD",
            cells=missing,
            runs=1,
            key="b",
            verdict=Verdict(word="forgot", metric="fa", sentence="It did.", shown=True),
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
    assert [list(panel.x) for panel in figure.data] == [list(each.means) for each in info.panels]
    # a click opens the first run of a setting
    assert [each[0] for each in figure.data[2].customdata] == ["a", "b", "c"]
    beside = {note.y: note.text for note in figure.layout.annotations if note.yref == "y"}
    assert (
        beside["Part of one class"] == "<b>forgot?</b><br>3.1 points"
        and beside["Whole classes"] == "forgot<br>unsolved"
    )
    assert "10.0 points" in method_settings.alt_text(info)
