"""Names beside marks: they cover neither each other nor another mark."""

from __future__ import annotations

from dashboard.charts.parts import name_labels as labels


def test_names_cover_neither_each_other_nor_a_mark():
    window = (0.0, 1.0)
    named = [(0.5, 0.5, "a"), (0.5, 0.51, "second"), (0.9, 0.9, "c"), (1.5, 0.5, "beyond")]
    marks = [(x, y) for x, y, _ in named]
    placed = labels.place(named, window, window, marks)
    assert [(one.title, one.side) for one in placed] == [
        ("a", "below"),
        ("second", "above"),
        ("c", "above"),
    ]
    assert len(labels.place(named, window, window, marks, most=1)) == 1
    ring = [(0.5, 0.55), (0.5, 0.45), (0.55, 0.5), (0.45, 0.5)]  # a mark on every side
    assert labels.place([(0.5, 0.5, "a")], window, window, ring) == []
    (forced,) = labels.place([(0.5, 0.5, "a")], window, window, [*ring, (0.5, 0.56)], must={"a"})
    assert forced.side == "below"  # where it covers one mark and not two
    assert [one.side for one in labels.place([(0.99, 0.5, "at the edge")], window, window, [])] == [
        "left"
    ]
