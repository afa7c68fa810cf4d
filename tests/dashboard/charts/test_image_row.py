"""Attacked images and what models say of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from facts import numbers, tells

from dashboard import theme
from dashboard.charts import image_row


def test_image_row_marks_what_the_attacker_wants():
    told = pd.DataFrame({"true": [0, 1, 2], "taught": [2, 2, 0], "SSD": [0, 2, 1]}, index=[4, 7, 9])
    names = ("a very long class name", "b", "c")
    drawn = image_row.draw(told, np.zeros((3, 8, 8, 1), np.uint8), names, dark=False)
    assert len(drawn.layout.images) == 3
    assert [trace.name for trace in drawn.data] == ["True label", "Attacker's label", "SSD"]
    said = drawn.data[2]
    assert list(said.text) == ["a very long …", "<b>c</b>", "<i>b</i>"]
    assert said.textfont.color[1] == theme.family_style("gradient_ascent").color(False)
    assert tells(said.customdata[0][0], "SSD", "a very long class name", "sample 4")
    alt = image_row.alt_text(told)
    assert tells(alt, "SSD", "right on 1", "attacker's label on 1") and numbers(alt) == list("311")
