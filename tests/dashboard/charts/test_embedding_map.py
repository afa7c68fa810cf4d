"""Maps of features."""

from __future__ import annotations

import numpy as np
import pytest
from facts import tells

from dashboard import theme
from dashboard.charts import embedding_map


def test_embedding_map_shares_one_window():
    maps = {
        "Original": np.array([[-10.0, 0.0], [10.0, 5.0], [0.0, 1.0]]),
        "Retrain": np.array([[0.0, -5.0], [1.0, 1.0], [2.0, 2.0]]),
    }
    info = embedding_map.embedding_map_info(
        maps,
        ids=np.array([7, 8, 9]),
        labels=np.array([0, 1, 1]),
        forgotten=np.array([True, False, False]),
        names=("cat", "dog"),
    )
    assert info.across == (pytest.approx(-10.8), pytest.approx(10.8)) and info.up == (
        pytest.approx(-5.4),
        pytest.approx(5.4),
    )
    assert info.forgotten_names == ("cat",) and info.name(5) == "5"
    figure = embedding_map.draw(info, dark=False)
    assert [trace.name for trace in figure.data] == ["dog", "to forget", "dog", "to forget"]
    strong = figure.data[1]
    assert strong.marker.color == theme.family_style("gradient_ascent").color(False)
    assert list(strong.x) == [-10.0] and list(figure.data[2].x) == [1.0, 2.0]
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range == info.across
    assert [annotation.text for annotation in figure.layout.annotations] == ["Original", "Retrain"]
    assert tells(embedding_map.alt_text(info), "2 t-SNE maps", "3 samples")


def test_a_sample_is_ringed_in_every_map():
    maps = {name: np.arange(6.0).reshape(3, 2) + 10 * number for number, name in enumerate("abcde")}
    ids, labels, forgotten = (
        np.array([7, 8, 9]),
        np.array([0, 1, 1]),
        np.array([True, False, False]),
    )
    info = embedding_map.embedding_map_info(
        maps, ids=ids, labels=labels, forgotten=forgotten, marked=8
    )
    figure = embedding_map.draw(info, dark=False)
    rings = [trace for trace in figure.data if trace.name == "sample 8"]
    assert [(trace.x[0], trace.y[0]) for trace in rings] == [
        (2.0 + 10 * number, 3.0 + 10 * number) for number in range(5)
    ]
    assert figure.data[0].customdata[0][0] == "8"
    assert tells(embedding_map.alt_text(info), "Sample 8", "ringed")
    assert (
        embedding_map.embedding_map_info(
            maps, ids=ids, labels=labels, forgotten=forgotten, marked=5
        ).marked
        is None
    )
