"""Budget curves: the numbers by hand, the figure by structure, the page as a reader meets it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import facts
import pandas as pd
import pytest
from builders import full_store, make_result, make_spec_row
from pages import button, figures, lines_with, make_row, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import data, queue_data
from dashboard.charts import budget_curves
from dashboard.frames import budget as budget_frames
from mucore.spec import RunSpec
from mucore.store import open_store, write_pack
from mucore.verdicts import Verdict, Word

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


def put(
    home: Path,
    budgets: Sequence[float] = (0.1, 0.2, 0.4),
    *,
    seeds: Sequence[int] = (0, 1),
    **parameters: Any,
) -> None:
    """A store with the runs of `GAPS` at these budgets of one class."""
    with open_store(home) as store:
        for seed in seeds:
            for budget in budgets:
                lines: list[tuple[str, float, float, dict]] = [
                    ("original", 1.0, 0.91, {"fa": 0.5, "ta": 0.01}),
                    ("retrain", 0.5, 0.9, {}),
                ]
                lines += [
                    (m, 0.5 + g[budget][seed], 0.88, {"fa": g[budget][seed], "ta": -0.02})
                    for m, g in GAPS.items()
                    if budget in g
                ]
                for method, fa, ta, gaps in lines:
                    spec = make_spec_row(
                        method=method,
                        training_seed=seed,
                        scenario_parameters={"budget": budget, **parameters},
                    )
                    metrics = {"fa": fa, "ta": ta, "rte": 0.25}
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
    assert budget_frames.gaps(lines["ssd"], "fa") == pytest.approx({12: 0.15, 24: 0.0, 48: -0.2})
    assert budget_frames.gaps(lines["salun"], "fa") == pytest.approx({24: 0.4})
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


def judged_line(
    name: str, *words: Word | None, distances: Sequence[float] = (), status: str = "ok"
) -> budget_frames.Line:
    """A line with these words at 10, 20, 40 samples, from the first on; None where it has no
    run.
    """
    steps = [
        budget_frames.Step(
            count=10 * 2**place,
            row=make_row(
                f"{name}-{place}",
                name,
                unsound={} if status == "ok" else {status: 1},
                verdict=Verdict(word=word, metric="", sentence="", shown=True),
                distance=budget_frames.frames.Estimate(distances[place], None, 1)
                if distances
                else None,
            ),
        )
        for place, word in enumerate(words)
        if word
    ]
    return budget_frames.Line(
        id=name, method=name, title=name.upper(), family="teacher", steps=tuple(steps)
    )


def judged_curves(*lines: budget_frames.Line) -> budget_frames.Curves:
    return budget_frames.Curves(metrics=("fa",), sizes={10: "", 20: "", 40: ""}, lines=lines)


def test_who_keeps_forgetting_and_who_breaks():
    curves = judged_curves(
        judged_line("a", "forgot", "forgot", "forgot", distances=(0.01, 0.02, 0.06)),
        judged_line("b", "forgot", "damaged", "forgot", distances=(0.01, 0.02, 0.03)),
        judged_line("c", "did nothing", "did nothing", "did nothing", distances=(0.0, 0.0, 0.0)),
        # not at every size: nothing to say about growth
        judged_line("d", "forgot", None, "forgot", distances=(0.0, 0.0, 0.0)),
        judged_line(
            "e", "forgot", "forgot", "forgot", distances=(0.0, 0.0, 0.01), status="diverged"
        ),
    )
    assert [line.title for line in budget_frames.keeping(curves)] == ["A"] and budget_frames.untold(
        curves
    ) == []
    sentence = budget_frames.growth_sentence(curves)
    # one of four forgets at every budget, A; one damages the model, B
    assert re.fullmatch(r"1 of 4\D+\bA\. 1\D+\bB\.", sentence)
    assert re.findall(r"\b[A-E]\b", sentence) == ["A", "B"]
    answers = {
        answer.label: (answer.value, answer.detail) for answer in budget_frames.answers(curves)
    }
    assert answers["Forget at every budget"] == ("1 of 4 methods", "A") and answers[
        "Break at some budget"
    ] == ("1 of 4", "B")
    frame = budget_frames.verdict_frame(curves).set_index("Method")
    assert (
        list(frame.index) == ["C", "D", "E", "B", "A"]
        and frame.loc["A", "Mean distance (points)"] == "3.0"
    )
    assert (
        frame.loc["D"].tolist()[:3] == ["forgot", "–", "forgot"]
        and frame.loc["E", "20 samples"] == "forgot (diverged)"
    )


def test_a_method_whose_run_diverged_does_not_compete(home):
    put(home)
    with open_store(home) as store:
        spec = make_spec_row(method="ssd", training_seed=0, scenario_parameters=MANY)
        store.put_result(
            make_result(
                spec,
                metrics={"fa": 0.1, "ta": 0.1},
                gaps={"fa": -0.4, "ta": -0.8},
                forget_count=48,
                status="diverged",
            )
        )
    curves = found(home)
    assert not next(line for line in curves.lines if line.method == "ssd").sound
    assert "SSD" not in {answer.value for answer in budget_frames.answers(curves)}


def test_one_budget_has_no_range_to_speak_of(home):
    put(home, [0.2])
    assert budget_frames.answers(found(home)) == ()


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


def test_info_in_both_views(home):
    put(home)
    curves = found(home, ("ta", "fa", "rte"))
    info = budget_curves.budget_curves_info(curves, view="gap")
    panels = {panel.metric: panel for panel in info.panels}
    fa = {series.method: series for series in panels["fa"].series}
    assert [(mark.x, mark.y) for mark in fa["ssd"].marks] == [
        (12, pytest.approx(15.0)),
        (24, 0.0),
        (48, pytest.approx(-20.0)),
    ]
    assert [mark.y for mark in fa["retrain"].marks] == [0.0, 0.0, 0.0]
    assert [mark.y for mark in fa["original"].marks] == pytest.approx([50.0, 50.0, 50.0])
    assert panels["fa"].y == (pytest.approx(-20 - 0.08 * 70), pytest.approx(50 + 0.08 * 70))
    # ten points around Retrain: SSD at 24 and SCRUB; SSD at 12 and 48, SalUn and the original are
    # farther away
    assert panels["fa"].near == (pytest.approx(-0.08 * 6), pytest.approx(6 + 0.08 * 6))
    assert set(panels["fa"].outside) == {"Original", "SSD", "SalUn"}
    assert budget_curves.draw(info, dark=False, zoom=True).layout.yaxis2.range == panels["fa"].near
    assert panels["rte"].view == "value"  # it has no gap to Retrain
    assert not info.log
    values = {
        panel.metric: panel
        for panel in budget_curves.budget_curves_info(curves, view="value").panels
    }
    assert [
        mark.y for mark in {s.method: s for s in values["ta"].series}["ssd"].marks
    ] == pytest.approx([88.0] * 3)


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


def test_launch_query_repeats_settings_and_seeds(home):
    plain = make_spec_row(method="scrub", unlearning_seed=3, evaluation_seed=1)
    changed = make_spec_row(method="duck", unlearning_seed=3, parameters={"lr": 0.25})
    searched = plain.model_copy(update={"method_preset": "tuned"})
    noisy = changed.model_copy(update={"noise": 0.5})
    with open_store(home) as store:
        for spec in (plain, changed, make_spec_row(method="retrain"), noisy):
            store.put_result(make_result(spec))
        runs = store.summaries()
    query = budget_frames.launch_query(runs, ())
    assert (query["unlearning_seeds"], query["evaluation_seeds"]) == ("3", "0,1")
    own = {"settings": "own", "duck.lr": "0.25"}
    assert {name: query[name] for name in query if name in own or "duck." in name} == own
    assert not any(name.startswith("scrub.") for name in query)
    assert "settings" not in budget_frames.launch_query(runs[runs["method"] == "scrub"], ())
    both = pd.concat([runs[runs["method"] != "duck"], in_store(home / "other", searched)])
    assert budget_frames.launch_query(both, ())["settings"] == "tuned"
    assert "one_of" not in query


def test_launch_query_carries_one_of_several_settings_and_names_its_method(home):
    """The tuned one, or else that of most runs; methods with one setting keep theirs."""
    many = make_spec_row(method="duck", parameters={"lr": 0.25})
    others = [
        make_spec_row(method="duck", parameters={"lr": 0.5}),
        many.model_copy(update={"training_seed": 1}),
        make_spec_row(method="scrub", parameters={"lr": 0.125}),
    ]
    query = budget_frames.launch_query(in_store(home, many, *others), ())
    assert {name: query[name] for name in ("settings", "duck.lr", "scrub.lr", "one_of")} == {
        "settings": "own",
        "duck.lr": "0.25",
        "scrub.lr": "0.125",
        "one_of": ["duck"],
    }
    searched = others[0].model_copy(update={"method_preset": "tuned"})
    query = budget_frames.launch_query(in_store(home / "own", many, *others[1:], searched), ())
    assert (query["duck.lr"], query["one_of"]) == ("0.5", ["duck"])
    plain = make_spec_row(method="duck")
    query = budget_frames.launch_query(in_store(home / "presets", plain, searched), ())
    assert (query["settings"], query["one_of"]) == ("tuned", ["duck"])
    at = open_page("launch", **query)
    assert any("DUCK" in one.value and "several" in one.value for one in at.caption)
    assert not any("several" in one.value for one in open_page("launch", methods="duck").caption)


def in_store(home: Path, *specs: RunSpec) -> pd.DataFrame:
    with open_store(home) as store:
        for spec in specs:
            store.put_result(make_result(spec))
        return store.summaries()


def test_launch_query_of_a_readers_own_data():
    line = {
        "dataset": "npz:/data/mine.npz",
        "model": "mlp",
        "method": "finetune",
        "method_preset": "authors",
        "parameters": "{}",
        "training_seed": 0,
        "unlearning_seed": 0,
        "evaluation_seed": 0,
        "scenario": "class_fraction",
    }
    recipe = {"epochs": 2, "batch_size": 64, "lr": 0.1}
    line |= {
        "scenario_parameters": '{"class_id": 0, "fraction": 0.1, "seed": 4}',
        "recipe": json.dumps(recipe),
    }
    query = budget_frames.launch_query(pd.DataFrame([line]), (0.05,))
    assert (query["dataset"], query["path"]) == ("npz", "/data/mine.npz")
    assert (
        query["class_fraction.seed"] == "4"
        and "class_fraction.budget" not in query
        and "class_fraction.class_id" not in query
    )


# --- page
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("amount", ["one", "full"])
def test_one_budget_says_so_and_leads_to_launch(home, amount):
    if amount == "full":
        full_store(home, scenarios=("one_class",)).close()
    else:
        with open_store(home) as store:
            store.put_result(make_result())
    at = opened()
    assert not at.exception and not at.error
    assert lines_with(at, "one budget", "100 samples")
    assert launch_link(at)["one_class.budget"] == ["0.02,0.05,0.1,0.2"]
    assert (
        all(trace["type"] == "scatter" for trace in figures(at)[0]["data"])
        and len(at.get("plotly_chart")) == 1
    )


def test_the_link_fills_launch(home, monkeypatch):
    monkeypatch.setattr(queue_data, "ensure_workers", lambda store, **options: [])
    put(home, [0.2])
    query = launch_link(opened())
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


def test_several_budgets_draw_curves_with_answers(home):
    put(home)
    at = opened()
    assert not at.exception and not at.error
    assert "3 budgets, 2 training seeds" in words_on(at)
    assert lines_with(at, "Left out", ": SalUn.")
    assert lines_with(at, "MUBox, Figure 3", "one budget alone")
    # 4 to 6 points short, with a margin of 3
    frame = at.dataframe[0].value.set_index("Method")
    assert frame.loc["SCRUB"].tolist()[:3] == ["too little?"] * 3
    (said,) = lines_with(at, "None of 2 methods")
    assert facts.numbers(said) == ["2"]
    names = [trace["name"] for trace in figures(at)[0]["data"]]
    assert names.count("SSD") == 2
    gaps = opened(view="gap", metric="rte")
    assert [trace["name"] for trace in figures(gaps)[0]["data"]].count("SSD") == 3
    assert lines_with(gaps, "without a gap", "value") and not lines_with(at, "without a gap")
    near = opened(zoom="near", view="gap")
    assert lines_with(near, "Outside", "FA: Original, SSD.")


# --- the papers' numbers
# --------------------------------------------------------------------------------------------------

SOURCE = "MUBox, Table 1"


def ghosts_in(at: AppTest) -> list[dict]:
    return [trace for trace in figures(at)[0]["data"] if trace.get("name") == SOURCE]


def test_printed_numbers_stand_at_their_share_and_only_for_methods_with_a_line(home):
    put(home)
    one = budget_curves.Ghost(
        method="ssd", x=24, values={"ta": 0.5, "fa": 0.4}, gaps={"fa": -0.1}, source=SOURCE
    )
    base = budget_curves.Ghost(
        method="retrain", x=24, values={"ta": 0.93}, gaps={"ta": 0.0}, source=SOURCE
    )
    absent = budget_curves.Ghost(method="fisher", x=24, values={"ta": 0.2}, gaps={}, source=SOURCE)
    info = budget_curves.budget_curves_info(found(home), view="value", ghosts=[one, base, absent])
    ta, fa = info.panels
    assert [(mark.title, mark.x, mark.y) for mark in ta.ghosts] == [
        ("SSD", 24, pytest.approx(50.0)),
        ("Retrain", 24, pytest.approx(93.0)),
    ]
    assert [mark.y for mark in fa.ghosts] == [pytest.approx(40.0)]
    assert ta.y[0] < 50.0  # the panel reaches down to it, though every run lies above
    gaps = budget_curves.budget_curves_info(found(home), view="gap", ghosts=[one, base, absent])
    assert [[mark.y for mark in panel.ghosts] for panel in gaps.panels] == [
        [],
        [pytest.approx(-10.0)],
    ]
    assert f"2 printed numbers ({SOURCE})" in budget_curves.alt_text(info)


@pytest.mark.slow
def test_the_papers_table_is_off_and_on(home):
    put(home)
    assert not ghosts_in(opened())
    at = opened(paper="1")
    assert not at.exception and not at.error
    assert len(ghosts_in(at)) == 2 and set(ghosts_in(at)[0]["x"]) == {24}  # 20 % of the class
    # SSD's and Retrain's TA, as printed
    assert {round(y, 2) for y in ghosts_in(at)[0]["y"]} >= {82.37, 93.03}
    assert "MUBox Table 1: CIFAR-10" in words_on(at) and "Another data set" in words_on(at)
    assert "SSD, MUBox, Table 1" in set(at.dataframe[1].value["Method"])


@pytest.mark.slow
def test_a_table_of_several_shares_gives_a_mark_at_each(demo_home):
    at = opened(scenario="class_fraction", paper="1")
    assert not at.exception
    (ta, fa) = [
        trace for trace in figures(at)[0]["data"] if trace["name"] == "Becker and Liebig, Table 1"
    ]
    assert len(set(ta["x"])) == len(set(fa["x"])) == 6
    assert lines_with(at, "Table 1", "10, 25, 50, 80, 100", "MLP")


def test_only_what_was_run_alike_makes_a_curve(home):
    put(home)
    with open_store(home) as store:
        extra = make_spec_row(method="ssd", training_seed=7, scenario_parameters={"budget": 0.2})
        store.put_result(make_result(extra, forget_count=24))
        every = store.summaries()
    kept, aside = budget_frames.alike(every)
    assert (
        aside == ("salun",)
        and set(kept["training_seed"]) == {0, 1}
        and set(kept["method"]) == {"original", "retrain", "ssd", "scrub"}
    )
    one_size = every[every["forget_count"] == 24]
    assert budget_frames.alike(one_size)[0] is one_size
    assert lines_with(opened(), "Left out", "1 training seed")


@pytest.mark.slow
def test_a_size_of_references_alone_is_none(home):
    put(home, [0.1, 0.2])
    with open_store(home) as store:
        for method in ("original", "retrain"):
            spec = make_spec_row(method=method, scenario_parameters={"budget": 0.4})
            store.put_result(make_result(spec, forget_count=48))
        every = store.summaries()
    kept, _ = budget_frames.alike(every)
    assert set(kept["forget_count"]) == {12, 24} and set(kept["training_seed"]) == {0, 1}


def show_tuned_and_authors(made: Path, monkeypatch: pytest.MonkeyPatch, *sizes: float) -> None:
    """A demo of SSD with the authors' settings at budgets 0.1 and 0.2, and with tuned ones at
    `sizes`.
    """
    put(made, [0.1, 0.2], seeds=[0])
    with open_store(made) as store:
        for budget in sizes:
            spec = make_spec_row(method="ssd", scenario_parameters={"budget": budget})
            changes = {"method_preset": "tuned", "parameters": {**spec.parameters, "alpha": 3.0}}
            spec = spec.model_copy(update=changes)
            store.put_result(
                make_result(spec, metrics={"fa": 0.7, "ta": 0.8}, forget_count=COUNTS[budget])
            )
        write_pack(store, made.parent / "pack")
    monkeypatch.setattr(data, "DEMO", made.parent / "pack")


def settings(at: AppTest) -> Any:
    (found,) = [each.value for each in at.segmented_control if each.label == "Settings"]
    return found


def sizes_drawn(at: AppTest) -> set[float]:
    """Where the marks of SSD stand."""
    traces = figures(at)[0]["data"]
    return {x for trace in traces if trace.get("name") == "SSD" for x in trace["x"]}


@pytest.mark.slow
def test_the_demo_opens_on_the_settings_that_have_curves(home, tmp_path, monkeypatch):
    show_tuned_and_authors(tmp_path / "made", monkeypatch, 0.2)
    at = opened()
    assert not at.exception and settings(at) == "authors" and sizes_drawn(at) == {12, 24}
    at = button(at, "Show the tuned").click().run()
    assert settings(at) == "tuned"
    assert len(sizes_drawn(at)) == 1 and lines_with(at, "one budget", "24 samples")
    at = button(at, "Show the authors'").click().run()
    assert settings(at) == "authors" and sizes_drawn(at) == {12, 24}


@pytest.mark.slow
def test_tuned_settings_asked_for_by_address_stay(home, tmp_path, monkeypatch):
    show_tuned_and_authors(tmp_path / "made", monkeypatch, 0.2)
    at = opened(settings="tuned")
    assert settings(at) == "tuned" and button(at, "Show the authors'")
    asked = opened(settings="authors")
    assert settings(asked) == "authors" and not [
        each for each in asked.button if each.label.startswith("Show the")
    ]


def test_other_scenario_parameters_are_not_mixed(home):
    put(home)
    put(home, [0.1], seeds=[0], class_id=5)
    at = opened()
    box = next(one for one in at.selectbox if one.label == "Forget set")
    assert box.options == ["class 0", "class 5"]
    assert "3 budgets, 2 training seeds" in words_on(at)
    other = box.select_index(1).run()
    assert "1 budget, 1 training seed" in words_on(other)


@pytest.mark.slow
def test_a_run_in_the_address_is_drawn_and_opened(home):
    put(home)
    key = make_spec_row(method="ssd", training_seed=0, scenario_parameters=FEW).key
    at = opened(run=key)
    assert not at.exception and any("SSD" in one.value for one in at.subheader)
    ssd = next(trace for trace in figures(at)[0]["data"] if trace["name"] == "SSD")
    assert ssd["line"]["width"] == 3 and ssd["customdata"][0][0] == key


@pytest.mark.slow
def test_a_click_opens_the_run(home, monkeypatch):
    put(home)
    key = make_spec_row(method="scrub", training_seed=0, scenario_parameters=SOME).key

    monkeypatch.setattr(
        "dashboard.widgets.figures.chart",
        lambda *args, **options: {"selection": {"points": [{"customdata": [key, "scrub"]}]}},
    )
    at = opened()
    assert not at.exception and at.query_params["run"] == key
    assert any("SCRUB" in one.value for one in at.subheader)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["one_class", "all_classes"])
def test_the_demo_has_the_papers_budgets(demo_home, scenario):
    at = opened(scenario=scenario)
    assert not at.exception and not at.error
    assert "4 budgets, 1 training seed" in words_on(at) and at.get("plotly_chart")
