"""Confusion matrices."""

from __future__ import annotations

from dashboard.charts import confusion


def test_confusion_is_percent_of_the_true_class():
    counts = [[8, 2, 0], [5, 5, 0], [0, 0, 0]]
    info = confusion.confusion_info([("Run", counts)], ["a", "b", "c"])
    assert info.panels[0].cells == ((80.0, 20.0, 0.0), (50.0, 50.0, 0.0))
    assert info.names == ("a", "b", "c") and info.true == ("a", "b")  # no sample of c
    assert info.worst == (("Run", "b", "a", 50.0),) and info.limit == 100 and not info.difference
    figure = confusion.draw(info, dark=False)
    assert figure.data[0].text[0] == ["80", "20", ""] and figure.data[0].zmin == 0
    assert "true b, predicted a, 50" in confusion.alt_text(info)


def test_confusion_less_retrains():
    info = confusion.confusion_info([("Run", [[8, 2], [5, 5]])], [], [[[10, 0], [0, 10]]])
    assert (
        info.panels[0].cells == ((-20.0, 20.0), (50.0, -50.0))
        and info.limit == 50
        and info.names == ("0", "1")
    )
    figure = confusion.draw(info, dark=True)
    assert figure.data[0].text[1] == ["+50", "−50"] and figure.data[0].zmin == -50
    equal = confusion.confusion_info([("Run", [[1, 0], [0, 1]])], [], [[[1, 0], [0, 1]]])
    assert equal.worst == () and equal.limit == confusion.SMALLEST_LIMIT
