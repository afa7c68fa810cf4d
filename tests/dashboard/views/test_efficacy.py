"""The Efficacy page: findings and figures by hand, the page on an empty, a small and a full
store.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from builders import full_store, make_outputs, make_result, make_spec_row
from pages import figures, lines_with, links, open_page, words_on

from dashboard.charts import efficacy_membership, efficacy_probability, efficacy_rank
from dashboard.frames import efficacy as ef
from dashboard.frames import efficacy_paper
from dashboard.text import verdicts
from mucore.metrics.membership import ATTACKS
from mucore.store import open_store
from mucore.store.rows import Measured
from mucore.verdicts import Judged, Verdict, Word

opened = partial(open_page, "efficacy")
ENSEMBLE = "Efficacy is about one set of weights, but the model is an ensemble."


# Powers of ten on two forget sets, seed 0; seed 1 is half a power higher everywhere.
POWERS = {"original": (1.0, 2.0), "retrain": (-1.0, 0.5), "fisher": (0.8, 1.8), "scrub": (0.9, 2.1)}


def fill(home: Path, amount: str) -> None:
    store = open_store(home)
    if amount == "one":
        store.put_result(
            make_result(
                method="scrub",
                metrics={"efficacy": 0.5, "efficacy_bound": 1.5, "mia_confidence": 0.25, "ta": 0.9},
            )
        )
    if amount == "measured":
        for seed in (0, 1):
            for place, budget in enumerate((0.2, 0.05)):
                for method, powers in POWERS.items():
                    value = powers[place] + 0.5 * seed
                    numbers: dict[str, float | None | Measured] = {
                        "efficacy": value,
                        "efficacy_bound": value + 1,
                        "ta": 0.9,
                        "ra": 1.0,
                        "fa": 0.5,
                    }
                    numbers |= {f"mia_{attack}": 0.5 - 0.1 * value for attack in ATTACKS}
                    spec = make_spec_row(
                        method=method, scenario_parameters={"budget": budget}, training_seed=seed
                    )
                    store.put_result(
                        make_result(spec, metrics=numbers, forget_count=int(1000 * budget))
                    )
            broken: dict[str, float | None | Measured] = {
                "efficacy": Measured(None, error=ENSEMBLE),
                "ta": 0.9,
            }
            store.put_result(
                make_result(
                    make_spec_row(
                        method="sisa", scenario_parameters={"budget": 0.2}, training_seed=seed
                    ),
                    metrics=broken,
                )
            )
    if amount == "ensemble":
        store.put_result(
            make_result(
                method="sisa", metrics={"efficacy": Measured(None, error=ENSEMBLE), "ta": 0.9}
            )
        )
    store.close()
    if amount == "full":
        full_store(home).close()


# --- numbers by hand
# --------------------------------------------------------------------------------------------------


def run(method: str, seed: int = 0, *, budget: float = 0.2, **numbers: float) -> Mapping:
    key = f"{method}-{seed}-{budget}"
    return {
        "key": key,
        "method": method,
        "seed": seed,
        "set": json.dumps({"budget": budget}),
        "count": int(1000 * budget),
        "numbers": numbers,
    }


def frame_of(*lines: Mapping, words: Mapping[str, Word] | None = None) -> pd.DataFrame:
    """`words` by method; "forgot" for the others, nothing for Retrain."""
    runs = pd.DataFrame(
        {
            "key": line["key"],
            "method": line["method"],
            "method_preset": "authors",
            "parameters": "{}",
            "scenario_parameters": line["set"],
            "training_seed": line["seed"],
            "forget_count": line["count"],
            "status": "ok",
        }
        for line in lines
    )
    values = pd.DataFrame(
        [
            (line["key"], metric, value)
            for line in lines
            for metric, value in line["numbers"].items()
        ],
        columns=["key", "metric", "value"],
    )
    judged = {
        key: Judged(
            setting=("", "", "", "", ""),
            method=method,
            parameters="{}",
            keys=(key,),
            verdict=Verdict(
                word=(words or {}).get(method, "forgot"), metric="", sentence="", shown=True
            ),
            distances={},
        )
        for key, method in zip(runs["key"], runs["method"], strict=True)
        if method != "retrain"
    }
    return ef.run_frame(runs, values, judged)


@pytest.fixture
def small() -> pd.DataFrame:
    return frame_of(
        run("original", efficacy=1.0, efficacy_bound=2.0, mia_confidence=0.1, ta=0.90),
        run("retrain", efficacy=-1.0, efficacy_bound=0.0, mia_confidence=0.4, ta=0.88),
        run("fisher", efficacy=0.5, efficacy_bound=1.4, mia_confidence=0.2, ta=0.895),
        run("amnesiac", efficacy=-3.0, efficacy_bound=-2.5, mia_confidence=1.0, ta=0.20),
        run("sisa", ta=0.8),
        run("original", 1, efficacy=1.4, efficacy_bound=2.1, mia_confidence=0.1, ta=0.90),
        run("retrain", 1, efficacy=-0.6, efficacy_bound=0.2, mia_confidence=0.3, ta=0.88),
    )


def test_run_frame_turns_efficacy_of_an_attack_into_what_it_calls_seen(small):
    fisher = small[small["method"] == "fisher"].iloc[0]
    assert fisher["seen_confidence"] == pytest.approx(0.8) and np.isnan(fisher["seen_prob"])
    assert fisher["title"] == "Fisher forgetting" and fisher["family"] == "influence"
    assert np.isnan(small[small["method"] == "sisa"].iloc[0]["efficacy"])


def test_findings_say_what_these_runs_show(small):
    lowered, direction, ordering, accuracies = efficacy_paper.findings(
        small.assign(probability=np.nan), attack="confidence"
    )
    assert lowered.holds is None, "whether training raised it is not among these runs"
    assert "in 2 of 2 pairs" in lowered.sentence and "−2.0 powers of ten" in lowered.sentence
    assert direction.holds is None and "No method has 4 runs" in direction.sentence
    assert (
        ordering.holds is True
        and "6 runs" in ordering.sentence
        and "+1.0," in ordering.sentence
        and "0.85" in ordering.sentence
    )
    assert accuracies.holds is True  # Fisher −0.5 points, Amnesiac −70
    assert "−0.5 points" in accuracies.sentence and "−70.0 points" in accuracies.sentence


def test_findings_contradict_the_paper_where_the_runs_do():
    """Retrain's efficacy rises; the bound turns the order round; the mean probability falls as
    Retrain's efficacy rises, whatever share of its forget set is called seen.
    """
    lines = []
    for seed in range(4):
        lines.append(run("original", seed, efficacy=float(seed), efficacy_bound=9.0 - seed, ta=0.9))
        lines.append(
            run(
                "retrain",
                seed,
                efficacy=seed + 1.0,
                efficacy_bound=8.0 - seed,
                mia_entropy=0.4 - 0.1 * seed,
                ta=0.9,
            )
        )
    lines.append(run("amnesiac", 0, ta=0.89))
    frame = frame_of(*lines)
    lowered, direction, ordering, accuracies = efficacy_paper.findings(
        frame.assign(probability=1 - frame["efficacy"] / 10), attack="entropy"
    )
    assert lowered.holds is False and "0 of 4 pairs" in lowered.sentence
    assert (
        direction.holds is False
        and "Retrain −1.0 over 4 runs" in direction.sentence
        and "0 of 1 methods" in direction.sentence
    )
    assert ordering.holds is False
    assert accuracies.holds is False and "no Fisher" in accuracies.sentence


@pytest.mark.parametrize(
    ("above", "holds"), [(-0.5, False), (0.47, False), (1.0, True), (2.0, False)]
)
def test_a_bound_is_as_in_the_paper_only_where_it_lies_an_order_of_magnitude_higher(above, holds):
    lines = [
        run("retrain", seed, efficacy=float(seed), efficacy_bound=seed + above) for seed in range(4)
    ]
    found = frame_of(*lines).assign(probability=np.nan)
    ordering = efficacy_paper.findings(found, attack="prob")[2]
    assert (
        ordering.holds is holds
        and str(abs(above)) in ordering.sentence
        and ("lower" in ordering.sentence) == (above < 0)
    )


def test_correlation_needs_runs_that_vary():
    few, same = pd.Series([1.0, 2.0, 3.0]), pd.Series([1.0] * 5)
    assert ef.correlation(few, few) is None
    assert ef.correlation(same, pd.Series(range(5))) is None
    assert ef.correlation(pd.Series([1, 2, 3, np.nan, 4.0]), pd.Series([4, 3, 2, 9, 1.0])) == (
        pytest.approx(-1.0),
        4,
    )


def test_a_damaged_model_or_one_that_did_nothing_is_grey():
    lines = [
        run("original", efficacy=1.0),
        run("retrain", efficacy=0.0),
        run("scrub", efficacy=0.1),
        run("ssd", efficacy=-0.2),
        run("fisher", efficacy=0.9),
    ]
    frame = frame_of(*lines, words={"scrub": "damaged", "ssd": "did nothing"})
    where = frame["set"].iloc[0]
    said = ef.sentence(frame, where, "20 %")
    assert re.search(r"Retrain\D+lower\D+1\D+1\D+1\.0\D", said)
    assert "damaged model" in said.rsplit(". ", 1)[-1]
    marks = {
        mark.title: (mark.grey, mark.said) for mark in efficacy_rank.efficacy_rank_info(frame).marks
    }
    assert (
        marks["SCRUB"] == (True, "damaged")
        and marks["Fisher forgetting"] == (False, "forgot")
        and marks["Retrain"] == (False, "")
    )
    none = frame_of(
        *lines, words={"scrub": "damaged", "ssd": "did nothing", "fisher": "nothing to forget"}
    )
    said = ef.sentence(none, where, "20 %")
    assert f"SCRUB {verdicts.VERBS['damaged']}" in said
    assert f"SSD {verdicts.VERBS['did nothing']}" in said
    assert f"Fisher forgetting {verdicts.VERBS['nothing to forget']}" in said


def test_the_printed_table_compares_runs_of_the_same_share_with_their_deviations():
    lines = []
    for share, fa in ((0.1, 0.9), (1.0, 0.1)):
        for seed, change in ((0, 0.0), (1, 0.02)):
            lines.append(
                {
                    **run("retrain", seed, budget=share, fa=fa + change),
                    "set": json.dumps({"class_id": 3, "fraction": share}),
                }
            )
            lines.append(
                {
                    **run("fisher", seed, budget=share, fa=fa + change),
                    "set": json.dumps({"class_id": 3, "fraction": share}),
                }
            )
    found = efficacy_paper.paper_frame(frame_of(*lines))
    grey = found[found["Paper's data"] == "CIFAR10"]
    assert len(grey) == 24 and len(found) == 24 + 14
    found = found.drop(grey.index).set_index(["Method", "Share of the class"])
    assert found.loc[("Retrain", "80 %"), "FA, paper"] == "57.0 ± 5.0"
    assert found.loc[("Fisher", "any"), "TA, paper"] == "87.0 ± 0.0"
    assert (
        found.loc[("Retrain", "10 %"), "FA, here"] == "91.0 ± 1.4"
        and found.loc[("Retrain", "100 %"), "FA, here"] == "11.0 ± 1.4"
    )
    assert (
        found.loc[("Retrain", "50 %"), "FA, here"],
        found.loc[("Retrain", "50 %"), "Runs here"],
    ) == ("–", 0)
    assert (
        found.loc[("Fisher", "any"), "FA, here"].startswith("51.0")
        and found.loc[("Fisher", "any"), "Runs here"] == 4
    )
    assert found.loc[("Retrain", "10 %"), "TA, here"] == "–"  # not measured


# --- figures
# --------------------------------------------------------------------------------------------------


def test_rank_is_over_the_seeds_that_all_share():
    frame = frame_of(
        run("original", 0, efficacy=1.0, efficacy_bound=1.5),
        run("retrain", 0, efficacy=0.5, efficacy_bound=1.0),
        run("retrain", 1, efficacy=9.0),
        run("scrub", 0, efficacy=-1.0),
        run("sisa", 0),
    )
    info = efficacy_rank.efficacy_rank_info(frame)
    assert [(mark.title, mark.mean, mark.half) for mark in info.marks] == [
        ("SCRUB", -1.0, None),
        ("Retrain", 0.5, None),
        ("Original", 1.0, None),
    ]
    assert (info.retrain, info.original, info.missing, info.seeds, info.shared) == (
        0.5,
        1.0,
        ("SISA",),
        (0,),
        True,
    )
    figure = efficacy_rank.draw(info, dark=False, selected="scrub-0-0.2")
    assert [(shape.x0, shape.line.dash) for shape in figure.layout.shapes] == [
        (0.5, "dash"),
        (1.0, "dot"),
    ]
    assert "log scale" in figure.layout.xaxis.title.text
    assert {"Bound", "Retrain", "Original"} <= {trace.name for trace in figure.data}
    apart = efficacy_rank.efficacy_rank_info(
        frame_of(run("scrub", 0, efficacy=1.0), run("ssd", 1, efficacy=2.0))
    )
    assert (apart.shared, apart.seeds) == (False, (0, 1)) and len(apart.marks) == 2
    assert efficacy_rank.alt_text(
        efficacy_rank.efficacy_rank_info(frame_of(run("sisa", 0)))
    ).endswith("none has a value.")


def test_rank_gives_the_interval_over_seeds():
    frame = frame_of(run("scrub", 0, efficacy=1.0), run("scrub", 1, efficacy=2.0))
    (mark,) = efficacy_rank.efficacy_rank_info(frame).marks
    assert mark.mean == 1.5 and mark.half == pytest.approx(
        12.7062 * np.std([1, 2], ddof=1) / np.sqrt(2), rel=1e-4
    )


def test_membership_panels_have_one_mark_a_run_on_log_and_logit_axes(small):
    sets = ef.sets(small)
    info = efficacy_membership.efficacy_membership_info(
        small, "seen_confidence", sets=sets, labels={sets[0]: "20 %"}
    )
    assert {panel.line.title for panel in info.panels} == {
        "Original",
        "Retrain",
        "Fisher forgetting",
        "Amnesiac",
    }
    assert len(info.marks) == 6 and info.missing == 1
    (fisher,) = next(panel for panel in info.panels if panel.line.method == "fisher").marks
    assert (fisher.x, fisher.label) == (0.5, "20 %, seed 0") and fisher.share == pytest.approx(0.8)
    assert fisher.y == pytest.approx(np.log(4))
    # none of 200 samples called seen
    (amnesiac,) = next(panel for panel in info.panels if panel.line.method == "amnesiac").marks
    assert amnesiac.share == 0.0 and amnesiac.y == pytest.approx(np.log(0.5 / 200.5))
    figure = efficacy_membership.draw(
        info, height="Share called seen", dark=False, selected=fisher.key
    )
    assert sum(len(trace.x) for trace in figure.data if trace.name) == 6
    nothing = efficacy_membership.efficacy_membership_info(small, "seen_prob", sets=sets, labels={})
    assert not nothing.marks and efficacy_membership.alt_text(nothing).endswith("no run has both.")
    efficacy_membership.draw(nothing, height="Share called seen", dark=True)


def test_probabilities_stand_by_method_and_forget_set():
    frame = frame_of(
        run("original", budget=0.1, efficacy=1.0),
        run("original", budget=0.4, efficacy=1.0, efficacy_untrained=0.0),
        run("retrain", budget=0.4, efficacy=0.5),
        run("retrain", 1, budget=0.4, efficacy=0.5),
    )
    sets = ef.sets(frame)
    known = {"original-0-0.1": 0.9, "original-0-0.4": 0.8, "retrain-0-0.4": 0.3}
    info = efficacy_probability.efficacy_probability_info(
        frame, known, sets=sets, labels=ef.set_labels(sets)
    )
    assert [(panel.line.title, panel.strips) for panel in info.panels] == [
        ("Original", {0: {"original-0-0.1": 0.9}, 1: {"original-0-0.4": 0.8}}),
        ("Retrain", {1: {"retrain-0-0.4": 0.3}}),
    ]
    assert (info.runs, info.missing, info.fullest) == (3, 1, 1) and info.span[
        0
    ] < 0.3 < 0.9 < info.span[1]
    figure = efficacy_probability.draw(info, dark=False, selected="retrain-0-0.4")
    assert [shape.x0 for shape in figure.layout.shapes] == [0.5, 0.5] and not any(
        trace.mode == "lines" for trace in figure.data
    )
    assert [len(trace.x) for trace in figure.data] == [2, 1, 1]  # the last is the ring
    assert re.search(
        r"Original\D+0\.80\D+0\.90\W+Retrain\D+0\.30\D+0\.30\D", efficacy_probability.alt_text(info)
    )
    nothing = efficacy_probability.efficacy_probability_info(
        frame, {}, sets=sets, labels=ef.set_labels(sets)
    )
    assert not nothing.panels and "no predictions were kept" in efficacy_probability.alt_text(
        nothing
    )


# --- the page
# --------------------------------------------------------------------------------------------------


def test_one_run_is_shown_and_nothing_is_claimed(home):
    fill(home, "one")
    at = opened()
    assert len(figures(at)) == 3
    assert words_on(at).count("Not settled here.") == 4


def test_measured_runs_show_three_figures_answers_and_findings(home):
    fill(home, "measured")
    at = opened()
    words = words_on(at)
    assert len(figures(at)) == 3
    assert (
        "in 4 of 4 pairs" in words and "order of 16 runs" in words and "Without a number" in words
    )
    assert "20\u202f%" in figures(at)[0]["layout"]["yaxis"]["ticktext"]
    # Retrain and Original at 20 %, mean of two seeds
    noise, *lines = figures(at)[1]["layout"]["shapes"]
    assert [shape["x0"] for shape in lines] == [-0.75, 1.25]
    # half a power apart: of the two differences the 97.5th percentile is 0.475
    assert (noise["x0"], noise["x1"]) == pytest.approx((-0.75 - 0.475, -0.75 + 0.475))
    assert "SISA" in words


def test_the_address_chooses_set_attack_and_the_papers_table(home):
    fill(home, "measured")
    at = opened(attack="prob", paper="1")
    assert at.segmented_control(key="url:attack").value == "prob"
    assert "Tables 1 and 2" in words_on(at) and any(
        "TA, paper" in frame.value.columns for frame in at.dataframe
    )
    other = at.selectbox(key="url:set").options[0]
    assert other == "5\u202f%"
    at.selectbox(key="url:set").select_index(0).run()
    lines = figures(at)[1]["layout"]["shapes"][1:]
    assert [shape["x0"] for shape in lines] == [0.75, 2.25]
    assert len(at.query_params["set"]) == 8


def keep_predictions(home: Path) -> list[str]:
    """Predictions of the measured runs of seed 0; gives their keys."""
    kept = []
    with open_store(home) as store:
        for number, result in enumerate(store.results()):
            if result.spec["training_seed"] == 0 and result.spec["method"] != "sisa":
                store.put_result(
                    replace(result, outputs=store.artifacts.put_outputs(make_outputs(seed=number)))
                )
                kept.append(result.key)
    return kept


def test_kept_predictions_show_their_mean_probability(home):
    fill(home, "measured")
    without = opened()
    assert lines_with(without, "predictions", "kept") and "Launch a comparison" in links(without)
    kept = keep_predictions(home)
    at = opened()
    assert not at.exception and not at.error
    shown = [point[0] for trace in figures(at)[2]["data"] for point in trace["customdata"]]
    assert sorted(shown) == sorted(kept) and "10 runs without" in words_on(at)
    # a panel a method; three runs are too few for a line
    assert len(figures(opened(height="probability"))[3]["data"]) == 4
    table = next(frame.value for frame in at.dataframe if "Mean probability" in frame.value)
    assert table["Mean probability"].between(0, 1).all() and len(table) == len(kept)


def test_a_damaged_file_of_predictions_counts_as_missing(home):
    fill(home, "measured")
    kept = keep_predictions(home)
    with open_store(home) as store:
        result = store.get_result(kept[0])
        assert result is not None and result.outputs is not None
        store.artifacts.place.local(result.outputs).write_bytes(b"no parquet")
    at = opened()
    assert not at.exception and not at.error
    assert kept[0] not in [
        point[0] for trace in figures(at)[2]["data"] for point in trace["customdata"]
    ]


def test_it_opens_on_fractions_of_a_class_where_there_are_any(home):
    """The paper's scenario and the data that have it, though most methods ran elsewhere; the
    address still decides.
    """
    fill(home, "measured")
    with open_store(home) as store:
        spec = make_spec_row(
            dataset="faces",
            scenario="class_fraction",
            scenario_parameters={"class_id": 3, "fraction": 0.5},
        )
        store.put_result(make_result(spec, metrics={"efficacy": 0.5}))
    assert opened().selectbox(key="url:scenario").value == "class_fraction"
    assert opened(dataset="digits").selectbox(key="url:scenario").value == "one_class"


@pytest.mark.parametrize("figure", ["efficacy_spread", "efficacy_rank", "efficacy_membership"])
def test_a_click_opens_the_run(home, figure):
    fill(home, "measured")
    store = open_store(home)
    key = str(store.summaries(method="scrub")["key"].iloc[0])
    store.close()
    at = opened()
    point = {"customdata": [key, "", ""]}
    at.session_state[figure] = {
        "selection": {"points": [point], "point_indices": [0], "box": [], "lasso": []}
    }
    at.run()
    assert at.query_params["run"] == key
    assert "python -m mucore run" in "\n".join(one.value for one in at.code)
