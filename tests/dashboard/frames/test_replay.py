"""Replays in numbers and words, on small values made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from builders import replay_value

from dashboard.charts import replay_player
from dashboard.frames import replay as replay_frames
from dashboard.frames.replay import Replay, ticks


def replay(
    forget: list[float], *, level: float | None = 2.0, title: str = "SCRUB", **changes: Any
) -> Replay:
    levels = {"retain": 98.0, "test": 88.0} | ({} if level is None else {"forget": level})
    return Replay(
        title,
        title,
        replay_value(forget, **changes),
        levels,
        np.array([0.0, 95.0, np.nan]),
        ("shirt", "bag", "boot"),
    )


def test_accuracies_by_hand():
    one = replay([98.0, 40.0, 1.0], test=[90.0, 80.0, 85.0])
    assert one.accuracy["forget"].tolist() == [98.0, 40.0, 1.0] and one.progress.tolist() == [
        0.0,
        50.0,
        100.0,
    ]
    # no test sample of class 0 was looked at
    assert one.class_accuracy.shape == (3, 3) and np.isnan(one.class_accuracy[:, 0]).all()
    # of the even and odd ones among the first 80
    assert one.class_accuracy[1, 1:].tolist() == [80.0, 80.0]
    assert one.shown_classes() == [1, 2] and one.gone == (0,)
    table = replay_frames.table([one, one])
    assert table["Forget set accuracy (%)"].tolist() == [98.0, 40.0, 1.0] * 2
    assert table["Test bag (%)"].tolist()[1] == 80.0 and "Test shirt (%)" not in table


def test_retrains_levels():
    assert replay_frames.levels_of({"fa": 0.5, "ta": None, "l2": 3.0}) == {"forget": 50.0}
    assert replay_frames.class_levels([[3, 1], [0, 0]], 2).tolist() == pytest.approx(
        [75.0, np.nan], nan_ok=True
    )
    assert np.isnan(replay_frames.class_levels(None, 3)).all()


# -- the slider


def test_the_moments_are_those_of_the_run_with_most_frames():
    """Five frames at 0, 25, 50, 75 and 100 %, three at 0, 50 and 100 %, two at the ends."""
    found = ticks([replay([98.0] * 3), replay([98.0] * 5), replay([98.0] * 2)])
    assert [tick.at for tick in found] == [0, 25, 50, 75, 100]
    assert [tick.frames for tick in found] == [
        (0, 0, 0),
        (0, 1, 0),
        (1, 2, 0),
        (1, 3, 0),
        (2, 4, 1),
    ]


# -- the figure


def test_a_figure_for_two():
    info = replay_player.replay_player_info(
        [replay([98.0, 40.0, 1.0]), replay([98.0, 1.0], title="SSD")]
    )
    figure = replay_player.draw(info, dark=False)
    assert len(figure.frames) == len(info.ticks) == len(figure.layout.sliders[0].steps)
    assert [list(step.args[0]) for step in figure.layout.sliders[0].steps] == [
        [frame.name] for frame in figure.frames
    ]
    for frame in figure.frames:
        assert len(frame.data) == len(frame.traces)
        assert all(
            type(figure.data[place]) is type(moved)
            for place, moved in zip(frame.traces, frame.data, strict=True)
        )
    # what moves starts as in the first frame
    for place, moved in zip(figure.frames[0].traces, figure.frames[0].data, strict=True):
        assert all(
            list(figure.data[place][axis]) == list(moved[axis])
            for axis in ("x", "y")
            if moved[axis] is not None
        )


def test_the_last_frame_is_the_end_of_each_run():
    info = replay_player.replay_player_info([replay([98.0, 40.0, 1.0]), replay([98.0, 60.0])])
    still = replay_player.still(info, dark=False)
    assert not still.frames and not still.layout.sliders and not still.layout.updatemenus
    dots = [
        trace.y
        for trace in still.data
        if isinstance(trace, go.Scatter)
        and trace.mode == "markers"
        and tuple(trace.x) == (100,) * 3
    ]
    assert [list(each)[0] for each in dots] == [1.0, 60.0]
