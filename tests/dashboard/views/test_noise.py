"""The 95 % band of Retrains of other seeds, grey behind the marks of every figure that has a
metric on an axis. Retrain's numbers are a base, the base + 0.02 and + 0.07 on its three seeds: of
the six differences of every two of them, ± 0.02, 0.05 and 0.07, the 97.5th percentile is 0.05 +
0.875 * 0.02 = 0.0675.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import make_result, make_spec_row
from pages import figures, open_page

from mucore.metrics.membership import ATTACKS
from mucore.store import open_store
from mucore.store.rows import Measured

STEPS = (0.0, 0.02, 0.07)
MEAN, HALF = 0.03, 0.0675  # of the steps
# metric -> what Original, Retrain (before the steps) and SCRUB have
ONE_CLASS: Mapping[str, tuple[float, float, float]] = {
    "ta": (0.90, 0.80, 0.82),
    "ra": (1.0, 0.9, 0.9),
    "fa": (1.0, 0.5, 0.55),
    **{f"mia_{attack}": (0.1, 0.4, 0.45) for attack in ATTACKS},
    "efficacy": (1.0, -1.0, -0.5),
    "cka_original_test": (1.0, 0.6, 0.7),
    "cka_retrain_test": (0.6, 1.0, 0.8),
    "rte": (0.0, 1.0, 0.2),
}
FLIPPED = {
    "ta": (0.84, 0.80, 0.82),
    "ra": (1.0, 0.9, 0.9),
    "fa": (0.9, 0.1, 0.2),
    "fa_true": (0.1, 0.8, 0.7),
}
SAME = ("cka_retrain_test", "rte")  # of a Retrain and itself


def put(
    home: Path,
    scenario: str,
    values: Mapping[str, tuple[float, float, float]],
    *,
    seeds: int = 3,
    dataset: str = "digits",
    budget: float | None = None,
) -> None:
    with open_store(home) as store:
        for seed in range(seeds):
            for place, method in enumerate(("original", "retrain", "scrub")):
                numbers: dict[str, float | None | Measured] = {}
                for name, each in values.items():
                    step = STEPS[seed] if method == "retrain" and name not in SAME else 0.0
                    numbers[name] = each[place] + step
                gaps = {}
                if method == "scrub":
                    gaps = {name: each[2] - each[1] - STEPS[seed] for name, each in values.items()}
                given: dict[str, Any] = (
                    {} if budget is None else {"scenario_parameters": {"budget": budget}}
                )
                count: dict[str, Any] = (
                    {} if budget is None else {"forget_count": round(100 * budget)}
                )
                spec = make_spec_row(
                    dataset=dataset, scenario=scenario, method=method, training_seed=seed, **given
                )
                store.put_result(make_result(spec, metrics=numbers, gaps=gaps, **count))


def grey(page: str, **query: Any) -> list[list[dict]]:
    """The grey shapes of each figure of a page that has any."""
    at = open_page(page, **query)
    assert not at.exception
    shapes = [
        [shape for shape in figure["layout"].get("shapes", []) if shape.get("name") == "noise"]
        for figure in figures(at)
    ]
    return [each for each in shapes if each]


def spans(shape: dict) -> tuple[float, float, float, float]:
    return shape["x0"], shape["x1"], shape["y0"], shape["y1"]


def around(base: float, scale: float = 1.0) -> tuple[float, float]:
    return scale * (base + MEAN - HALF), scale * (base + MEAN + HALF)


def test_distance_against_cost(home):
    """The farthest two Retrains differ by 0.07 in each metric that decides."""
    put(home, "one_class", ONE_CLASS)
    ((box,),) = grey("results")
    assert box["y1"] == pytest.approx(math.log10(7.0))


def test_one_seed_has_no_grey(home):
    put(home, "one_class", ONE_CLASS, seeds=1)
    for page in ("results", "tradeoffs", "budget", "membership", "efficacy", "representation"):
        assert grey(page) == []


def test_the_front(home):
    put(home, "one_class", ONE_CLASS)
    ((box,),) = grey("tradeoffs")
    assert spans(box) == pytest.approx((0, 6.75, 0, 6.75))  # gaps, either way


def test_budget_curves(home):
    for budget in (0.1, 0.2):
        put(home, "one_class", ONE_CLASS, budget=budget)
    for view, wanted in (("value", around(0.5, 100)), ("gap", (-6.75, 6.75))):
        at = open_page("budget", metric="fa", view=view)
        *_, figure = figures(at)
        (grey,) = (t for t in figure["data"] if t.get("legendgroup") == "noise")
        assert sorted(set(grey["y"])) == pytest.approx(list(wanted))


def test_depoisoning(home):
    put(home, "label_flip", FLIPPED)
    (strips,) = grey("depoisoning")
    assert len({shape["xref"] for shape in strips}) == 3
    found = sorted(end for shape in strips for end in (shape["x0"], shape["x1"]))
    wanted = sorted(
        end for name in ("ta", "fa", "fa_true") for end in around(FLIPPED[name][1], 100)
    )
    assert found == pytest.approx(wanted)


def test_five_attacks(home):
    put(home, "one_class", ONE_CLASS)
    strips, stacked = grey("membership")
    assert len(stacked) == len(strips) == len(ATTACKS)
    for strip in strips:
        assert (strip["x0"], strip["x1"]) == pytest.approx(around(0.4, 100))


def test_efficacy(home):
    put(home, "one_class", ONE_CLASS)
    found = [each for shapes in grey("efficacy") for each in shapes]
    assert found
    for shape in found:
        assert (shape["x0"], shape["x1"]) == pytest.approx(around(-1.0))


def test_one_method_over_its_settings(home):
    put(home, "one_class", ONE_CLASS)
    (strips,) = grey("method", method="scrub")
    assert [shape["xref"] for shape in strips] == ["x", "x2"]
    for strip in strips:
        assert spans(strip) == pytest.approx((-6.75, 6.75, -0.4, 0.4))


def ribbons(figure: dict) -> list[dict]:
    return [trace for trace in figure["data"] if trace.get("legendgroup") == "noise"]


def test_sensitivity_along_a_setting_of_a_method(home):
    """Retrain stands alike beside every value; agreements and CKA to Retrain have no grey."""
    put(home, "class_wise", {"cka_original_test": (1.0, 0.6, 0.7), "agl": (0.5, 1.0, 0.8)})
    with open_store(home) as store:
        for noise in (0.001, 1.0):
            spec = make_spec_row(scenario="class_wise", method="scrub")
            store.put_result(
                make_result(
                    spec.model_copy(update={"noise": noise}),
                    metrics={"cka_original_test": 0.7, "agl": 0.5},
                )
            )
    at = open_page("representation", view="sensitivity", split="test")
    assert not at.exception
    (figure,) = figures(at)
    (grey,) = ribbons(figure)
    assert sorted(set(grey["x"])) == [0, 1, 2]  # steps: 0, 0.001, 1
    assert sorted(set(grey["y"])) == pytest.approx(list(around(0.6)))
    lines = {trace["name"]: trace for trace in figure["data"]}
    reference = lines["Original and Retrain: CKA"]
    assert reference["y"] == pytest.approx([0.63] * 3) and reference["line"]["dash"] == "dash"
    measure = next(name for name in lines if "original" in name and name != reference["name"])
    assert reference["line"]["color"] == lines[measure]["line"]["color"]


def test_sensitivity_over_the_number_of_classes(home):
    with open_store(home) as store:
        for number, base in ((1, 0.9), (3, 0.5)):
            for seed, step in enumerate(STEPS if number == 1 else STEPS[:1]):
                for method in ("retrain", "duck"):
                    spec = make_spec_row(
                        scenario="random_classes",
                        method=method,
                        scenario_parameters={"n": number},
                        training_seed=seed,
                    )
                    value = base + (step if method == "retrain" else 0.0)
                    store.put_result(make_result(spec, metrics={"cka_original_test": value}))
    at = open_page("representation", view="sensitivity", scenario="random_classes", split="test")
    for figure in figures(at):  # three classes have one Retrain, so no band
        (grey,) = ribbons(figure)
        assert sorted(set(grey["x"])) == pytest.approx([0.95, 1.05])
        assert sorted(set(grey["y"])) == pytest.approx(list(around(0.9)))


def test_accuracy_of_each_class(home):
    """Retrain is right on 5, 6 and 8 of ten images of class 0 on its seeds: of the differences
    ± 1, 2 and 3 the 97.5th percentile is 2 + 0.875. Class 1 is the same in all.
    """
    keys = {}
    with open_store(home) as store:
        for seed, right in enumerate((5, 6, 8)):
            for method in ("original", "retrain", "scrub"):
                hits = right if method == "retrain" else 9
                spec = make_spec_row(scenario="one_class", method=method, training_seed=seed)
                made = make_result(spec, confusion={"test": [[hits, 10 - hits], [2, 8]]})
                store.put_result(made)
                keys[method, seed] = made.key
    at = open_page("compare", view="classes", key=keys["scrub", 0])
    assert not at.exception
    gaps, grey, *marks = figures(at)[0]["data"]
    # a cell's text is found by the place of its line on the axis, which both maps share
    assert grey["y"] == ["Retrain, 95 % band"] and gaps["y"] == [*grey["y"], "SCRUB"]
    assert gaps["text"] == [["", ""], ["+40.0", "0.0"]] and gaps["z"][0] == [None, None]
    assert list(grey["z"][0]) == pytest.approx([28.75, 0.0])
    assert [mark["customdata"][0][0] for mark in marks] == [keys["scrub", 0], ""]
    at = open_page("compare", view="classes", key=keys["scrub", 0], run=keys["scrub", 0])
    (bars,) = (figure["data"] for figure in figures(at) if figure["data"][0]["type"] == "bar")
    assert list(bars[1]["error_y"]["array"]) == pytest.approx([28.75, 0.0])
