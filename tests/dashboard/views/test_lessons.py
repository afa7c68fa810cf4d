"""Lessons: what is planned, what is told, what a reader sees on an empty store, with the demo,
while runs go on, and with results.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import facts
import numpy as np
import pytest
from builders import make_result
from pages import button, lines_with, links, open_page, words_on
from playing import QuickRoom
from streamlit.testing.v1 import AppTest

from dashboard.charts import lesson_bars
from dashboard.lessons import LESSONS, encoder, forget_one_class, one_metric, sentences
from dashboard.lessons.records import (
    Bars,
    Lesson,
    Neighbours,
    Pairs,
    Pick,
    Played,
    Scatter,
    compare,
    metrics_of,
    of_features,
    shows,
)
from dashboard.lessons.results import (
    Entry,
    LessonResults,
    gather,
    neighbours_say,
    plain_name,
    played,
)
from dashboard.sections.lessons.figures import by_chance, judgements
from mucore import catalog
from mucore.outputs import Outputs, SplitOutputs, confusion
from mucore.playground.scene import PRESETS
from mucore.runner.plan import expand, make_plan, parse_grid
from mucore.store import open_store

opened = partial(open_page, "lessons")
FIRST = LESSONS["forget-one-class"]
# the others are played on the stage of the playground
LAUNCHED = [lesson for lesson in LESSONS.values() if lesson.grid]
PLAYED = LESSONS["typical-and-outlier"]


def has_button(at: AppTest, label: str) -> bool:
    return any(one.label.startswith(label) for one in at.button)


# Values by method; a metric that is not named is 0.5 everywhere.
REACHED: Mapping[str, Mapping[str, float]] = {
    "original": {
        "fa": 0.98,
        "ra": 0.97,
        "ta": 0.95,
        "asr_others": 1.0,
        "mia_confidence": 0.0,
        "linear_probe": 0.97,
    },
    "retrain": {
        "fa": 0.0,
        "ra": 0.97,
        "ta": 0.86,
        "asr_others": 0.0,
        "mia_confidence": 1.0,
        "linear_probe": 0.92,
    },
    "finetune": {"fa": 0.98, "ra": 0.97, "ta": 0.95, "asr_others": 1.0, "linear_probe": 0.97},
    "gradient_ascent": {"fa": 0.0, "ra": 0.90, "ta": 0.80},
    "duck": {"fa": 0.0, "ra": 0.97, "ta": 0.86, "asr_others": 0.9, "linear_probe": 0.92},
}


def fill(home: Path, lesson: Lesson) -> None:
    """Results of all runs of the lesson."""
    with open_store(home) as store:
        for spec in expand(parse_grid(lesson.grid))[0]:
            reached = REACHED.get(spec.method, {})
            names = {name for step in lesson.steps for name in metrics_of(step)}
            made = make_result(spec, metrics={name: reached.get(name, 0.5) for name in names})
            if spec.scenario is not None and any(of_features(step) for step in lesson.steps):
                kept = store.artifacts.put_outputs(with_features())
                made = replace(made, outputs=kept)
            store.put_result(made)


def with_features(scattered: int = 0) -> Outputs:
    """Ten samples of each of three classes in training and test, class 0 forgotten, each class in a
    direction of its own.

    `scattered` of the ten test samples of class 0 lie in the direction of class 1.
    """
    classes = np.repeat([0, 1, 2], 10)
    lying = np.where(np.arange(30) < scattered, 1, classes)

    def part(which: np.ndarray, first: int, seen: np.ndarray) -> SplitOutputs:
        logits = np.eye(10, dtype=np.float32)[which]
        ids = np.arange(first, first + len(which))
        return SplitOutputs(
            logits=logits,
            labels=which,
            ids=ids,
            confusion=confusion(which, which, 10),
            features=np.eye(10)[seen].astype(np.float16),
        )

    rest = classes[classes > 0]
    return Outputs(
        {
            "forget": part(classes[:10], 0, classes[:10]),
            "retain": part(rest, 10, rest),
            "test": part(classes, 100, lying),
        }
    )


# --- content
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LAUNCHED, ids=lambda lesson: lesson.id)
def test_every_run_of_a_lesson_can_be_planned(lesson, tmp_path):
    with open_store(tmp_path) as store:
        plan = make_plan(parse_grid(lesson.grid), store)
    assert not plan.refused
    wanted = {choice["id"] for choice in lesson.grid["methods"]}
    for scenario in lesson.grid["scenarios"]:
        assert {spec.method for spec in plan.specs if spec.scenario == scenario["id"]} == wanted | {
            "original",
            "retrain",
        }


def test_what_a_lesson_names_is_there():
    for lesson in LESSONS.values():
        names_what_is_there(lesson)


def names_what_is_there(lesson: Lesson) -> None:
    runs = {choice["id"] for choice in lesson.grid.get("methods", ())} | {"original", "retrain"}
    scenarios = {choice["id"] for choice in lesson.grid.get("scenarios", ())}
    assert set(lesson.presets) <= {preset.id for preset in PRESETS}
    for step in lesson.steps:
        for name in metrics_of(step):
            assert all(catalog.serves(catalog.metric(name), scenario) for scenario in scenarios)
        for figure in step.figures:
            assert set(getattr(figure, "methods", ())) <= runs
        for kind, name in step.terms:
            assert getattr(catalog, kind)(name).title
        if isinstance(step.guess, Pick) and lesson.grid:
            assert set(step.guess.options) <= runs | scenarios | {"yes", "no"}
    for question in lesson.check:
        assert 0 <= question.right < len(question.options) and question.why


# --- predictions and sentences
# --------------------------------------------------------------------------------------------------


def made(
    values: Mapping[str, Mapping[str, float]],
    scenario: str = "class_wise",
    blind: frozenset[str] = frozenset(),
) -> LessonResults:
    entries = []
    for method, numbers in values.items():
        card = catalog.method(method)
        entries.append(
            Entry(
                method, method, card.title, card.family, scenario, dict(numbers), {}, 120, blind, {}
            )
        )
    return LessonResults(tuple(entries), scenario)


def named(text: str) -> set[str]:
    """Titles of the methods in a sentence."""
    methods = [card.title for card in catalog.methods() if card.family != "reference"]
    return {title for title in methods if title in text}


def test_a_pick_is_right_where_methods_tie_and_named_otherwise():
    options = {"finetune": "Fine-tune", "duck": "DUCK"}
    guess = Pick(
        question="?",
        options=options,
        answer=lambda evidence: sentences.nearest(evidence, ("fa",), list(options)),
    )
    clear = made({"retrain": {"fa": 0.0}, "finetune": {"fa": 0.9}, "duck": {"fa": 0.1}})
    assert compare(guess, "duck", clear).right is True
    wrong = compare(guess, "finetune", clear)
    assert wrong.right is False and named(wrong.text) == {"Fine-tune", "DUCK"}
    tie = made({"retrain": {"fa": 0.5}, "finetune": {"fa": 0.6}, "duck": {"fa": 0.4}})
    assert compare(guess, "finetune", tie).right and compare(guess, "duck", tie).right
    assert compare(guess, "duck", made({"retrain": {}})).right is None


def test_lesson_one_names_the_nearest_method():
    numbers = {
        name: dict(REACHED[name])
        for name in ("original", "retrain", "finetune", "gradient_ascent", "duck")
    }
    nearest, _, others = forget_one_class.ranking(made(numbers))
    assert named(nearest) == {"DUCK"} and facts.numbers(nearest) == ["0.0"]
    # |98| + |0| + |9| over 3, and |0| + |7| + |6| over 3
    assert "Fine-tune 35.7" in others and "Gradient ascent 4.3" in others


def test_lesson_two_compares_the_best_with_doing_nothing():
    def level(value: float) -> dict[str, float]:
        return dict.fromkeys(one_metric.ALL, value)

    better = made(
        {"original": level(0.9), "retrain": level(0.5), "duck": level(0.6), "ssd": level(0.0)},
        "one_class",
    )
    told = one_metric.winners(better)
    # one for each number, one for all of them, and one for the original
    assert [named(line) for line in told] == [{"DUCK"}] * 7
    assert facts.numbers(told[-1]) == ["10.0", "40.0"]
    idle = made({"original": level(0.6), "retrain": level(0.5), "duck": level(0.6)}, "one_class")
    assert (
        len(one_metric.winners(idle)) == len(told) + 1 and "chance" in one_metric.winners(idle)[-1]
    )


def test_lesson_four_puts_each_method_on_its_side():
    def near(x: float, y: float, fa: float = 0.0) -> dict[str, float]:
        return {"cka_original_forget": x, "cka_retrain_forget": y, "fa": fa}

    evidence = made(
        {
            "original": near(1, 0.8),
            "retrain": near(0.8, 1),
            "finetune": near(0.99, 0.8, 0.9),
            "duck": near(0.85, 0.95),
        }
    )
    assert [encoder.side(evidence, name) for name in ("finetune", "duck")] == [
        "original",
        "retrain",
    ]
    told, apart, hidden = encoder.sides(evidence)
    assert named(told) == {"Fine-tune", "DUCK"} and facts.numbers(apart) == ["0.80"]
    assert told.index("original") < told.index("Fine-tune") < told.index("Retrain")
    assert told.index("Retrain") < told.index("DUCK")
    assert named(hidden) == set()  # Fine-tune has not forgotten by its answers
    hides = made({"original": near(1, 0.8), "retrain": near(0.8, 1), "ssd": near(0.95, 0.85)})
    assert named(encoder.sides(hides)[-1]) == {"SSD"}
    assert encoder.side(made({"duck": {}}), "duck") == ""


def test_neighbours_are_counted_on_test_samples_of_the_forgotten_class():
    assert neighbours_say(with_features()) == (1.0, 10)
    # the seven of ten that lie with their own
    assert neighbours_say(with_features(3)) == (pytest.approx(0.7), 10)
    bare = with_features()
    assert neighbours_say(Outputs({name: bare[name] for name in ("forget", "test")})) is None
    assert neighbours_say(Outputs({**bare, "test": replace(bare["test"], features=None)})) is None
    nan = np.full_like(bare["test"].features, np.nan)
    assert neighbours_say(Outputs({**bare, "test": replace(bare["test"], features=nan)})) is None


def compared(place: int, given: float | str) -> str:
    """What is said of a prediction at a step of the first lesson, by the values of `REACHED`."""
    guess = FIRST.steps[place].guess
    assert guess is not None
    return compare(guess, given, made(REACHED)).text


def test_a_step_without_the_references_numbers_shows_nothing():
    step = FIRST.steps[1]
    assert shows(step, made({"original": REACHED["original"], "retrain": REACHED["retrain"]}))
    assert not shows(
        step, made({"original": REACHED["original"], "retrain": {"fa": 0.0, "ra": 0.9}})
    )
    assert not shows(step, made({}))


def test_no_finding_fails_without_results():
    for lesson in LAUNCHED:
        nothing = LessonResults((), str(lesson.grid["scenarios"][0]["id"]))
        assert all(step.findings(nothing) == [] for step in lesson.steps if step.findings)


# --- which runs
# --------------------------------------------------------------------------------------------------


def test_a_step_says_the_verdicts_on_the_methods_that_it_shows():
    """Values of class_wise by hand: the original and gradient ascent know the class, Retrain and
    DUCK do not, so the one did nothing.
    """
    knows = {"fa": 1.0, "ra": 1.0, "ta": 0.9, "tfa": 0.9, "tra": 0.9}
    forgot = knows | {"fa": 0.0, "ta": 0.81, "tfa": 0.0}
    specs = expand(parse_grid(FIRST.grid))[0]
    results = [
        make_result(spec, metrics=forgot if spec.method in ("retrain", "duck") else knows)
        for spec in specs
    ]
    evidence = gather(results, specs)
    original, retrain, ascent = (
        evidence.entry(name) for name in ("original", "retrain", "gradient_ascent")
    )
    assert (
        original is not None
        and retrain is not None
        and ascent is not None
        and ascent.verdict is not None
    )
    assert (ascent.verdict.word, retrain.verdict) == ("did nothing", None)
    (said,) = judgements(FIRST.steps[3], evidence)
    assert "Gradient ascent did nothing" in said and "DUCK" in said
    # the story is not told yet
    assert judgements(FIRST.steps[1], evidence) == judgements(FIRST.steps[2], evidence) == []


def test_own_evidence_takes_the_very_runs_and_the_demo_those_alike():
    specs = expand(parse_grid(FIRST.grid))[0]
    other = expand(
        parse_grid({**FIRST.grid, "dataset": "fashion-mnist-10k", "training_seeds": [1, 0]})
    )[0]
    results = [make_result(spec) for spec in other]
    assert not gather(results, specs).entries
    evidence = gather(results, specs, demo=True)
    assert [one.method for one in evidence.entries] == [
        "original",
        "retrain",
        "finetune",
        "gradient_ascent",
        "duck",
    ]
    assert {one.spec["training_seed"] for one in evidence.entries} == {0}
    elsewhere = expand(
        parse_grid(
            {**FIRST.grid, "scenarios": [{"id": "class_wise", "parameters": {"class_ids": [3]}}]}
        )
    )[0]
    assert not gather([make_result(spec) for spec in elsewhere], specs, demo=True).entries


# --- figures
# --------------------------------------------------------------------------------------------------


def test_bars_are_the_values_in_percent_and_lines_are_the_references():
    evidence = made(
        {
            "original": {"fa": 0.98, "ra": 0.97},
            "retrain": {"fa": 0.0, "ra": 0.96},
            "duck": {"fa": 0.25},
        }
    )
    info = lesson_bars.lesson_bars_info(evidence, ("fa", "ra"))
    assert [bar.title for bar in info.bars] == ["Original", "Retrain", "DUCK"]
    assert info.bars[2].values == (25.0, None) and info.bars[2].reasons[1]
    assert info.line("retrain") == (0.0, 96.0)
    figure = lesson_bars.draw(info, dark=False)
    dashes = {trace.name: trace.line.dash for trace in figure.data if trace.type == "scatter"}
    assert dashes == {"Retrain": "dash", "Original": "dot"}
    assert [(shape.x0, shape.line.dash) for shape in figure.layout.shapes] == [
        (0.0, "dash"),
        (98.0, "dot"),
        (96.0, "dash"),
        (97.0, "dot"),
    ]
    assert [note.text for note in figure.layout.annotations if note.y == "DUCK"] == ["25.0", "–"]
    assert figure.layout.xaxis.ticktext == ("0 %", "50 %", "100 %")
    assert "DUCK 25.0 %" in lesson_bars.alt_text(info)
    assert lesson_bars.draw(info, dark=True, large=True).layout.height > figure.layout.height
    assert [
        bar.method for bar in lesson_bars.lesson_bars_info(evidence, ("fa",), ("original",)).bars
    ] == ["original", "retrain"]


# --- the page
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LAUNCHED, ids=lambda lesson: lesson.id)
def test_every_step_shows_its_figures_with_results(home, lesson):
    fill(home, lesson)
    at = opened(lesson=lesson.id)
    assert not has_button(at, "Run it live")
    for step in lesson.steps:
        if step.guess is not None:
            assert not at.get("plotly_chart")
            at = button(at, "Skip").click().run()
        assert not at.exception and not at.error
        assert len(at.get("plotly_chart")) == sum(
            isinstance(figure, Bars | Neighbours | Pairs | Scatter) for figure in step.figures
        )
        if step.figures:
            assert step.look in words_on(at)
            assert lines_with(at, "Your results", plain_name("digits"))
            assert by_chance(100) in words_on(at)
        at = button(at, "Next").click().run()
    assert "Check yourself" in words_on(at) and lesson.takeaway in words_on(at)
    assert {label for _, label, _ in lesson.deeper} <= set(links(at))
    following = dict(zip(LESSONS, list(LESSONS)[1:], strict=False)).get(lesson.id)
    assert has_button(at, "Next lesson: ") is (following is not None)
    if following is None:
        return
    at = button(at, "Next lesson: ").click().run()
    assert at.query_params["lesson"] == following and at.query_params.get("step", "1") == "1"
    assert LESSONS[following].question in words_on(at)


def test_the_first_lesson_is_played_step_by_step(home, playground):
    room, stage = playground
    at = opened(lesson=PLAYED.id)
    for step in PLAYED.steps:
        assert not at.exception and not at.error
        assert step.title in "".join(one.value for one in at.subheader)
        if step.guess is not None:
            assert not stage.shown  # the prediction comes first
            at = at.radio[0].set_value("right").run()
            at = button(at, "That is my prediction").click().run()
        for figure in step.figures:
            assert isinstance(figure, Played)
            key, text = f"playground:{figure.preset}", words_on(at)
            assert stage.shown[key]["fixed"] and stage.shown[key]["run"]["field"]
            assert step.look in text
            assert not step.after or step.after not in text
            stage.ask(at, {"what": "forget", "revision": 1}, key)
            have = 0
            while have < len(room.kept[str(len(room.asked))]):
                data = stage.ask(at, {"what": "events", "after": have}, key)
                have += len(data["run"]["events"])
            stage.ask(at, {"what": "ended"}, key)
            text, results = words_on(at), results_of_played(room)
            assert step.after in text
            if step is PLAYED.steps[0]:  # a first look, before anything is asked
                assert step.guess is None and step.findings is None
                continue
            assert step.findings is not None
            assert all(sentence in text for sentence in step.findings(results))
            assert isinstance(step.guess, Pick)
            assert compare(step.guess, "right", results).text in text
        stage.shown.clear()
        at = button(at, "Next").click().run()
    assert [scene for scene, _ in room.asked] == [
        next(one.scene for one in PRESETS if one.id == preset) for preset in PLAYED.presets
    ]
    assert "Check yourself" in words_on(at) and PLAYED.takeaway in words_on(at)
    assert has_button(at, "Next lesson: ")
    assert {label for _, label, _ in PLAYED.deeper} <= set(links(at))


def results_of_played(room: QuickRoom) -> LessonResults:
    """What came of the scenes that the room has played, in the order of the lesson."""
    entries = [
        entry
        for number, preset in enumerate(PLAYED.presets[: len(room.asked)], start=1)
        for entry in played(room.events(str(number)), preset)
    ]
    return LessonResults(tuple(entries), "")


def test_a_prediction_is_kept_and_compared(home):
    fill(home, FIRST)
    at = opened(lesson=FIRST.id, step="2")
    at = at.slider[0].set_value(40).run()
    at = button(at, "That is my prediction").click().run()
    assert compared(1, 40) in words_on(at)
    assert at.get("plotly_chart") and not at.slider
    at = button(at, "Next").click().run()
    at = button(at, "Back").click().run()
    assert "You said 40 %" in words_on(at)
    at.query_params["step"] = str(FIRST.length)
    (told,) = lines_with(at.run(), "Your prediction")
    assert facts.numbers(told) == []
    at.query_params["step"] = "4"
    at = at.run()
    at = at.radio[0].set_value("duck").run()
    at = button(at, "That is my prediction").click().run()
    assert "You said DUCK: right." in words_on(at)
    at = button(at, "Next").click().run()
    (told,) = lines_with(at, "2 predictions")
    assert facts.numbers(told) == ["2", "1"]


def test_the_button_launches_an_ordinary_comparison_and_shows_its_progress(home, started):
    at = button(opened(lesson=FIRST.id), "Run it live").click().run()
    assert not at.exception and not at.error
    assert "0 of 6 runs done" in str([bar.proto.text for bar in at.get("progress")])
    with open_store(home) as store:
        (comparison,) = store.comparisons()
        assert comparison.name == "Lesson: Forget one class" and len(comparison.keys) == 6
        assert {job.state for job in store.jobs()} == {"queued"} and len(store.jobs()) == 6
    assert started == [home]
    assert ":material/hourglass_top: Running]" in words_on(opened())
