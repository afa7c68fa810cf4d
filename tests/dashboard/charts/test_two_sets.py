"""A method on two data sets."""

from __future__ import annotations

import pandas as pd
from facts import tells
from similarities import long, of_classes

from dashboard.charts import two_sets
from dashboard.frames import representation as computed


def test_a_point_of_two_data_sets_is_the_same_method_with_the_same_kind_of_settings():
    """The authors' values of two recipes differ, and still are the authors'; SCRUB ran on one data
    set alone.
    """
    x = pd.DataFrame(
        of_classes("a", "class_wise", {"class_ids": [0]}, ("duck", "salun", "scrub"))
    ).assign(parameters="{}")
    y = pd.DataFrame(
        of_classes("b", "class_wise", {"class_ids": [0]}, ("duck", "salun"))
        + of_classes("b", "class_wise", {"class_ids": [0]}, ("duck",), preset="tuned")
    )
    y.loc[y["method_preset"] == "tuned", "parameters"] = '{"lr": 0.5}'
    agl = {"a": {"duck": 0.9, "salun": 0.8, "scrub": 0.7}, "b": {"duck": 0.85, "salun": 0.1}}
    values = [
        (key, "agl", agl["a"][method]) for key, method in zip(x["key"], x["method"], strict=True)
    ]
    values += [
        (key, "agl", 0.99 if preset == "tuned" else agl["b"][method])
        for key, method, preset in zip(y["key"], y["method"], y["method_preset"], strict=True)
    ]
    pairs, alone = computed.two_sets(x, y, long(values))
    assert [(pair.title, pair.x, pair.y) for pair in pairs] == [
        ("SalUn", 0.8, 0.1),
        ("DUCK", 0.9, 0.85),
    ]
    assert set(alone) == {"SCRUB", "DUCK (tuned)"}
    info = two_sets.two_sets_info(pairs, "a", "b")
    figure = two_sets.draw(info, dark=False, selected=pairs[0].key)
    assert (
        figure.layout.yaxis.scaleanchor == "x"
        and figure.layout.xaxis.range == figure.layout.yaxis.range
    )
    assert "AGL on a" in figure.layout.xaxis.title.text and "SalUn" in [
        note.text for note in figure.layout.annotations
    ]
    assert tells(two_sets.alt_text(info), "2 lie below", "SalUn", "0.800", "0.100")
