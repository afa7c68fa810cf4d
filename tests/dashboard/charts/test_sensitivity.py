"""A measure over a setting."""

from __future__ import annotations

import pandas as pd
import pytest

from dashboard.charts import sensitivity


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ((1.0, 2.0, 10.0), "linear"),
        ((0.001, 0.1, 10.0), "log"),
        ((0.0, 0.001, 10.0), "steps"),
        ((0.0, 0.5), "linear"),
    ],
)
def test_sensitivity_scale_shows_every_value(values, scale):
    table = pd.DataFrame(
        {"metric": "agl", "x": values, "mean": 0.5, "half": None, "seeds": 1, "key": "k"}
    )
    info = sensitivity.sensitivity_info(
        "noise", {"AGL": table, "AGR": table.iloc[:0]}, names={10.0: "ten"}
    )
    assert info.scale == scale and [one.title for one in info.lines] == ["AGL"]
    assert sensitivity.draw(info, dark=True, measure="AGL").layout.yaxis.title.text == "AGL"
    figure = sensitivity.draw(info, dark=False)
    assert list(figure.data[0].x) == (
        list(range(len(values))) if scale == "steps" else list(values)
    )
    assert figure.layout.xaxis.type == ("log" if scale == "log" else "linear")
    assert ("not to scale" in figure.layout.xaxis.title.text) == (scale == "steps")
    assert ("ten" in figure.layout.xaxis.ticktext) == (10.0 in values)


def over(x: list[float], mean: list[float], half: list[float | None] | None = None) -> pd.DataFrame:
    made = {"metric": "agl", "x": x, "mean": mean, "half": half, "seeds": 1, "key": ["a", "b"]}
    return pd.DataFrame(made)


def test_a_line_has_its_numbers_and_that_of_a_reference_is_dashed():
    table = over([1.0, 2.0], [0.4, 0.6], [0.1, None])
    info = sensitivity.sensitivity_info(
        "classes", {"AGL": table, "Both": table}, names={}, references={"Both": "AGL"}
    )
    figure = sensitivity.draw(info, dark=True)
    assert [trace.line.dash for trace in figure.data] == ["solid", "dash"]
    assert list(figure.data[0].y) == [0.4, 0.6]
    assert list(figure.data[0].error_y.array) == [0.1, 0.0]
    assert "AGL from 0.400 to 0.600" in sensitivity.alt_text(info)
