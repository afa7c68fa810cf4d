"""Maps of features."""

from __future__ import annotations

import numpy as np
import pytest
from facts import tells

from dashboard import theme
from dashboard.charts import embedding_map

MAPS = {
    "Original": np.array([[-10.0, 0.0], [10.0, 5.0], [0.0, 1.0]]),
    "SCRUB": np.array([[0.0, -5.0], [1.0, 1.0], [2.0, 2.0]]),
}


def info(**more) -> embedding_map.EmbeddingMapInfo:
    return embedding_map.embedding_map_info(
        MAPS,
        ids=np.array([7, 8, 9]),
        labels=np.array([0, 1, 2]),
        forgotten=np.array([True, False, False]),
        names=("cat", "dog"),
        **more,
    )


def test_forgotten_samples_and_the_classes_near_them_have_a_colour():
    found = info(near=(1,), fates={"SCRUB": "forgot"})
    assert found.forgotten_names == ("cat",) and found.name(5) == "5"
    figure = embedding_map.draw(found, dark=False)
    # grey below colours, the forgotten ones on top
    assert [trace.name for trace in figure.data] == ["2", "dog", "forgotten"] * 2
    colors = [trace.marker.color for trace in figure.data[:3]]
    hues = ("influence", "gradient_ascent")
    assert colors[1:] == [theme.family_style(hue).color(False) for hue in hues]
    assert colors[0] == found.color(9, False) != found.color(1, False)
    assert list(figure.data[2].x) == [-10.0] and list(figure.data[4].x) == [1.0]
    assert figure.data[2].customdata[0][0] == "7"
    assert figure.layout.xaxis.range == (pytest.approx(-11.2), pytest.approx(11.2))
    assert figure.layout.xaxis2.range == (pytest.approx(-0.12), pytest.approx(2.12))
    titles = [note.text for note in figure.layout.annotations]
    assert titles == ["<b>Original</b>", "<b>SCRUB</b>", "forgot"]
    assert figure.layout.meta == {"wide_names": [2]}  # a phone has no room for what became of it
    assert tells(embedding_map.alt_text(found), "2 t-SNE maps", "3 samples")
    assert info().color(1, False) not in (colors[0], colors[1])  # each class its own


def test_as_many_forgotten_samples_are_drawn_as_a_class_that_stays_has():
    """Three and one samples of two classes that stay: two of the forgotten ones, the first."""
    labels = np.array([0, 0, 0, 1, 1, 1, 2])
    forgotten = labels == 0
    assert embedding_map.balanced(labels, forgotten).tolist() == [
        True, True, False, True, True, True, True
    ]  # fmt: skip
    assert embedding_map.balanced(labels[:3], forgotten[:3]).all()
