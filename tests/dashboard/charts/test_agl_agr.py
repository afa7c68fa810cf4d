"""Agreement of logits and of representations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from similarities import line, long

from dashboard.charts import agl_agr
from dashboard.frames import representation as computed


def test_agl_agr_by_value(rows):
    info = agl_agr.agl_agr_info(rows)
    assert info.kind == "both"
    assert [mark.title for mark in info.marks] == ["DUCK", "SCRUB", "SalUn", "Fine-tune"]
    assert [mark.h_lr for mark in info.marks] == pytest.approx(
        [0.9, 2 * 0.56 / 1.5, 2 * 0.475 / 1.45, 2 * 0.4 / 1.3]
    )
    assert info.original == (0.2, 0.6) and [title for title, _ in info.missing] == ["SISA"]


def test_contours_are_lines_of_one_harmonic_mean():
    agl, agr = agl_agr.contour(0.6)
    assert 2 / (1 / agl + 1 / agr) == pytest.approx(np.full(len(agl), 0.6))
    assert agr[0] == pytest.approx(1.0) and agl[-1] == 1.0


@pytest.mark.parametrize(
    ("metric", "kind", "title"), [("agl", "agl", "AGL"), ("agr", "agr", "AGR")]
)
def test_one_agreement_alone_is_drawn_as_bars(metric, kind, title):
    lines = pd.DataFrame([line("original"), line("duck"), line("salun")])
    values = long([("original-0", metric, 0.1), ("duck-0", metric, 0.9), ("salun-0", metric, 0.95)])
    info = agl_agr.agl_agr_info(computed.similarity_rows(lines, values, "test"))
    assert (
        info.kind == kind
        and [mark.title for mark in info.marks] == ["SalUn", "DUCK"]
        and info.marks[0].h_lr is None
    )
    figure = agl_agr.draw(info, dark=True)
    assert list(figure.data[0].x) == [0.95, 0.9] and figure.layout.xaxis.title.text.startswith(
        title
    )
    assert {a.text for a in figure.layout.annotations} == {"Retrain", "Original"}
    assert "SalUn, 0.950" in agl_agr.alt_text(info)
