"""Methods by two metrics."""

from __future__ import annotations

import pytest
import similarities
from facts import tells

from dashboard.charts import two_metrics

CKA = two_metrics.Measures(
    x="cka_original_test", y="cka_retrain_test", across="to Original", up="to Retrain", equal=True
)


def test_methods_stand_at_their_numbers_and_retrain_is_a_star():
    rows = similarities.rows()
    places = two_metrics.places(rows, CKA)
    assert {row.method: places[row.id] for row in rows if row.id in places} == {
        name: (pytest.approx(numbers[0]), pytest.approx(numbers[1]))
        for name, numbers in similarities.NUMBERS.items()
    }
    figure = two_metrics.draw(rows, places, CKA, dark=False, selected=["duck-0", "salun-0"])
    stars = {trace.name: (trace.x[0], trace.y[0]) for trace in figure.data}
    assert stars["Retrain"] == (0.9, 1.0) and stars["Original"] == (1.0, 0.9)
    diagonal = figure.layout.shapes[0]
    assert diagonal.x0 == diagonal.y0 and diagonal.x1 == diagonal.y1
    ringed = [
        key[0]
        for trace in figure.data
        if trace.customdata is not None
        for key, size in zip(trace.customdata, trace.marker.size, strict=True)
        if size > 12
    ]
    assert sorted(ringed) == ["duck-0", "salun-0"]
    assert tells(two_metrics.alt_text(rows, places, CKA), "DUCK", "0.970")
