"""Budget curves: the numbers by hand, the figure by structure, the page as a reader meets it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import facts
import pandas as pd
import pytest
from builders import make_result, make_spec_row
from pages import figures, open_page
from streamlit.testing.v1 import AppTest

from dashboard import queue_data
from dashboard.charts import budget_curves
from dashboard.charts.parts import end_labels
from dashboard.frames import budget as budget_frames
from mucore.store import open_store

ROOT = Path(__file__).resolve().parents[3]
opened = partial(open_page, "budget")
FEW, SOME, MANY = {"budget": 0.1}, {"budget": 0.2}, {"budget": 0.4}
COUNTS = {0.1: 12, 0.2: 24, 0.4: 48}
# FA gap of each method by budget and training seed; Retrain's FA is 0.5, its TA 0.9; every TA gap
# is -0.02
GAPS = {
    # means 0.15, 0, -0.2: a range of 35 points
    "ssd": {0.1: (0.10, 0.20), 0.2: (0.0, 0.0), 0.4: (-0.30, -0.10)},
    "scrub": {0.1: (0.04, 0.04), 0.2: (0.05, 0.05), 0.4: (0.06, 0.06)},  # a range of 2 points
    "salun": {0.2: (0.4, 0.4)},  # one budget only
}


def put(home: Path, budgets: Sequence[float] = (0.1, 0.2, 0.4), **parameters: Any) -> None:
    """A store with the runs of `GAPS` at these budgets of one class."""
    with open_store(home) as store:
        for seed in (0, 1):
            for budget in budgets:
                lines: list[tuple[str, float, float, dict]] = [
                    (
                        "original",
                        1.0,
                        0.91,
                        {"fa": 0.5, "ta": 0.01, "ra": 0.0, "mia_confidence": 0.0},
                    ),
                    ("retrain", 0.5, 0.9, {}),
                ]
                lines += [
                    (
                        m,
                        0.5 + g[budget][seed],
                        0.88,
                        {"fa": g[budget][seed], "ta": -0.02, "ra": 0.0, "mia_confidence": 0.0},
                    )
                    for m, g in GAPS.items()
                    if budget in g
                ]
                for method, fa, ta, gaps in lines:
                    spec = make_spec_row(
                        method=method,
                        training_seed=seed,
                        scenario_parameters={"budget": budget, **parameters},
                    )
                    metrics = {"fa": fa, "ta": ta, "ra": 1.0, "mia_confidence": 0.5, "rte": 0.25}
                    store.put_result(
                        make_result(spec, metrics=metrics, gaps=gaps, forget_count=COUNTS[budget])
                    )


def found(home: Path, metrics: Sequence[str] = ("ta", "fa")) -> pd.DataFrame:
    with open_store(home) as store:
        return budget_frames.points(store.summaries(), store.metric_values(), metrics)


def launch_link(at: AppTest) -> dict[str, list[str]]:
    link = next(one for one in at.get("page_link") if one.proto.label.startswith("Launch"))
    return parse_qs(link.proto.query_string)


# --- numbers
# --------------------------------------------------------------------------------------------------


def test_points_average_seeds_at_each_size(home):
    put(home)
    points = found(home, ("fa", "rte"))
    assert set(points["metric"]) == {"fa", "rte"}  # nobody judged, so there is no distance
    assert dict(zip(points["size"], points["share"], strict=True)) == {
        12: "10\N{NARROW NO-BREAK SPACE}% of the class",
        24: "20\N{NARROW NO-BREAK SPACE}% of the class",
    } | {48: "40\N{NARROW NO-BREAK SPACE}% of the class"}
    mine = points[points["metric"] == "fa"].set_index(["method", "size"])
    assert mine.loc["ssd", "value"].tolist() == pytest.approx([65.0, 50.0, 30.0])
    assert mine.loc["salun"].index.tolist() == [24]
    first = mine.loc[("ssd", 12)]
    assert (first["seeds"], first["status"], first["told"]) == (2, "ok", "FA 65.0")
    # t(0.975, 1) = 12.706; s of 0.1 and 0.2 is 0.0707; over the root of two seeds that is 0.05
    half = 100 * 12.7062 * 0.05
    assert (first["low"], first["high"]) == pytest.approx((65 - half, 100), rel=1e-4)
    rte = points[points["metric"] == "rte"]
    assert set(rte["value"]) == {0.25}


def test_scenarios_are_those_with_an_amount():
    names = budget_frames.scenarios()
    assert {
        "one_class",
        "all_classes",
        "worst_case",
        "label_flip",
        "backdoor",
        "class_fraction",
    } <= set(names)
    assert not {"class_wise", "ids", "random_classes"} & set(names)


def three_sizes(*lines: tuple[Any, ...], spread: float = 0.0) -> pd.DataFrame:
    """Lines, each a name and its distances in points at 10, 20, 40 samples; None where it has no
    run.
    """
    made = []
    for name, *distances in lines:
        family = "reference" if name in ("original", "retrain") else "teacher"
        about = {"line": f"{name}-1", "method": name, "title": name.title(), "family": family}
        made += [
            about
            | {"size": 10 * 2**place, "share": "", "key": f"{name}-{place}", "seeds": 1}
            | {"status": "ok", "verdict": None, "metric": "distance", "told": ""}
            | {"value": away, "low": away - spread, "high": away + spread, "panel": "here"}
            for place, away in enumerate(distances)
            if away is not None
        ]
    return pd.DataFrame(made)


def test_the_closest_over_all_budgets_has_runs_at_all_of_them():
    original, b = ("original", 12, 12, 12), ("b", 0.1, None, 0.1)
    points = three_sizes(original, ("a", 1, 2, 6), ("c", 9, None, 9), ("retrain", 0, 0, 0))
    assert facts.numbers(budget_frames.closest_sentence(points)) == ["3.0"]
    assert "A " in budget_frames.closest_sentence(points)
    # b is closer where it ran
    assert budget_frames.closest_sentence(three_sizes(original, ("a", 1, 2, 6), b)) == ""
    worse = three_sizes(("original", 2, 2, 2), ("a", 1, 2, 6))
    assert facts.numbers(budget_frames.closest_sentence(worse)) == []
    assert budget_frames.closest_sentence(three_sizes(b, ("retrain", 0, 0, 0))) == ""


def test_a_method_tuned_for_each_size_is_one_line():
    runs = pd.DataFrame(
        [
            (method, preset, f'{{"lr": {lr}}}', size)
            for method, preset, lr, size in [
                ("ssd", "tuned", 1, 10), ("ssd", "tuned", 2, 20),
                ("scrub", "authors", 1, 10), ("scrub", "authors", 2, 20),
                ("salun", "tuned", 1, 10), ("salun", "authors", 2, 10),
            ]
        ],
        columns=["method", "method_preset", "parameters", "forget_count"],
    )  # fmt: skip
    names = budget_frames.lines(runs).tolist()
    assert names[:2] == ["ssd", "ssd"] and len(set(names)) == 5


def test_the_table_has_the_numbers_of_the_figure(home):
    put(home)
    points = found(home, ("fa",)).assign(panel="One class")
    frame = budget_frames.numbers(points, "FA (%)")
    row = frame[(frame["Method"] == "SSD") & (frame["Samples"] == 48)].iloc[0]
    assert row["FA (%)"] == pytest.approx(30.0)
    assert row["Share"] == "40 % of the class" and row["Training seeds"] == 2


def test_a_run_is_compared_with_the_retrain_of_its_own_size(home):
    put(home)
    key = make_spec_row(method="ssd", training_seed=0, scenario_parameters=MANY).key
    with open_store(home) as store:
        summaries = store.summaries()
    assert set(budget_frames.beside(summaries, key)["forget_count"]) == {48}
    assert len(budget_frames.beside(summaries, "gone")) == len(summaries)


# --- figure
# --------------------------------------------------------------------------------------------------


def test_distances_on_a_log_axis_with_eight_in_colour_and_names_at_their_ends():
    methods = [(f"m{n}", 12 + n, 12 + n, 12 + n) for n in range(9)]
    points = three_sizes(("original", 12, 12, 12), ("x", 1.5, 3, 0), *methods, spread=1)
    # M0 and M1 are nearest to the original; of nine and X eight have a colour
    vivid = budget_curves.coloured(points)
    assert len(vivid) == budget_curves.COLOURED == 8 and not {"M0", "M1"} & {*vivid}
    axis, turns = budget_curves.up(points), budget_curves.dashes(points, vivid)
    figure = budget_curves.draw(points, "Here", axis, turns, dark=False)
    traces = {trace.name: trace for trace in figure.data}
    # no distance has no place on a log axis: it stands at its end
    assert list(traces["X"].y) == pytest.approx([math.log10(1.5), math.log10(3), axis.span[0]])
    assert list(traces["X"].x) == pytest.approx([1, math.log10(20), math.log10(40)])
    assert traces["Original"].line.dash == "dot" and traces["M0"].marker.size == 4
    dashes = [traces[f"M{n}"].line.dash for n in (2, 3, 4, 5)]
    assert len(set(dashes)) == 4
    named = [each for each in figure.layout.annotations if each.showarrow]
    assert {each.text for each in named} == {"Original", *vivid}
    (bar, *_) = figure.layout.shapes
    assert (bar.y0, bar.y1) == pytest.approx((math.log10(0.5), math.log10(2.5)))


def test_names_at_ends_keep_apart_and_stay_inside():
    assert end_labels.place([5, 1, 9], 0, 10, 1) == [5, 1, 9]
    # three around 13 / 3; then two that would meet these and the bottom
    found = end_labels.place([4, 4.5, 4.5], 0, 20, 2)
    assert found == pytest.approx([13 / 3 - 2, 13 / 3, 13 / 3 + 2])
    assert end_labels.place([0, 0.5], 0, 20, 2) == [0, 2]
    assert end_labels.place([9, 9, 9], 0, 10, 3) == [4, 7, 10]
    assert end_labels.place([], 0, 1, 1) == []


def test_a_metric_on_a_plain_axis(home):
    put(home)
    axis = budget_curves.up(budget_curves.of_metric(found(home), "fa"))
    # from 30 to 100 %, with 8 % of room on either side
    assert axis.span == pytest.approx((30 - 0.08 * 70, 100 + 0.08 * 70))


# --- launch
# --------------------------------------------------------------------------------------------------


def test_launch_query_repeats_the_runs_at_more_budgets(home):
    put(home, [0.2], class_id=3)
    with open_store(home) as store:
        query = budget_frames.launch_query(store.summaries(), (0.05, 0.2))
    assert query["one_class.budget"] == "0.05,0.2" and query["one_class.class_id"] == "3"
    assert (query["dataset"], query["model"], query["scenarios"], query["training_seeds"]) == (
        "digits",
        "mlp",
        "one_class",
        "0,1",
    )
    assert query["recipe.epochs"] == "2" and set(query["methods"]) == set(GAPS)
    assert query.keys().isdisjoint(("settings", "unlearning_seeds", "evaluation_seeds"))


# --- page
# --------------------------------------------------------------------------------------------------


def test_the_link_fills_launch(home, monkeypatch):
    monkeypatch.setattr(queue_data, "ensure_workers", lambda store, **options: [])
    put(home, [0.2])
    at = opened()
    assert not at.exception and not at.error and not at.get("plotly_chart")
    query = launch_link(at)
    assert query["one_class.budget"] == ["0.02,0.05,0.1,0.2"]
    at = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=60).run()
    at.query_params.update(
        {name: values if len(values) > 1 else values[0] for name, values in query.items()}
    )
    at.switch_page("views/launch.py").run()
    assert not at.exception
    # two seeds: an original each; at four budgets original, retrain and three methods, of which 0.2
    # is there already
    runs = 2 + 2 * 4 * 5
    assert {one.label: one.value for one in at.metric}["Runs"] == str(runs)


def test_several_budgets_draw_curves(home):
    put(home)
    at = opened()
    assert not at.exception and not at.error
    (distance,) = figures(at)
    names = [trace["name"] for trace in distance["data"]]
    assert sorted(names) == ["Original", "SCRUB", "SSD"]  # SalUn was run at one budget alone
    grid = " ".join(one.proto.body for one in at.get("html"))
    assert grid.count("<tr>") - 2 == 2 and "too little?" in grid
    (metric,) = figures(opened(metric="rte"))
    assert {"Retrain", "SSD"} <= {trace["name"] for trace in metric["data"]}


def test_only_what_was_run_alike_makes_a_curve(home):
    put(home)
    with open_store(home) as store:
        extra = make_spec_row(method="ssd", training_seed=7, scenario_parameters={"budget": 0.2})
        store.put_result(make_result(extra, forget_count=24))
        every = store.summaries()
    kept = budget_frames.alike(every)
    assert set(kept["training_seed"]) == {0, 1}
    assert set(kept["method"]) == {"original", "retrain", "ssd", "scrub"}
    one_size = every[every["forget_count"] == 24]
    assert budget_frames.alike(one_size) is one_size


@pytest.mark.slow
def test_a_run_in_the_address_is_drawn_and_opened(home):
    put(home)
    key = make_spec_row(method="ssd", training_seed=0, scenario_parameters=FEW).key
    at = opened(run=key)
    assert not at.exception and any("SSD" in one.value for one in at.subheader)
    ssd = next(trace for trace in figures(at)[0]["data"] if trace.get("name") == "SSD")
    assert ssd["line"]["width"] == 3 and ssd["customdata"][0][0] == key
