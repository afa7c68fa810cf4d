"""Methods by two measures of their features."""

from __future__ import annotations

import pytest
import similarities
from facts import tells

from dashboard.charts import similarity_scatter
from dashboard.charts.similarity_scatter import Measures

CKA = Measures(x="cka_original_test", y="cka_retrain_test", across="to Original", up="to Retrain")


def test_methods_stand_at_their_numbers_and_retrain_is_a_star():
    rows = similarities.rows()
    found = similarity_scatter.similarity_scatter_info(rows, CKA, key=lambda row: row.method)
    assert {dot.key: (dot.x, dot.y) for dot in found.dots} == {
        name: (pytest.approx(numbers[0]), pytest.approx(numbers[1]))
        for name, numbers in similarities.NUMBERS.items()
        if name not in ("original", "retrain")
    }
    assert found.retrain == (0.9, 1.0) and found.original == (1.0, 0.9)
    assert "SISA" in found.missing
    figure = similarity_scatter.draw(found, dark=False, selected=["duck", "salun"])
    diagonal = figure.layout.shapes[0]
    assert diagonal.x0 == diagonal.y0 and diagonal.x1 == diagonal.y1
    ringed = [
        key[0]
        for trace in figure.data
        if trace.customdata is not None
        for key, size in zip(trace.customdata, trace.marker.size, strict=True)
        if size > 12
    ]
    assert sorted(ringed) == ["duck", "salun"]
    assert tells(similarity_scatter.alt_text(found), "DUCK", "0.970")
    assert not similarity_scatter.SimilarityScatterInfo(measures=CKA, dots=()).dots
