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
    forget: list[float],
    *,
    level: float | None = 2.0,
    seconds: float | None = 6.0,
    title: str = "SCRUB",
    **changes: Any,
) -> Replay:
    levels = {"retain": 98.0, "test": 88.0} | ({} if level is None else {"forget": level})
    method = changes.pop("method", "scrub")
    return Replay(
        title,
        title,
        method,
        seconds,
        replay_value(forget, **changes),
        levels,
        np.array([0.0, 95.0, np.nan]),
        ("shirt", "bag", "boot"),
    )


def test_accuracies_and_histograms_by_hand():
    one = replay([98.0, 40.0, 1.0], test=[90.0, 80.0, 85.0])
    assert one.accuracy["forget"].tolist() == [98.0, 40.0, 1.0] and one.progress.tolist() == [
        0.0,
        50.0,
        100.0,
    ]
    assert one.times.tolist() == [0.0, 3.0, 6.0]
    # no test sample of class 0 was looked at
    assert one.class_accuracy.shape == (3, 3) and np.isnan(one.class_accuracy[:, 0]).all()
    # of the even and odd ones among the first 80
    assert one.class_accuracy[1, 1:].tolist() == [80.0, 80.0]
    assert one.shown_classes() == [1, 2] and one.asked == (0,) and one.gone == (0,)
    shares = one.histogram["forget"]
    assert shares.shape == (3, replay_frames.BINS) and shares.sum(axis=1) == pytest.approx(100)
    assert shares[1, 0] == 60 and shares[1, -1] == 40


def test_retrains_levels():
    assert replay_frames.levels_of({"fa": 0.5, "ta": None, "l2": 3.0}) == {"forget": 50.0}
    assert replay_frames.class_levels([[3, 1], [0, 0]], 2).tolist() == pytest.approx(
        [75.0, np.nan], nan_ok=True
    )
    assert np.isnan(replay_frames.class_levels(None, 3)).all()


# -- the clock


def test_the_moments_are_those_of_the_run_with_most_frames():
    """Five frames at 0, 25, 50, 75 and 100 %, three at 0, 50 and 100 %, two at the ends."""
    found = ticks([replay([98.0] * 3), replay([98.0] * 5), replay([98.0] * 2)], "own")
    assert [tick.at for tick in found] == [0, 25, 50, 75, 100]
    assert [tick.frames for tick in found] == [
        (0, 0, 0),
        (0, 1, 0),
        (1, 2, 0),
        (1, 3, 0),
        (2, 4, 1),
    ]


def test_the_quicker_one_waits_at_its_end():
    """6 s and 2.4 s in moments of a quarter of a second."""
    found = ticks([replay([98.0] * 3), replay([98.0] * 3, seconds=2.4)], "seconds")
    assert (
        len(found) == replay_frames.TICKS + 1
        and found[-1].at == 6
        and len({tick.label for tick in found}) == len(found)
    )
    first = {
        number: min(tick.at for tick in found if tick.frames[1] >= number) for number in (1, 2)
    }
    assert first == {1: 1.25, 2: 2.5}  # due after 1.2 and 2.4 s
    assert [tick.frames[0] for tick in found].count(2) == 1


# -- one map for two


def grid(frames: int) -> np.ndarray:
    """Twelve samples in three rows of four, one apart, that stay; float64 as a map on paper."""
    return np.repeat(
        np.array([[x, y] for y in range(3) for x in range(4)], float)[None], frames, axis=0
    )


def mapped(points: np.ndarray, forget: list[float], **changes: Any) -> Replay:
    classes = np.repeat([0, 1, 2], 4)
    maps: dict[str, Any] = {
        "map/points": points,
        "map/ids": np.arange(12),
        "map/labels": classes,
        "map/forgotten": classes == 0,
    }
    return replay(forget, **maps, **changes)


def turned(points: np.ndarray) -> np.ndarray:
    """As another run's t-SNE may lay it: mirrored, a quarter turned, three times as large,
    elsewhere.
    """
    return 3 * points[..., ::-1] * [1, -1] + [20, -7]


def test_two_runs_that_go_the_same_way_do_so_in_one_map_however_their_own_maps_lie():
    rng = np.random.default_rng(1)
    moved = (
        grid(4)
        + np.cumsum(rng.normal(scale=0.2, size=(4, 12, 2)), axis=0)
        * (np.arange(4) > 0)[:, None, None]
    )
    shared = replay_frames.shared_map(
        [mapped(moved, [98.0] * 4), mapped(turned(moved), [98.0] * 4, title="SSD")]
    )
    assert shared is not None and shared.points[0] == pytest.approx(shared.points[1])
    assert shared.points[0][0].tolist() == grid(1)[0].tolist()


def test_a_point_stands_by_the_samples_that_it_joins():
    points = grid(3)
    points[1, 0] = [3, 2]  # onto the last sample
    # in the middle of four, which count the same; the others at a fifth or less of their weight
    points[2, 0] = [1.5, 0.5]
    still, away = mapped(grid(3), [98.0] * 3), mapped(turned(points), [98.0] * 3)
    shared = replay_frames.shared_map([still, away])
    assert shared is not None and shared.points[0] == pytest.approx(grid(3), abs=1e-6)
    assert shared.points[1][1, 0] == pytest.approx([3, 2], abs=1e-6)
    # weights by hand: 1 / 0.5 at the four corners, 1 / 2.5 at (0 or 3, 0 or 1) and at (1 or 2, 2),
    # which makes ten
    heights = 4 * 2 * 0.5 + 4 * 0.4 * 0.5 + 2 * 0.4 * 2
    assert shared.points[1][2, 0] == pytest.approx([1.5, heights / (8 + 6 * 0.4)])


def test_runs_that_begin_otherwise_or_show_other_samples_share_no_map():
    one = mapped(grid(2), [98.0, 1.0])
    assert replay_frames.shared_map([one]) is None
    # another network: Retrain, or another seed
    assert replay_frames.shared_map([one, mapped(grid(2), [97.0, 1.0])]) is None
    assert (
        replay_frames.shared_map(
            [one, mapped(grid(2), [98.0, 1.0], **{"forget/ids": np.arange(100) + 1})]
        )
        is None
    )
    assert replay_frames.shared_map([one, mapped(grid(2), [98.0, 60.0])]) is not None


# -- the figure


@pytest.mark.parametrize("clock", ["own", "seconds"])
def test_a_figure_for_two(clock):
    info = replay_player.replay_player_info(
        [replay([98.0, 40.0, 1.0]), replay([98.0, 1.0], title="SSD")], clock
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
    info = replay_player.replay_player_info(
        [replay([98.0, 40.0, 1.0]), replay([98.0, 60.0])], "own"
    )
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
