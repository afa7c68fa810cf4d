"""The figure of a forget set's classes, and the sheet of its images."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from PIL import Image

from dashboard.charts import set_classes
from dashboard.charts.parts import pictures


def info(classes: int = 3) -> set_classes.SetClassesInfo:
    everything = np.full(classes, 40)
    forgotten = np.zeros(classes, np.int64)
    forgotten[:2] = 10, 40
    return set_classes.set_classes_info(
        [f"class {number}" for number in range(classes)], everything, forgotten
    )


def test_what_goes_and_what_stays_add_up():
    found = info()
    assert (found.forgotten, found.staying, found.shares) == (
        (10, 40, 0),
        (30, 0, 40),
        (25.0, 100.0, 0.0),
    )
    table = set_classes.table(found)
    assert table["To forget"].tolist() == [10, 40, 0] and table["Forgotten, %"].tolist() == [
        25.0,
        100.0,
        0.0,
    ]
    assert "Most to forget: class 1 40 (100 %), class 0 10 (25 %)." in set_classes.alt_text(found)
    nothing = set_classes.set_classes_info(["a"], np.array([0]), np.array([0]))
    assert nothing.shares == (0.0,) and "Nothing is to be forgotten yet" in set_classes.alt_text(
        nothing
    )


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("classes", [1, 3, set_classes.MOST_NAMED + 1])
def test_the_bars_are_the_counts(classes, dark):
    found = info(max(classes, 2))
    figure = set_classes.draw(found, dark=dark)
    gone, stay = figure.data[0], figure.data[1]
    named = len(found.names) <= set_classes.MOST_NAMED
    assert (
        tuple(gone.x if named else gone.y) == found.forgotten
        and tuple(stay.x if named else stay.y) == found.staying
    )
    assert gone.marker.color != stay.marker.color and figure.layout.barmode == "stack"
    if named:
        assert (
            figure.data[2].text[:2] == (" 10", " 40")
            and figure.layout.yaxis.ticktext[0] == "class 0"
        )
    assert (figure.layout.xaxis if named else figure.layout.yaxis).title.text == "Training samples"


def opened(sheet: pictures.Sheet) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(sheet.url.partition(",")[2]))))


@pytest.mark.parametrize(
    ("count", "across", "down"), [(1, 1, 1), (9, 9, 1), (10, 10, 1), (11, 10, 2), (60, 10, 6)]
)
@pytest.mark.parametrize("channels", [1, 3])
def test_images_fill_the_sheet_row_by_row(count, across, down, channels):
    images = (
        np.arange(count, dtype=np.uint8)[:, None, None, None]
        .repeat(8, 1)
        .repeat(8, 2)
        .repeat(channels, 3)
        + 1
    )
    sheet = pictures.sheet(images)
    assert (sheet.across, sheet.down) == (across, down)
    pixels = opened(sheet)
    side = pixels.shape[1] // across
    assert side == pictures.SIDE and pixels.shape[0] == down * side
    for number in range(count):
        cell = pixels[
            number // across * side : (number // across + 1) * side,
            number % across * side : (number % across + 1) * side,
        ]
        assert (cell == number + 1).all()


def test_large_images_are_reduced_and_none_is_no_sheet():
    assert opened(pictures.sheet(np.full((2, 300, 300, 3), 7, np.uint8))).shape == (
        pictures.SIDE,
        2 * pictures.SIDE,
        3,
    )
    assert opened(pictures.sheet(np.full((2, 300, 300, 1), 7, np.uint8))).shape == (
        pictures.SIDE,
        2 * pictures.SIDE,
    )
    assert pictures.sheet(np.zeros((0, 8, 8, 1), np.uint8)).url == ""
