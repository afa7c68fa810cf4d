"""One number a method as bars."""

from __future__ import annotations

from facts import tells

from dashboard.charts import score_bars
from dashboard.charts.score_bars import Bar, Line


def test_score_bars_are_ordered_and_name_their_lines():
    bars = [
        Bar("B", "sparsity", 0.4, "kb"),
        Bar("A", "teacher", 0.1, "ka", half=0.05),
        Bar("C", "sparsity", 0.2, "kc", note="rejected"),
    ]
    info = score_bars.score_bars_info(
        bars,
        lines=[Line("Retrain", 0.15, "dash")],
        axis="F: high is good",
        best="low",
        missing=["D"],
    )
    assert [bar.title for bar in info.bars] == ["A", "C", "B"] and info.missing == ("D",)
    figure = score_bars.draw(info, dark=True, selected="kc")
    assert list(figure.layout.yaxis.categoryarray) == ["B", "C", "A"]
    line, *numbers = figure.layout.annotations
    assert line.text == "Retrain 0.15"
    assert {note.y: note.text for note in numbers} == {
        "A": "0.10",
        "C": "0.20, rejected",
        "B": "0.40",
    }
    sparsity = next(trace for trace in figure.data if "C" in trace.y)
    assert dict(zip(sparsity.y, sparsity.x, strict=True)) == {"C": 0.2, "B": 0.4}
    assert tells(score_bars.alt_text(info), 3, "F: high is good", "A", "0.10", "Retrain", "0.15")
    assert [bar.title for bar in score_bars.score_bars_info(bars, lines=[], axis="").bars] == [
        "B",
        "C",
        "A",
    ]
    assert [
        bar.title for bar in score_bars.score_bars_info(bars, lines=[], axis="", best="first").bars
    ] == ["B", "A", "C"]
    frame = score_bars.table(
        score_bars.score_bars_info(
            bars, lines=[score_bars.Line("Retrain", 0.15, "dash")], axis="F", missing=["D"]
        )
    )
    assert list(frame["Name"]) == ["B", "C", "A", "Retrain", "D"] and list(frame["Note"])[3:] == [
        "line",
        "no value",
    ]
