"""Attacked images and what models say of them."""

from __future__ import annotations

import numpy as np
from facts import numbers, tells

from dashboard import theme
from dashboard.charts import image_row


def test_image_row_marks_what_the_attacker_wants():
    images = np.zeros((3, 8, 8, 1), np.uint8)
    info = image_row.image_row_info(
        images,
        [4, 7, 9],
        true=[0, 1, 2],
        taught=[2, 2, 0],
        predicted=[("SSD", [0, 2, 1])],
        names=("a very long class name", "b", "c"),
    )
    assert [line.name for line in info.lines] == ["True label", "Attacker's label", "SSD"]
    assert info.lines[2].kinds == ("right", "fooled", "wrong")
    drawn = image_row.draw(info, dark=False)
    assert len(drawn.layout.images) == 3
    said = drawn.data[2]
    assert list(said.text) == ["a very long …", "<b>c</b>", "<i>b</i>"]
    assert said.textfont.color[1] == theme.family_style("gradient_ascent").color(False)
    assert tells(said.customdata[0][0], "SSD", "a very long class name", "sample 4")
    alt = image_row.alt_text(info)
    assert tells(alt, "SSD", "right on 1", "attacker's label on 1") and numbers(alt) == list("311")
