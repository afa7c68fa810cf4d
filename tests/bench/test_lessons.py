"""The lessons are measured, each in a store of its own."""

from __future__ import annotations

import bench_lessons
import pytest

from dashboard.lessons import LESSONS


def test_the_lessons_section_marks_what_takes_too_long():
    section = bench_lessons.section(
        [bench_lessons.Measured("Short", 6, 5.4), bench_lessons.Measured("Long", 9, 13.0)]
    )
    assert "| Short | 6 | 5 |  |" in section and "| Long | 9 | 13 | **not kept** |" in section
    assert "within 10 seconds on two cores (**not kept**)" in section


@pytest.mark.slow
def test_a_lesson_is_measured_in_a_store_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "untouched"))
    measured = bench_lessons.measure(LESSONS["forget-one-class"])
    methods = LESSONS["forget-one-class"].grid["methods"]
    # training, original and Retrain
    assert measured.title == "Forget one class" and measured.runs == len(methods) + 3
    assert measured.seconds > 0 and not (tmp_path / "untouched").exists()
