"""Confusion matrices."""

from __future__ import annotations

from dashboard.charts import confusion


def test_confusion_is_percent_of_the_true_class():
    cells = confusion.shares([[8, 2, 0], [5, 5, 0], [0, 0, 0]], ["a", "b", "c"])
    assert cells.loc[["a", "b"]].to_numpy().tolist() == [[80, 20, 0], [50, 50, 0]]
    assert cells.loc["c"].isna().all()
    (drawn,) = confusion.draw({"Run": cells}, difference=False, dark=False).data
    assert list(drawn.y) == ["a", "b"] and list(drawn.x) == ["a", "b", "c"]  # no sample of c
    assert list(drawn.text[0]) == ["80", "20", ""] and (drawn.zmin, drawn.zmax) == (0, 100)
    assert "true b, predicted a, 50" in confusion.alt_text({"Run": cells}, difference=False)


def test_confusion_less_retrains():
    cells = confusion.shares([[8, 2], [5, 5]]) - confusion.shares([[10, 0], [0, 10]])
    panels = {"Run": cells, "Like Retrain": cells - cells}
    one, other = confusion.draw(panels, difference=True, dark=True).data
    assert list(one.text[1]) == ["+50", "−50"] and (one.zmin, other.zmax) == (-50, 50)
    assert list(one.x) == ["0", "1"]
    assert "Like Retrain: true 0, predicted 0, none" in confusion.alt_text(panels, difference=True)
