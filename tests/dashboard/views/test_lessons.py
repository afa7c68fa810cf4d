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
from builders import make_outputs, make_result
from pages import button, lines_with, links, open_page, words_on
from playing import QuickRoom
from streamlit.testing.v1 import AppTest

from dashboard import data
from dashboard.charts import lesson_dots, lesson_scatter
from dashboard.charts.dots import Mark
from dashboard.lessons import LESSONS
from dashboard.lessons.records import Figure, Guess, Lesson
from dashboard.lessons.results import (
    Entry,
    LessonResults,
    gather,
    neighbours_say,
    plain_name,
    played,
)
from dashboard.lessons.values import Reading, choices, compare
from dashboard.sections.lessons.figures import by_chance, judgements
from mucore import catalog
from mucore.metrics.sanity import GUESS
from mucore.outputs import Outputs, SplitOutputs, confusion
from mucore.playground.scene import PRESETS
from mucore.runner.grid import expand, parse_grid
from mucore.runner.plan import make_plan
from mucore.store import open_store, write_pack

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


def fill(home: Path, *lessons: Lesson, dataset: str = "", outputs: bool = False) -> None:
    """Results of all runs of the lessons; `dataset` gives them under another one, as the demo has
    them.
    """
    with open_store(home) as store:
        for lesson in lessons:
            grid = parse_grid({**lesson.grid, **({"dataset": dataset} if dataset else {})})
            for spec in expand(grid)[0]:
                reached = REACHED.get(spec.method, {})
                names = {name for step in lesson.steps for name in step.metrics}
                made = make_result(spec, metrics={name: reached.get(name, 0.5) for name in names})
                if spec.scenario is not None and (outputs or lesson.features):
                    split = "triggered" if spec.scenario == "backdoor" else "forget"
                    kept = (
                        with_features()
                        if split == "forget"
                        else make_outputs(splits=(split, "test"), classes=10)
                    )
                    made = replace(made, outputs=store.artifacts.put_outputs(kept))
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
    runs = {*lesson.methods, "original", "retrain"}
    scenarios = {choice["id"] for choice in lesson.grid.get("scenarios", ())}
    for step in lesson.steps:
        assert set(step.scenarios) <= (scenarios or {preset.id for preset in PRESETS})
        for name in step.metrics:
            assert all(catalog.serves(catalog.metric(name), scenario) for scenario in scenarios)
        assert step.methods <= runs
        for kind, name in step.terms:
            assert getattr(catalog, kind)(name).title
        if step.guess is not None:
            assert not step.guess.right or step.guess.right.keys() == step.guess.options.keys()
    assert all(question.why and len(question.options) == 3 for question in lesson.check)


def test_a_metric_is_explained_before_or_where_it_is_first_shown():
    for lesson in LESSONS.values():
        known: set[str] = set()
        for step in lesson.steps:
            known |= {name for kind, name in step.terms if kind == "metric"}
            assert set(step.metrics) - {"fa_true"} <= known, (lesson.id, step.title)


# --- predictions and sentences
# --------------------------------------------------------------------------------------------------


def made(values: Mapping[str, Mapping[str, float]], scenario: str = "class_wise") -> LessonResults:
    entries = []
    for method, numbers in values.items():
        title = catalog.method(method).title
        entries.append(Entry(method, method, title, scenario, dict(numbers), {}, 120, {}))
    return LessonResults(tuple(entries), scenario)


def named(text: str) -> set[str]:
    """Titles of the methods in a sentence."""
    methods = [card.title for card in catalog.methods() if card.family != "reference"]
    return {title for title in methods if title in text}


def test_an_estimate_is_right_within_its_points():
    guess = Guess(ask="?", answer="fa.retrain", near=10)
    evidence = made({"retrain": {"fa": 0.30}})
    said = {given: compare(guess, given, evidence) for given in (40, 41, 20, 19)}
    assert [one.right for one in said.values()] == [True, False, True, False]
    assert facts.numbers(said[41].text) == ["41", "30.0"]
    assert choices(guess, evidence) == {"30"}
    unknown = made({"retrain": {}})
    assert compare(guess, 41, unknown).right is None and choices(guess, unknown) == frozenset()


def test_a_pick_is_right_where_methods_tie_and_named_otherwise():
    options = {"finetune": "Fine-tune", "duck": "DUCK"}
    guess = Guess(ask="?", options=options, answer="nearest fa")
    clear = made({"retrain": {"fa": 0.0}, "finetune": {"fa": 0.9}, "duck": {"fa": 0.1}})
    assert compare(guess, "duck", clear).right is True
    wrong = compare(guess, "finetune", clear)
    assert wrong.right is False and named(wrong.text) == {"Fine-tune", "DUCK"}
    assert choices(replace(guess, answer="farthest fa"), clear) == {"finetune"}
    assert choices(replace(guess, answer="lowest fa"), clear) == {"duck"}
    tie = made({"retrain": {"fa": 0.5}, "finetune": {"fa": 0.6}, "duck": {"fa": 0.4}})
    assert compare(guess, "finetune", tie).right and compare(guess, "duck", tie).right
    assert compare(guess, "duck", made({"retrain": {}})).right is None


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("{fa.original}", "98.0 %"),
        # as printed: 94.1 less 85.9, though 0.0825 would round to 8.3
        ("{ta.original - ta.retrain}", "8.2 points"),
        ("{cka_original_forget.duck}", "0.57"),
        ("{answer}, {distance.answer}", "DUCK, 4.7 points"),  # |6| and |3.35| over two
        ("{fa.least}", "4.0 %"),
        ("{mia_confidence.duck}", "–"),
        ("{ra.duck}", None),
        ("{distance.finetune}", None),
        ("[fa.original > 0.5] Yes.", "Yes."),
        ("[fa.original > 0.5 and fa.retrain > 0.5] Yes.", None),
        ("[fa.original - fa.retrain >= 0.88] Yes.", "Yes."),
        ("[|fa.retrain - fa.original| < 0.88] Yes.", None),
        ("[ra.duck < 1] Yes.", None),
    ],
)
def test_a_sentence_is_filled_from_the_runs_or_left_out(sentence, said):
    evidence = made(
        {
            "original": {"fa": 0.98, "ta": 0.9412},
            "retrain": {"fa": 0.10, "ta": 0.8587},
            "finetune": {"fa": 0.9},
            "duck": {"fa": 0.04, "ta": 0.8252, "cka_original_forget": 0.568},
        }
    )
    guessing = [replace(one, reasons={"mia_confidence": GUESS}) for one in evidence.entries]
    options = {"finetune": "Fine-tune", "duck": "DUCK"}
    guess = Guess(ask="?", options=options, answer="nearest fa ta")
    assert Reading(replace(evidence, entries=tuple(guessing)), guess).filled(sentence) == said


def test_neighbours_are_counted_on_test_samples_of_the_forgotten_class():
    assert neighbours_say(with_features()) == (1.0, 10)
    # the seven of ten that lie with their own
    assert neighbours_say(with_features(3)) == (pytest.approx(0.7), 10)
    bare = with_features()
    assert neighbours_say(Outputs({name: bare[name] for name in ("forget", "test")})) is None
    assert neighbours_say(Outputs({**bare, "test": replace(bare["test"], features=None)})) is None
    nan = np.full_like(bare["test"].features, np.nan)
    assert neighbours_say(Outputs({**bare, "test": replace(bare["test"], features=nan)})) is None


def test_neighbours_that_find_less_than_retrains_by_more_than_one_image():
    guess = LESSONS["encoder"].steps[3].guess
    assert guess is not None
    for least, right in ((0.8, "no"), (0.7, "yes")):
        values = {"knn_forgotten": 0.9, "knn_image": 0.1}
        found = {"retrain": values, "ssd": {"knn_forgotten": least}, "duck": values}
        assert choices(guess, made(found)) == {right}
    assert choices(guess, made({"retrain": values})) == frozenset()


def test_fine_tuning_ends_farther_from_retrain_on_one_group_or_both():
    guess = LESSONS["worst-and-best"].steps[4].guess
    assert guess is not None
    for worst, best, right in (
        (1.0, 0.3, {"best_case"}),
        (0.3, 1.0, {"worst_case"}),
        (0.5, 0.5, {"worst_case", "best_case"}),
    ):
        groups = [
            made({"retrain": {"fa": value}, "finetune": {"fa": 1.0}}, scenario).entries
            for scenario, value in (("worst_case", worst), ("best_case", best))
        ]
        assert choices(guess, LessonResults((*groups[0], *groups[1]), "worst_case")) == right


def compared(place: int, given: float | str) -> str:
    """What is said of a prediction at a step of the first lesson, by the values of `REACHED`."""
    guess = FIRST.steps[place].guess
    assert guess is not None
    return compare(guess, given, made(REACHED)).text


def test_a_step_without_the_references_numbers_shows_nothing():
    step = FIRST.steps[1]
    assert step.shown(made({"original": REACHED["original"], "retrain": REACHED["retrain"]}))
    assert not step.shown(
        made({"original": REACHED["original"], "retrain": {"fa": 0.0, "ra": 0.9}})
    )
    assert not step.shown(made({}))


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
    (said,) = judgements(FIRST.steps[3], evidence).values()
    assert said.keys() == {"Fine-tune", "Gradient ascent", "DUCK"}
    assert said["Gradient ascent"].word == "did nothing"
    # the story is not told yet
    assert judgements(FIRST.steps[1], evidence) == judgements(FIRST.steps[2], evidence) == {}


def test_each_lesson_gives_its_verdicts_once_and_where_it_shows_methods():
    for lesson in LAUNCHED:
        (step,) = (step for step in lesson.steps if step.judged)
        assert step.methods & set(lesson.methods)


def test_a_method_that_did_not_run_is_no_answer_and_is_named(home, tmp_path, monkeypatch):
    lesson = LESSONS["backdoor"]
    fewer = replace(
        lesson,
        grid={
            **lesson.grid,
            "methods": [choice for choice in lesson.grid["methods"] if choice["id"] != "scrub"],
        },
    )
    fill(tmp_path / "other", fewer, dataset="fashion-mnist-10k")
    with open_store(tmp_path / "other") as made_elsewhere:
        write_pack(made_elsewhere, tmp_path / "demo")
    monkeypatch.setattr(data, "DEMO", tmp_path / "demo")
    at = opened(lesson=lesson.id, step="4")
    assert [*at.radio[0].options] == ["Fine-tune", "Pseudo-labels", "Random labels"]
    assert any("SCRUB" in one.value for one in at.caption)
    assert ["scrub" in step.methods for step in lesson.steps] == [False, False, False, True]
    assert not any("SCRUB" in one.value for one in opened(lesson=lesson.id, step="2").caption)


def test_own_evidence_takes_the_very_runs_and_the_demo_those_alike():
    specs = expand(parse_grid(FIRST.grid))[0]
    other = expand(
        parse_grid({**FIRST.grid, "dataset": "fashion-mnist-10k", "training_seeds": [1, 0]})
    )[0]
    results = [make_result(spec) for spec in other]
    assert not gather(results, specs).entries
    evidence = gather(results, specs, demo=True)
    methods = "original retrain finetune gradient_ascent duck".split()
    assert [one.method for one in evidence.entries] == methods
    assert {one.spec["training_seed"] for one in evidence.entries} == {0}
    elsewhere = expand(
        parse_grid(
            {**FIRST.grid, "scenarios": [{"id": "class_wise", "parameters": {"class_ids": [3]}}]}
        )
    )[0]
    assert not gather([make_result(spec) for spec in elsewhere], specs, demo=True).entries


# --- figures
# --------------------------------------------------------------------------------------------------


def test_dots_are_the_values_in_percent_beside_retrains_line():
    evidence = made(
        {
            "original": {"fa": 0.98, "ra": 0.97},
            "retrain": {"fa": 0.0, "ra": 0.96},
            "duck": {"fa": 0.25},
        }
    )
    figure = Figure(
        kind="dots", metrics=("fa", "ra"), scenarios=(evidence.scenario,), methods=("duck",)
    )
    info = lesson_dots.lesson_dots_info(evidence, figure)
    assert [line.title for line in info.lines] == ["Original", "Retrain", "DUCK"]
    assert info.lines[2].marks == (Mark(25.0), None) and info.lines[2].fate == "cannot tell"
    assert [panel.base for panel in info.panels] == [0.0, 96.0]
    assert "25.0 (DUCK)" in lesson_dots.alt_text(info)
    alone = replace(figure, methods=("original",))
    assert [one.title for one in lesson_dots.lesson_dots_info(evidence, alone).lines] == [
        "Original",
        "Retrain",
    ]


def test_grey_is_where_retrains_of_other_seeds_stand():
    """Three Retrains with 0, 0.02 and 0.07 more: of the six differences of every two of them the
    97.5th percentile is 0.05 + 0.875 * 0.02.
    """
    specs = expand(parse_grid(LESSONS["encoder"].grid))[0]
    base = {"fa": 0.2, "cka_original_forget": 0.6, "cka_retrain_forget": 1.0}
    results = [make_result(spec, metrics=base) for spec in specs]
    retrain = next(spec for spec in specs if spec.method == "retrain")
    others = [
        make_result(
            retrain.model_copy(update={"training_seed": seed}),
            metrics={
                "fa": 0.2 + step,
                "cka_original_forget": 0.6 + step,
                "cka_retrain_forget": 1.0,
            },
        )
        for seed, step in ((1, 0.02), (2, 0.07))
    ]
    elsewhere = make_result(retrain.model_copy(update={"scenario_parameters": {"class_ids": [7]}}))
    evidence = gather(results, specs, retrains=[*others, elsewhere])
    assert evidence.noise("fa") == pytest.approx(0.0675)
    assert evidence.noise("cka_retrain_forget") is None  # of each with itself
    assert gather(results, specs).noise("fa") is None  # one seed

    shown = Figure(
        kind="dots", metrics=("fa", "cka_retrain_forget"), scenarios=(evidence.scenario,)
    )
    info = lesson_dots.lesson_dots_info(evidence, shown)
    assert [panel.half_band for panel in info.panels] == [pytest.approx(6.75), None]
    (band,) = (
        shape for shape in lesson_dots.draw(info, dark=False).layout.shapes if shape.name == "noise"
    )
    assert (band.x0, band.x1, band.xref) == (pytest.approx(13.25), pytest.approx(26.75), "x")

    models, half = lesson_scatter.dots_of(evidence), evidence.noise(lesson_scatter.X)
    shapes = lesson_scatter.draw(models, half, dark=False).layout.shapes
    (band,) = (shape for shape in shapes if shape.name == "noise")
    assert (band.x0, band.x1) == pytest.approx((0.5325, 0.6675)) and band.yref == "y domain"


# --- the page
# --------------------------------------------------------------------------------------------------


def test_the_overview_shows_six_stories_and_their_states(home):
    fill(home, FIRST)
    at = opened()
    assert not at.exception and not at.error
    text = words_on(at)
    assert all(lesson.question in text for lesson in LESSONS.values())
    # the one whose runs are there, and the one that needs none
    assert text.count(":green-badge[:material/check_circle: Ready]") == 2
    cards = [f"**{number} · {one.title}**" for number, one in enumerate(LESSONS.values(), 1)]
    assert [label for label in links(at) if label in cards] == cards


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
        # of dots two: the other is for phones
        assert len(at.get("plotly_chart")) == sum(
            {"dots": 2, "scatter": 1}.get(figure.kind, 0) for figure in step.figures
        )
        if step.figures:
            assert step.see in words_on(at)
            assert lines_with(at, "Your results", plain_name("digits"))
            assert by_chance(100) in words_on(at)
        at = button(at, "Next").click().run()
    assert "Check yourself" in words_on(at) and lesson.takeaway in words_on(at)
    assert {told["label"] for told in lesson.deeper} <= set(links(at))
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
        (preset,) = step.scenarios
        key, text = f"playground:{preset}", words_on(at)
        assert stage.shown[key]["fixed"] and stage.shown[key]["run"]["field"]
        assert step.see in text
        assert not step.say or step.say not in text
        stage.ask(at, {"what": "forget", "revision": 1}, key)
        have = 0
        while have < len(room.kept[str(len(room.asked))]):
            data = stage.ask(at, {"what": "events", "after": have}, key)
            have += len(data["run"]["events"])
        stage.ask(at, {"what": "ended"}, key)
        text, results = words_on(at), results_of_played(room)
        assert step.say in text
        # the first is a look before anything is asked
        assert bool(step.guess) == bool(step.found) == (step is not PLAYED.steps[0])
        if step.guess is not None:
            told = Reading(results, step.guess).sentences(step)
            assert len(told) == len(step.found) and all(sentence in text for sentence in told)
            assert compare(step.guess, "right", results).text in text
        stage.shown.clear()
        at = button(at, "Next").click().run()
    assert [scene for scene, _ in room.asked] == [
        next(one.scene for one in PRESETS if one.id == step.scenarios[0]) for step in PLAYED.steps
    ]
    assert "Check yourself" in words_on(at) and PLAYED.takeaway in words_on(at)
    assert has_button(at, "Next lesson: ")
    assert {told["label"] for told in PLAYED.deeper} <= set(links(at))
    opened(lesson=PLAYED.id, step="2", present="1")  # a room sees it before the answer
    assert stage.shown


def results_of_played(room: QuickRoom) -> LessonResults:
    """What came of the scenes that the room has played, in the order of the lesson."""
    entries = [
        entry
        for number, step in enumerate(PLAYED.steps[: len(room.asked)], start=1)
        for entry in played(room.events(str(number)), step.scenarios[0])
    ]
    return LessonResults(tuple(entries), "")


def of_one_point(original: float, retrain: float, preset: str) -> tuple[Entry, ...]:
    """A scene in which one point is forgotten, by hand."""
    done = [
        {"who": who, "numbers": {"fa": fa, "mia": None}, "difference": away}
        for who, fa, away in (
            ("original", original, None),
            ("retrain", retrain, {"mean": 0.02, "at_forget": 0.9}),
            ("finetune", 1.0, {"mean": 0.01, "at_forget": 0.75}),
        )
    ]
    scene = {"kind": "scene", "forget": [3]}
    return played([scene, *({"kind": "done", **each} for each in done)], preset)


def test_a_point_of_the_playground_is_right_or_wrong_by_retrain():
    twin, outlier = (step.guess for step in PLAYED.steps[1:3])
    assert twin is not None and outlier is not None
    lonely = LessonResults(of_one_point(1.0, 0.0, "outlier"), "")
    assert choices(outlier, lonely) == {"wrong"} and choices(twin, lonely) == frozenset()
    was, apart = Reading(lonely, outlier).sentences(PLAYED.steps[2])
    assert facts.numbers(was) == ["100.0", "0.0"] and facts.numbers(apart) == ["2.0", "90.0"]
    assert choices(twin, LessonResults(of_one_point(1.0, 1.0, "twin"), "")) == {"right"}
    assert "mia" not in lonely.entries[0].values


@pytest.mark.parametrize(("name", "step"), [("backdoor", "3"), ("worst-and-best", "3")])
def test_images_are_shown_where_predictions_were_kept(home, monkeypatch, name, step):
    asked = []

    def images(spec: Mapping, ids: list[int], *, triggered: bool = False) -> np.ndarray:
        asked.append((spec["scenario"], len(ids), triggered))
        return np.zeros((len(ids), 8, 8, 1), np.uint8)

    monkeypatch.setattr(data, "images", images)
    fill(home, LESSONS[name], outputs=True)
    at = button(opened(lesson=name, step=step), "Skip").click().run()
    assert not at.exception and not at.error
    assert any('class="answers"' in one.proto.body for one in at.get("html"))
    assert [(scenario, triggered) for scenario, _, triggered in asked] == [
        ("backdoor", True) if name == "backdoor" else ("best_case", False)
    ]
    assert 0 < asked[0][1] <= 8


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
    (told,) = lines_with(at.run(), "Predictions")
    assert facts.numbers(told) == ["0", "1"]
    at.query_params["step"] = "4"
    at = at.run()
    at = at.radio[0].set_value("duck").run()
    at = button(at, "That is my prediction").click().run()
    assert "You said “DUCK”: right." in words_on(at)
    at = button(at, "Next").click().run()
    (told,) = lines_with(at, "Predictions")
    assert facts.numbers(told) == ["1", "2"]


def test_check_yourself_gives_feedback(home):
    at = opened(lesson=FIRST.id, step=str(FIRST.length))
    right, wrong, _ = FIRST.check
    at = at.radio[0].set_value(right.right).run()
    at = at.radio[1].set_value((wrong.right + 1) % 3).run()
    text = words_on(at)
    assert f"Right. {right.why}" in text and f"Not quite. {wrong.why}" in text


def test_the_button_launches_an_ordinary_comparison_and_shows_its_progress(home, started):
    at = button(opened(lesson=FIRST.id), "Run it live").click().run()
    assert not at.exception and not at.error
    assert "**0 of 6 runs done**" in words_on(at)
    with open_store(home) as store:
        (comparison,) = store.comparisons()
        assert comparison.name == "Lesson: Forget one class" and len(comparison.keys) == 6
        assert {job.state for job in store.jobs()} == {"queued"} and len(store.jobs()) == 6
    assert started == [home]
    assert ":material/hourglass_top: Running]" in words_on(opened())


def test_who_runs_a_story_sees_its_results_and_not_the_demos(home, tmp_path, monkeypatch, started):
    fill(tmp_path / "other", FIRST)
    with open_store(tmp_path / "other") as made_elsewhere:
        write_pack(made_elsewhere, tmp_path / "demo")
    monkeypatch.setattr(data, "DEMO", tmp_path / "demo")
    with open_store(home) as store:
        store.put_result(make_result())
    assert not has_button(opened(lesson=FIRST.id, step="2", source="demo"), "Run it live")
    at = opened(lesson=FIRST.id, step="1", source="demo")
    assert "demo's results" in words_on(at)
    at = button(at, "Run it live").click().run()
    assert "source" not in at.query_params and at.query_params["step"] == "1"
    fill(home, FIRST)
    at = button(button(at.run(), "Next").click().run(), "Skip").click().run()
    assert lines_with(at, "Your results", plain_name("digits"))


def test_next_waits_for_a_guess_or_a_skip(home):
    fill(home, FIRST)
    at = opened(lesson=FIRST.id, step="2")
    waiting = at.button(key="next")
    assert waiting.label == "Guess first" and waiting.disabled
    at = button(at, "Skip").click().run()
    assert at.button(key="next").label == "Next" and not at.button(key="next").disabled


def test_a_guest_is_sent_to_no_button_that_only_the_presenter_has(home, become):
    become("guest")
    guests = opened(lesson=FIRST.id, step="2")
    assert not has_button(guests, "Run it live")
    assert lines_with(guests, "figure", "presenter")
    become("presenter")
    own = opened(lesson=FIRST.id, step="2")
    assert has_button(own, "Run it live") and lines_with(own, "figure", "you")


def test_after_a_failed_run_the_story_can_be_run_again(home):
    button(opened(lesson=FIRST.id), "Run it live").click().run()
    with open_store(home) as store:
        for job in store.jobs():
            store.cancel(job.id)
    at = opened(lesson=FIRST.id)
    assert lines_with(at, "6 runs") and "Open the queue" in links(at)
    assert ":red-badge[:material/error: Stopped]" in words_on(opened())
    at = button(at, "Run it live").click().run()
    assert not at.exception and not has_button(at, "Run it live")
    with open_store(home) as store:
        assert len(store.jobs(states=["queued"])) == 6


def test_presenting_a_lesson_hides_the_outcome_until_it_is_revealed(home):
    fill(home, FIRST)
    at = opened(lesson=FIRST.id, step="2", present="1")
    assert not at.slider and not at.get("plotly_chart") and "What do you think?" in words_on(at)
    at = button(at, "Reveal").click().run()
    assert at.get("plotly_chart") and at.query_params["present"] == "1"
    assert lines_with(at, "**Forgotten images", "98.0 %", "0.0 %")  # above the figure


def test_the_demo_is_read_where_it_has_the_story_and_said_so(home, tmp_path, monkeypatch):
    fill(tmp_path / "other", FIRST, dataset="fashion-mnist-10k")
    with open_store(tmp_path / "other") as made_elsewhere:
        write_pack(made_elsewhere, tmp_path / "demo")
    monkeypatch.setattr(data, "DEMO", tmp_path / "demo")
    at = opened()
    assert words_on(at).count(":gray-badge[:material/science: Demo results]") == 1
    assert "demo's results" in words_on(opened(lesson=FIRST.id))
    at = button(opened(lesson=FIRST.id, step="2"), "Skip").click().run()
    assert at.get("plotly_chart")
    assert lines_with(at, "demo's results", plain_name("fashion-mnist-10k"), "T-shirt/top")
    at = opened(lesson=FIRST.id, step=str(FIRST.length))
    (there,) = [
        one.proto.query_string
        for one in at.get("page_link")
        if one.proto.label == "The whole table of this comparison"
    ]
    assert "dataset=fashion-mnist-10k" in there and "scenario=class_wise" in there
    at = opened(lesson="backdoor", step="2")
    (said,) = at.info
    assert not at.exception and "demo" in said.value
