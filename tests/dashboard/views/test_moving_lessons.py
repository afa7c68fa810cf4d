"""What moves on the first step of a lesson: images, and what the original says of them."""

from __future__ import annotations

from functools import partial

import pytest
from pages import open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard.lessons import LESSONS
from dashboard.lessons.records import Pictures, Played

opened = partial(open_page, "lessons")


def moving(at: AppTest) -> list[str]:
    return [one.proto.body for one in at.get("html") if 'class="before-after"' in one.proto.body]


def test_every_lesson_begins_with_something_that_moves():
    for lesson in LESSONS.values():
        first, *others = lesson.steps
        if not lesson.grid:  # a scene that is played, before anything is asked
            assert first.guess is None
            assert [type(figure) for figure in first.figures] == [Played]
            continue
        assert isinstance(first.moving, Pictures)
        # what Retrain says is what the reader will predict
        assert first.moving.methods == ("original",)
        assert not any(step.moving for step in others)
        assert first.moving.scenario in {one["id"] for one in lesson.grid["scenarios"]}


@pytest.mark.parametrize("name", ["forget-one-class", "backdoor"])
def test_the_first_step_shows_images_and_what_is_said_of_them(name, demo_home, started):
    at = opened(lesson=name, step="1")
    (shown,) = moving(at)
    assert shown.count('class="tile"') == 8 == shown.count('alt=""') / 2
    assert shown.count("data:image/png;base64,") == 16
    # an image that is deleted fades; one with a patch is another image
    assert shown.count('class="gone"') == (0 if name == "backdoor" else 8)
    pictures = [part.partition('"')[0] for part in shown.split("data:image/png;base64,")[1:]]
    same = [before == after for before, after in zip(pictures[::2], pictures[1::2], strict=True)]
    assert set(same) == {name != "backdoor"}
    assert "of these 8 images" in words_on(at)
    assert not moving(opened(lesson=name, step="2"))
