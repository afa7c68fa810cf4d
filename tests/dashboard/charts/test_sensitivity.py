"""A measure over a setting."""

from __future__ import annotations

import pandas as pd

from dashboard.charts import sensitivity


def test_values_stand_in_equal_steps_and_retrain_is_dashed():
    lines = pd.DataFrame(
        {
            "metric": "agl",
            "x": [0.0, 0.001, 10.0, 10.0],
            "mean": [0.4, 0.5, 0.6, 0.9],
            "half": [0.1, None, None, None],
            "seeds": 1,
            "of": ["method"] * 3 + ["Retrain"],
        }
    )
    texts = {0.0: "0", 0.001: "0.001", 10.0: "ten"}
    figure = sensitivity.draw(lines, "noise", texts, dark=True)
    own, retrain = figure.data
    assert [own.line.dash, retrain.line.dash] == ["solid", "dash"]
    assert list(own.x) == [0, 1, 2] and list(own.y) == [0.4, 0.5, 0.6]
    assert list(own.error_y.array) == [0.1, 0.0, 0.0] and list(retrain.x) == [2]
    assert figure.layout.xaxis.ticktext == ("0", "0.001", "ten")
    assert "from 0.400 to 0.600" in sensitivity.alt_text(lines, "noise")
