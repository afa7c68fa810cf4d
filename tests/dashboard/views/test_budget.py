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
from pages import figures, make_row, open_page
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


def found(home: Path, metrics: Sequence[str] = ("ta", "fa")) -> budget_frames.Curves:
    with open_store(home) as store:
        return budget_frames.curves(store.summaries(), store.metric_values(), metrics)


def launch_link(at: AppTest) -> dict[str, list[str]]:
    link = next(one for one in at.get("page_link") if one.proto.label.startswith("Launch"))
    return parse_qs(link.proto.query_string)


# --- numbers
# --------------------------------------------------------------------------------------------------


def test_curves_average_seeds_at_each_size(home):
    put(home)
    curves = found(home)
    assert dict(curves.sizes) == {
        12: "10\N{NARROW NO-BREAK SPACE}% of the class",
        24: "20\N{NARROW NO-BREAK SPACE}% of the class",
    } | {48: "40\N{NARROW NO-BREAK SPACE}% of the class"}
    lines = {line.method: line for line in curves.lines}
    assert [line.method for line in curves.lines][:2] == ["original", "retrain"]
    gaps = [(step.count, step.cells["fa"].gap) for step in lines["ssd"].steps]
    assert [(count, gap and gap.mean) for count, gap in gaps] == [
        (12, pytest.approx(0.15)),
        (24, 0.0),
        (48, pytest.approx(-0.2)),
    ]
    assert [step.count for step in lines["salun"].steps] == [24]
    first = lines["ssd"].steps[0]
    cell = first.cells["fa"]
    assert (first.count, first.seeds, len(first.keys), first.status) == (12, 2, 2, "ok")
    # t(0.975, 1) = 12.706; s of 0.1 and 0.2 is 0.0707; over the root of two seeds that is 0.05
    assert cell.gap is not None and cell.gap.half == pytest.approx(12.7062 * 0.05, rel=1e-4)


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


def line(name: str, *distances: float | None, spread: float = 0.0) -> budget_frames.Line:
    """A line with these distances in points at 10, 20, 40 samples; None where it has no run."""
    steps = [
        budget_frames.Step(
            count=10 * 2**place,
            row=make_row(
                f"{name}-{place}", name, distance=budget_frames.frames.Estimate(away / 100, None, 1)
            ),
            spread=((away - spread) / 100, (away + spread) / 100) if spread else None,
        )
        for place, away in enumerate(distances)
        if away is not None
    ]
    family = "reference" if name == "original" else "teacher"
    return budget_frames.Line(
        id=f"{name}-1", method=name, title=name.title(), family=family, steps=tuple(steps)
    )


def three_sizes(*lines: budget_frames.Line) -> budget_frames.Curves:
    return budget_frames.Curves(metrics=(), sizes={10: "", 20: "", 40: ""}, lines=lines)


def test_the_closest_over_all_budgets_has_runs_at_all_of_them():
    curves = three_sizes(
        line("original", 12, 12, 12), line("a", 1, 2, 6), line("b", 0.1, None, 0.1)
    )
    assert facts.numbers(budget_frames.closest_sentence([curves])) == ["3.0"]
    assert "A " in budget_frames.closest_sentence([curves])
    worse = three_sizes(line("original", 2, 2, 2), line("a", 1, 2, 6))
    assert facts.numbers(budget_frames.closest_sentence([worse])) == []
    assert budget_frames.closest_sentence([three_sizes(line("b", None, 1, 1))]) == ""


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


def test_numbers_are_in_percent_and_plain_units(home):
    put(home)
    frame = budget_frames.numbers(found(home, ("ta", "fa", "rte")))
    row = frame[(frame["Method"] == "SSD") & (frame["Samples"] == 48)].iloc[0]
    assert (row["FA (%)"], row["FA gap"], row["RTE"]) == (
        pytest.approx(30.0),
        pytest.approx(-20.0),
        pytest.approx(0.25),
    )
    assert row["Share"] == "40 % of the class" and row["Training seeds"] == 2
    assert math.isnan(frame[frame["Method"] == "Retrain"].iloc[0]["FA gap"])


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
    methods = [line(f"m{n}", 12 + n, 12 + n, 12 + n) for n in range(9)]
    curves = three_sizes(line("original", 12, 12, 12), line("x", 1.5, 3, 0, spread=1), *methods)
    panel = budget_curves.budget_curves_info(curves, "Here")
    marks = {each.title: each.marks for each in panel.series}
    assert [mark.y for mark in marks["X"]] == pytest.approx([1.5, 3, 0])
    assert marks["X"][0].span == pytest.approx((0.5, 2.5)) and marks["M1"][0].span is None
    # M0 and M1 are nearest to the original; of nine and X eight have a colour
    vivid = budget_curves.coloured(panel)
    assert len(vivid) == budget_curves.COLOURED == 8 and not {"M0", "M1"} & {*vivid}
    axis = budget_curves.up([panel])
    figure = budget_curves.draw(panel, axis, vivid, dark=False)
    traces = {trace.name: trace for trace in figure.data}
    # no distance has no place on a log axis: it stands at its end
    assert list(traces["X"].y) == pytest.approx([math.log10(1.5), math.log10(3), axis.span[0]])
    assert list(traces["X"].x) == pytest.approx([1, math.log10(20), math.log10(40)])
    assert traces["Original"].line.dash == "dot" and traces["M0"].marker.size == 4
    dashes = [traces[f"M{n}"].line.dash for n in (2, 3, 4, 5)]
    assert len(set(dashes)) == 4
    named = [each for each in figure.layout.annotations if each.showarrow]
    assert {each.text for each in named} == {"<b>Original</b>", *vivid}
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


def test_a_metric_as_value_and_gap(home):
    put(home)
    curves = found(home, ("ta", "fa", "rte"))
    gaps = budget_curves.values(curves, "fa", "Here", view="gap")
    fa = {series.method: series for series in gaps.series}
    assert [(mark.x, mark.y) for mark in fa["ssd"].marks] == [
        (12, pytest.approx(15.0)),
        (24, 0.0),
        (48, pytest.approx(-20.0)),
    ]
    assert [mark.y for mark in fa["retrain"].marks] == [0.0, 0.0, 0.0]
    assert [mark.y for mark in fa["original"].marks] == pytest.approx([50.0, 50.0, 50.0])
    axis = budget_curves.up([gaps])
    assert axis.span == (pytest.approx(-20 - 0.08 * 70), pytest.approx(50 + 0.08 * 70))
    # a metric without a gap to Retrain is shown as its value
    rte = budget_curves.values(curves, "rte", "Here", view="gap")
    assert {mark.y for each in rte.series for mark in each.marks} == {0.25}
    values = budget_curves.values(curves, "ta", "Here")
    ssd = next(each for each in values.series if each.method == "ssd")
    assert [mark.y for mark in ssd.marks] == pytest.approx([88.0] * 3)


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
    at = opened(metric="rte")
    assert not at.exception and not at.error
    distance, metric = figures(at)
    names = [trace["name"] for trace in distance["data"]]
    assert sorted(names) == ["Original", "SCRUB", "SSD"]  # SalUn was run at one budget alone
    assert {"Retrain", "SSD"} <= {trace["name"] for trace in metric["data"]}
    grid = " ".join(one.proto.body for one in at.get("html"))
    assert grid.count("<tr>") - 2 == 2 and "too little?" in grid


# --- the papers' numbers
# --------------------------------------------------------------------------------------------------

SOURCE = "MUBox, Table 1"


def test_printed_numbers_stand_at_their_share_and_only_for_methods_with_a_line(home):
    put(home)
    one = budget_curves.Ghost(
        method="ssd", x=24, values={"ta": 0.5, "fa": 0.4}, gaps={"fa": -0.1}, source=SOURCE
    )
    base = budget_curves.Ghost(
        method="retrain", x=24, values={"ta": 0.93}, gaps={"ta": 0.0}, source=SOURCE
    )
    absent = budget_curves.Ghost(method="fisher", x=24, values={"ta": 0.2}, gaps={}, source=SOURCE)
    printed, curves = [one, base, absent], found(home)
    ta, fa = (budget_curves.values(curves, name, "Here", ghosts=printed) for name in ("ta", "fa"))
    assert [(each.title, x, y) for each, x, y, _ in ta.ghosts] == [
        ("SSD", 24, pytest.approx(50.0)),
        ("Retrain", 24, pytest.approx(93.0)),
    ]
    assert [y for _, _, y, _ in fa.ghosts] == [pytest.approx(40.0)]
    assert budget_curves.up([ta]).low < 50.0  # it reaches down to it, though every run lies above
    gaps = [
        budget_curves.values(curves, name, "Here", view="gap", ghosts=printed)
        for name in ("ta", "fa")
    ]
    assert [[y for _, _, y, _ in each.ghosts] for each in gaps] == [[], [pytest.approx(-10.0)]]


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
