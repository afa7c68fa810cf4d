"""What the lessons say beside the demo's runs: nothing is left open, and numbers are the stored
ones.
"""

from __future__ import annotations

import re

import facts
import pytest

from dashboard import data
from dashboard.lessons import LESSONS
from dashboard.lessons.results import LessonResults, gather
from dashboard.lessons.values import SLOT, Reading, choices
from mucore.runner.grid import expand, parse_grid
from mucore.store import Store, open_pack

LAUNCHED = [lesson for lesson in LESSONS.values() if lesson.grid]


@pytest.fixture(scope="module")
def demo() -> Store:
    return open_pack(data.DEMO)


def results_of(demo: Store, name: str) -> LessonResults:
    specs = [spec for spec in expand(parse_grid(LESSONS[name].grid))[0] if spec.scenario]
    scenarios = sorted({str(spec.scenario) for spec in specs})
    found = {result.key: result for result in demo.results(scenario=scenarios)}

    def outputs(key: str):
        kept = found[key].outputs
        return demo.artifacts.get_outputs(kept) if kept else None

    asked = outputs if LESSONS[name].features else None
    return gather(list(found.values()), specs, demo=True, outputs=asked)


@pytest.mark.slow
@pytest.mark.parametrize("name", [lesson.id for lesson in LAUNCHED])
def test_every_value_of_a_lesson_is_filled_by_the_demo(demo, name):
    results = results_of(demo, name)
    for step in LESSONS[name].steps:
        reading = Reading(results, step.guess)
        slots = [slot for sentence in step.found for slot in SLOT.findall(sentence)]
        assert step.shown(results) and all(reading.shown(slot) for slot in slots)
        assert step.guess is None or choices(step.guess, results)


@pytest.mark.slow
def test_the_first_launched_lesson_says_the_stored_numbers(demo):
    results, step = results_of(demo, "forget-one-class"), LESSONS["forget-one-class"].steps[1]
    was, lost, _ = Reading(results, step.guess).sentences(step)
    runs = {one.method: one.key for one in results.entries}
    stored = {
        method: demo.results(keys=[runs[method]])[0].metrics for method in ("original", "retrain")
    }
    shares = [round(100 * stored[name]["fa"].value, 1) for name in stored]
    assert list(map(float, facts.numbers(was))) == shares == [100.0, 0.0]
    first, second = (round(100 * stored[name]["ta"].value, 1) for name in stored)
    assert float(facts.numbers(lost)[0]) == pytest.approx(first - second) and first > second


def test_no_sentence_has_more_than_two_values():
    for lesson in LESSONS.values():
        for step in lesson.steps:
            assert all(len(SLOT.findall(sentence)) <= 2 for sentence in step.found)
            texts = (step.text, step.words, step.see, step.say, step.notes, *step.found)
            assert not any(re.search(r"^#|```", text, re.MULTILINE) for text in texts)
