"""Pictures of a lesson."""

from __future__ import annotations

import numpy as np

from dashboard.charts import lesson_pictures


def test_pictures_mark_wrong_answers():
    images = np.zeros((2, 8, 8, 1), np.uint8)
    info = lesson_pictures.lesson_pictures_info(
        images, [3, 4], [("Original", [0, 4])], ["zero", "one", "two", "three", "four"]
    )
    assert info.lines == (
        ("It is", ("three", "four"), (False, False)),
        ("Original", ("zero", "four"), (True, False)),
    )
    figure = lesson_pictures.draw(info, dark=False, large=True)
    assert len(figure.layout.images) == 2 and figure.data[1].text == ("<b>zero</b>", "four")
    assert "Original is wrong on 1" in lesson_pictures.alt_text(info)
