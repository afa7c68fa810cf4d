"""The scatter of likeness to the original and to Retrain."""

from __future__ import annotations

import pandas as pd
import pytest
from facts import tells
from similarities import METRICS, NUMBERS, judgements, line, long

from dashboard.charts import agl_agr, cka_scatter
from dashboard.frames import representation as computed


def test_figures_tell_the_verdict_of_a_method(rows):
    lines, words = (
        pd.DataFrame([line(method) for method in NUMBERS]),
        judgements(duck=("forgot", 0.2)),
    )
    values = [
        (f"{method}-0", name, value)
        for method, each in NUMBERS.items()
        for name, value in zip(METRICS, each, strict=True)
    ]
    judged = computed.similarity_rows(lines, long(values), "test", words)
    for named in (
        cka_scatter.cka_scatter_info(judged, "test").marks,
        agl_agr.agl_agr_info(judged).marks,
    ):
        assert {mark.title: mark.said for mark in named} == {
            "DUCK": "forgot",
            "Fine-tune": "",
            "SCRUB": "",
            "SalUn": "",
        }
    scatter = cka_scatter.draw(cka_scatter.cka_scatter_info(judged, "test"), dark=False)
    told = {
        text
        for trace in scatter.data
        if trace.customdata is not None
        for point in trace.customdata
        for text in point[-1:]
    }
    assert any("forgot" in str(text) for text in told)
    assert set(computed.similarity_frame(judged, "test")["Verdict"]) == {"", "forgot"}


def test_cka_scatter_by_value(rows):
    info = cka_scatter.cka_scatter_info(rows, "test")
    marks = {mark.title: mark for mark in info.marks}
    assert (marks["DUCK"].x, marks["DUCK"].y, marks["DUCK"].x_half) == (0.95, 0.97, None)
    assert info.original == (1.0, 0.9) and info.retrain == (0.9, 1.0)
    assert info.original_side == 3
    assert info.missing == (("SISA", "An <ensemble> has no features."),)
    assert info.near[0] == pytest.approx(1 - 2.2 * 0.1) and info.outside == ("SalUn",)
    assert info.whole[0] == pytest.approx(0.72 - 0.06 * 0.28) and info.whole[1] == pytest.approx(
        1 + 0.06 * 0.28
    )
    alt = cka_scatter.alt_text(info)
    assert tells(alt, 3, "original's side") and tells(alt, "DUCK", "0.970")


def test_the_papers_ghosts_widen_the_window(rows):
    paper = computed.paper_values()
    info = cka_scatter.cka_scatter_info(rows, "test", paper)
    assert len(info.ghosts) == 9 and info.ghost_original == pytest.approx(
        (0.898 + 0.821 + 0.818) / 3
    )
    assert info.whole[0] < min(value for _, value in info.ghosts)
    papers = [
        trace for trace in cka_scatter.draw(info, dark=False).data if "paper" in (trace.name or "")
    ]
    ticks, references = sorted(papers, key=lambda trace: -len(trace.y))
    assert list(ticks.y) == [value for _, value in info.ghosts]
    assert len(references.y) == 2 and info.ghost_original in {*references.x, *references.y}
