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

from dashboard import theme
from dashboard.charts import (
    efficacy_membership,
    efficacy_probability,
    efficacy_rank,
    efficacy_spread,
)
from dashboard.charts.parts import strips
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
                word=(words or {}).get(method, "forgot"), metric="", sentence="", provisional=False
            ),
            distances=(),
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


def test_sets_stand_by_size_and_are_named_by_what_differs():
    frame = frame_of(
        run("scrub", budget=0.4, efficacy=1.0),
        run("scrub", budget=0.05, efficacy=1.0),
        run("scrub", budget=0.1),
    )
    names = ef.sets(frame)  # the middle one has no efficacy
    assert list(ef.set_labels(names).values()) == ["5\u202f%", "40\u202f%"]
    alike = ['{"budget": 0.1, "class_id": 0}', '{"budget": 0.1, "class_id": 3}']
    assert list(ef.set_labels(alike).values()) == ["class 0", "class 3"]
    shares = ['{"class_id": 3, "fraction": 0.1}', '{"class_id": 3, "fraction": 1.0}']
    assert list(ef.set_labels(shares).values()) == ["10\u202f%", "100\u202f%"]
    assert list(ef.set_labels(['{"class_ids": [0]}'], "fashion-mnist").values()) == [
        "class T-shirt/top"
    ]


def test_findings_say_what_these_runs_show(small):
    lowered, direction, ordering, accuracies = efficacy_paper.findings(small, attack="confidence")
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
    """Retrain's efficacy rises; the bound turns the order round; membership falls as Retrain's
    efficacy rises.
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
                mia_entropy=0.1 * seed,
                ta=0.9,
            )
        )
    lines.append(run("amnesiac", 0, ta=0.89))
    lowered, direction, ordering, accuracies = efficacy_paper.findings(
        frame_of(*lines), attack="entropy"
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
    ordering = efficacy_paper.findings(frame_of(*lines), attack="prob")[2]
    assert (
        ordering.holds is holds
        and str(abs(above)) in ordering.sentence
        and ("lower" in ordering.sentence) == (above < 0)
    )


@pytest.mark.parametrize(
    ("membership", "holds"),
    [
        ((0.4, 0.3, 0.2, 0.1, 0.0), True),
        ((0.0, 0.3, 0.1, 0.2, 0.05), None),
        ((0.0, 0.1, 0.2, 0.3, 0.4), False),
    ],
    ids=["reverse", "no direction", "together"],
)
def test_a_weak_correlation_is_no_direction(membership, holds):
    """What is called seen is 1 less the attack's; the paper finds Amnesiac's to fall as efficacy
    rises, Retrain's and Fisher's to rise.
    """
    lines = [
        run("amnesiac", seed, efficacy=float(seed), mia_entropy=1.0 - seen)
        for seed, seen in enumerate(membership)
    ]
    alone = efficacy_paper.findings(frame_of(*lines), attack="entropy")[1]
    assert alone.holds is (None if holds else holds), "the two others are missing"
    lines += [
        run(name, seed, efficacy=float(seed), mia_entropy=1 - 0.1 * seed)
        for name in ("retrain", "fisher")
        for seed in range(5)
    ]
    direction = efficacy_paper.findings(frame_of(*lines), attack="entropy")[1]
    assert direction.holds is holds
    open_part = "Appears for Retrain and Fisher forgetting, cannot be told for Amnesiac"
    assert direction.partly == (open_part if holds is None else "")
    weak = re.search(rf"Below {efficacy_paper.WEAK}\D+: Amnesiac\.", direction.sentence)
    assert (weak is not None) == (holds is None)


def test_before_training_stands_beside_the_original_and_counts_in_the_first_finding():
    lines = []
    for seed in range(2):
        lines.append(
            run("original", seed, efficacy=2.0, efficacy_untrained=-1.0, mia_confidence=0.1)
        )
        lines.append(run("retrain", seed, efficacy=1.0, mia_confidence=0.2))
    frame = frame_of(*lines)
    before = frame[frame["method"] == ef.UNTRAINED]
    assert list(before["efficacy"]) == [-1.0, -1.0] and set(before["title"]) == {"Before training"}
    lowered = efficacy_paper.findings(frame, attack="confidence")[0]
    assert lowered.holds is True
    assert re.search(r"raised\D+2 of 2\D+\+3\.0\D", lowered.sentence)
    rank = efficacy_rank.efficacy_rank_info(frame)
    assert [mark.title for mark in rank.marks] == [
        "Before training",
        "Retrain",
        "Original",
    ] and rank.original == 2.0
    assert (
        len(
            efficacy_membership.efficacy_membership_info(
                frame, "seen_confidence", sets=ef.sets(frame), labels={}
            ).marks
        )
        == 4
    )
    fallen = frame_of(
        run("original", efficacy=2.0, efficacy_untrained=3.0), run("retrain", efficacy=1.0)
    )
    assert efficacy_paper.findings(fallen, attack="prob")[0].holds is False, (
        "training lowered it: one half of the finding fails"
    )


def test_a_divided_vote_is_no_finding():
    lines = []
    for seed, change in enumerate((-1.0, 1.0)):
        lines += [run("original", seed, efficacy=0.0), run("retrain", seed, efficacy=change)]
    assert efficacy_paper.findings(frame_of(*lines), attack="prob")[0].holds is None


def test_correlation_needs_runs_that_vary():
    few, same = pd.Series([1.0, 2.0, 3.0]), pd.Series([1.0] * 5)
    assert ef.correlation(few, few) is None
    assert ef.correlation(same, pd.Series(range(5))) is None
    assert ef.correlation(pd.Series([1, 2, 3, np.nan, 4.0]), pd.Series([4, 3, 2, 9, 1.0])) == (
        pytest.approx(-1.0),
        4,
    )


def test_answers_pair_seeds_before_they_compare():
    """SCRUB ran on seed 1 only, 0.1 above the Retrain of that seed, though far from Retrain's mean
    over both seeds.
    """
    frame = frame_of(
        run("retrain", 0, efficacy=0.0),
        run("retrain", 1, efficacy=4.0),
        run("scrub", 1, efficacy=4.1),
        run("ssd", 0, efficacy=0.5),
        run("ssd", 1, efficacy=4.5),
        run("sisa", 0),
    )
    near, missing = ef.answers(frame, frame["set"].iloc[0])
    assert (near.value, near.detail) == ("SCRUB", "0.10 powers of ten away")
    assert (missing.label, missing.value) == ("Without a number", "1")


@pytest.mark.parametrize(("seeds", "counted"), [(1, "1 pair"), (2, "2 pairs")])
def test_the_change_of_retrain_counts_its_pairs(seeds, counted):
    lines = [
        run(name, seed, efficacy=1.0) for seed in range(seeds) for name in ("original", "retrain")
    ]
    frame = frame_of(*lines)
    assert ef.answers(frame, frame["set"].iloc[0])[0].detail.endswith(f" {counted}")


def test_a_damaged_model_or_one_that_did_nothing_is_not_nearest():
    lines = [
        run("original", efficacy=1.0),
        run("retrain", efficacy=0.0),
        run("scrub", efficacy=0.1),
        run("ssd", efficacy=-0.2),
        run("fisher", efficacy=0.9),
    ]
    frame = frame_of(*lines, words={"scrub": "damaged", "ssd": "did nothing"})
    where = frame["set"].iloc[0]
    assert ef.nearest(frame, where) == ("Fisher forgetting", pytest.approx(0.9))
    said = ef.sentence(frame, where, "20 %")
    assert re.search(r"Retrain\D+lower\D+1\D+1\D+1\.0\D", said)
    assert re.search(r"Fisher forgetting\D+nearest to Retrain\D+0\.90\D", said)
    assert "damaged model" in said.rsplit(". ", 1)[-1]
    marks = {
        mark.title: (mark.grey, mark.said) for mark in efficacy_rank.efficacy_rank_info(frame).marks
    }
    assert (
        marks["SCRUB"] == (True, "damaged")
        and marks["Fisher forgetting"] == (False, "forgot")
        and marks["Retrain"] == (False, "")
    )
    drawn = efficacy_rank.draw(efficacy_rank.efficacy_rank_info(frame), dark=False)
    trace = next(each for each in drawn.data if each.customdata is not None and "SCRUB" in each.y)
    assert (
        trace.marker.color[0] == theme.ground(False).muted
        and trace.customdata[0][2] == "<br>damaged"
    )
    none = frame_of(
        *lines, words={"scrub": "damaged", "ssd": "did nothing", "fisher": "nothing to forget"}
    )
    assert ef.nearest(none, where) is None
    assert {answer.label: answer.value for answer in ef.answers(none, where)}[
        "Efficacy nearest to Retrain's"
    ] == "None qualifies"
    said = ef.sentence(none, where, "20 %")
    assert f"SCRUB {verdicts.VERBS['damaged']}" in said
    assert f"SSD {verdicts.VERBS['did nothing']}" in said
    assert f"Fisher forgetting {verdicts.VERBS['nothing to forget']}" in said
    assert "nearest" not in said


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
    found = efficacy_paper.paper_frame(frame_of(*lines)).set_index(["Method", "Share of the class"])
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


def test_spread_shows_points_for_few_seeds_and_a_density_for_many():
    few = frame_of(
        run("retrain", 0, efficacy=1.0, efficacy_bound=2.0),
        run("original", 0, efficacy=2.0),
        run("sisa", 0),
    )
    sets = ef.sets(few)
    info = efficacy_spread.efficacy_spread_info(few, sets=sets, labels=ef.set_labels(sets))
    assert [panel.line.title for panel in info.panels] == [
        "Original",
        "Retrain",
    ] and info.seeds == 1
    assert info.panels[1].strips[0].efficacy == {"retrain-0-0.2": 1.0}
    assert info.panels[0].strips[0].bound == {}
    figure = efficacy_spread.draw(info, dark=False)
    assert all(trace.mode != "lines" for trace in figure.data)
    assert [trace.marker.symbol for trace in figure.data[:2]] == ["circle", "circle-open"]
    many = frame_of(
        *(
            run("retrain", seed, efficacy=0.1 * seed, efficacy_bound=1.0)
            for seed in range(strips.DENSE)
        )
    )
    dense = efficacy_spread.efficacy_spread_info(
        many, sets=ef.sets(many), labels=ef.set_labels(ef.sets(many))
    )
    lines = [
        trace for trace in efficacy_spread.draw(dense, dark=True).data if trace.mode == "lines"
    ]
    # the bound is the same for all seeds: no density of it
    assert len(lines) == 1 and lines[0].line.dash == "solid"
    assert max(lines[0].y) == pytest.approx(strips.RIDGE)
    assert "Retrain from 10^0.0 to 10^0.7" in efficacy_spread.alt_text(dense)


def test_spread_keeps_eight_panels_and_names_the_rest():
    methods = [
        "original",
        "retrain",
        "finetune",
        "scrub",
        "ssd",
        "salun",
        "fisher",
        "amnesiac",
        "duck",
        "scar",
    ]
    everywhere = [run("scar", budget=0.4, efficacy=1.0), run("duck", budget=0.4, efficacy=1.0)]
    frame = frame_of(*(run(method, efficacy=1.0) for method in methods), *everywhere)
    info = efficacy_spread.efficacy_spread_info(
        frame, sets=ef.sets(frame), labels=ef.set_labels(ef.sets(frame))
    )
    shown = [panel.line.method for panel in info.panels]
    assert len(shown) == strips.PANELS and {"original", "retrain", "scar", "duck"} <= set(shown)
    assert len(info.left_out) == 2 and shown[:2] == ["original", "retrain"]


@pytest.mark.parametrize(
    ("count", "rows", "columns"), [(1, 1, 1), (3, 1, 3), (5, 1, 5), (6, 2, 3), (7, 2, 4), (8, 2, 4)]
)
def test_panels_stand_in_even_rows_under_one_title(count, rows, columns):
    methods = ["original", "retrain", "finetune", "scrub", "ssd", "salun", "fisher", "amnesiac"][
        :count
    ]
    frame = frame_of(*(run(method, efficacy=1.0) for method in methods))
    info = efficacy_spread.efficacy_spread_info(
        frame, sets=ef.sets(frame), labels=ef.set_labels(ef.sets(frame))
    )
    figure = efficacy_spread.draw(info, dark=False)
    domains = [axis.domain for axis in figure.select_xaxes()]
    assert (len({axis.domain for axis in figure.select_yaxes()}), len(set(domains))) == (
        rows,
        columns,
    )
    assert [note.text for note in figure.layout.annotations].count(strips.AXIS) == 1
    assert not any(axis.title.text for axis in figure.select_xaxes())


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
    ring = next(trace for trace in figure.data if not trace.name)
    assert (ring.x[0], ring.y[0]) == (fisher.x, fisher.y)
    assert [note.text for note in figure.layout.annotations][-1] == strips.AXIS
    up = figure.layout.yaxis
    assert up.title.text.startswith("Share called seen, %") and "logit" in up.title.text
    assert "80" in up.ticktext
    nothing = efficacy_membership.efficacy_membership_info(small, "seen_prob", sets=sets, labels={})
    assert not nothing.marks and efficacy_membership.alt_text(nothing).endswith("no run has both.")
    efficacy_membership.draw(nothing, height="Share called seen", dark=True)


def test_a_short_logit_axis_has_finer_ticks():
    lines = [
        run("retrain", seed, efficacy=float(seed), mia_entropy=0.5 + 0.02 * seed)
        for seed in range(4)
    ]
    frame = frame_of(*lines)
    info = efficacy_membership.efficacy_membership_info(
        frame, "seen_entropy", sets=ef.sets(frame), labels={}
    )
    axis = efficacy_membership.draw(info, height="x", dark=False).layout.yaxis
    assert {"45", "50"} <= set(axis.ticktext) and len(axis.ticktext) >= 3


def test_a_membership_panel_says_its_direction_where_runs_are_enough():
    up = [
        run(
            "retrain",
            seed,
            budget=0.1 * (seed + 1),
            efficacy=float(seed),
            mia_entropy=0.9 - 0.1 * seed,
        )
        for seed in range(4)
    ]
    down = [
        run(
            "amnesiac",
            seed,
            budget=0.1 * (seed + 1),
            efficacy=float(seed),
            mia_entropy=0.1 + 0.1 * seed,
        )
        for seed in range(4)
    ]
    frame = frame_of(*up, *down, run("fisher", efficacy=1.0, mia_entropy=0.5))
    info = efficacy_membership.efficacy_membership_info(
        frame, "seen_entropy", sets=ef.sets(frame), labels=ef.set_labels(ef.sets(frame))
    )
    found = {panel.line.method: panel for panel in info.panels}
    assert found["retrain"].rho == pytest.approx(1.0) and found["amnesiac"].rho == pytest.approx(
        -1.0
    )
    assert found["fisher"].rho is None and found["fisher"].ends is None
    (x0, x1), (y0, y1) = found["amnesiac"].ends or ((0, 0), (0, 0))
    assert (x0, x1) == (0.0, 3.0) and y0 > y1
    sizes = [mark.size for mark in found["retrain"].marks]
    assert sizes == sorted(sizes) and (sizes[0], sizes[-1]) == efficacy_membership.SIZES
    titles = [
        note.text
        for note in efficacy_membership.draw(info, height="x", dark=False).layout.annotations
    ]
    assert (
        "Retrain: ρ +1.00" in titles
        and "Amnesiac: ρ −1.00" in titles
        and "Fisher forgetting" in titles
    )


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


def test_probabilities_of_many_seeds_have_a_density():
    frame = frame_of(*(run("retrain", seed, efficacy=1.0) for seed in range(strips.DENSE)))
    sets = ef.sets(frame)
    known = {key: 0.3 + 0.02 * place for place, key in enumerate(frame["key"])}
    info = efficacy_probability.efficacy_probability_info(
        frame, known, sets=sets, labels=ef.set_labels(sets)
    )
    figure = efficacy_probability.draw(info, dark=True)
    (curve,) = [trace for trace in figure.data if trace.mode == "lines"]
    assert max(curve.y) == pytest.approx(strips.RIDGE) and 0 <= min(curve.x) and max(curve.x) <= 1
    # the grey of Retrain against Retrain, then the line of a guess
    assert [(shape.x0, shape.x1) for shape in figure.layout.shapes] == [info.noise[0], (0.5, 0.5)]


# --- the page
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("amount", ["empty", "one", "full", "measured", "ensemble"])
def test_page_opens(home, amount):
    fill(home, amount)
    at = opened()
    assert not at.exception and not at.error
    assert at.title[0].value.endswith("?")


def test_results_without_efficacy_say_why_and_what_to_do(home):
    fill(home, "full")
    old = opened()
    assert "made before efficacy was measured" in words_on(old) and not figures(old)


def test_an_ensemble_alone_says_that_it_is_one(home):
    fill(home, "ensemble")
    at = opened()
    assert "the model is an ensemble" in words_on(at) and not figures(at)


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
    assert "Table 1" in words_on(at) and any(
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


def test_a_foreign_address_falls_back(home):
    fill(home, "measured")
    at = opened(set="x", attack="y", run="z", scenario="none", paper="9", comparison="77")
    assert not at.exception and not at.error and len(figures(at)) == 3


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


def test_the_demo_opens(demo_home):
    at = opened()
    assert not at.exception and not at.error
    assert lines_with(at, "**Results**: demo")


@pytest.mark.parametrize("word", ["forgot", "damaged"])
def test_every_figure_tells_the_verdict_on_hover(word):
    frame = frame_of(
        run("retrain", efficacy=-1.0, mia_confidence=0.4),
        run("fisher", efficacy=0.5, mia_confidence=0.2),
        words={"fisher": word},
    )
    sets, key = ef.sets(frame), "fisher-0-0.2"
    labels = ef.set_labels(sets)
    scatter = efficacy_membership.efficacy_membership_info(
        frame, "seen_confidence", sets=sets, labels=labels
    )
    drawn = [
        efficacy_spread.draw(
            efficacy_spread.efficacy_spread_info(frame, sets=sets, labels=labels), dark=False
        ),
        efficacy_probability.draw(
            efficacy_probability.efficacy_probability_info(
                frame, {key: 0.5}, sets=sets, labels=labels
            ),
            dark=False,
        ),
        efficacy_membership.draw(scatter, height="", dark=False),
    ]
    for figure in drawn:
        said = {
            str(line[0]): str(line[-1])
            for trace in figure.data
            if trace.customdata is not None
            for line in trace.customdata
        }
        assert said[key] == f"<br>{word}" and said.get("retrain-0-0.2", "") == ""
        marks = [
            trace for trace in figure.data if trace.customdata is not None and len(trace.customdata)
        ]
        assert all(
            f"%{{customdata[{len(trace.customdata[0]) - 1}]}}" in trace.hovertemplate
            for trace in marks
        )
