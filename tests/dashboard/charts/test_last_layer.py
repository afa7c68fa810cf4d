"""A method against itself on the last layer alone."""

from __future__ import annotations

import pandas as pd
import pytest
from similarities import line, long

from dashboard.charts import last_layer
from dashboard.frames import representation as computed


def test_last_layer_by_value():
    lines = pd.DataFrame([line("duck", 0), line("duck", 1), line("salun", 0)])
    rows = computed.similarity_rows(lines, long([("duck-0", "agl", 0.9)]), "test")
    twins = [("duck-0", "d0"), ("duck-1", "d1"), ("salun-0", "s0")]
    agl = {"duck-0": 0.9, "d0": 0.5, "duck-1": 0.8, "d1": 0.6, "salun-0": 0.4}
    info = last_layer.last_layer_info(
        rows, twins, {twins[0]: 0.7, twins[1]: 0.9, twins[2]: 0.99}, agl
    )
    (mark,) = info.marks
    assert (mark.cka, mark.gain, mark.pairs) == (pytest.approx(0.8), pytest.approx(0.3), 2)
    # gains 0.4 and 0.2: s = 0.2 / sqrt(2), s / sqrt(2) = 0.1
    assert mark.gain_half == pytest.approx(12.706 * 0.1, rel=1e-4)
    assert info.missing == ("SalUn",)
    figure = last_layer.draw(info, dark=False, selected="duck-0")
    assert list(figure.data[0].x) == [pytest.approx(0.8)] and [
        a.text for a in figure.layout.annotations
    ] == ["DUCK"]
    assert "DUCK, +0.300" in last_layer.alt_text(info)
