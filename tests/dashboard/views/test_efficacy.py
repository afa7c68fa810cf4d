"""Efficacy of Attacks: findings and figures by hand, the tab on stores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import facts
import numpy as np
import pandas as pd
import pytest
from builders import make_result, make_spec_row
from pages import figures, open_page

from dashboard.charts import efficacy_membership, efficacy_strips
from dashboard.charts.parts.strips import RIDGE
from dashboard.frames import efficacy as ef
from dashboard.frames import efficacy_paper
from mucore.metrics.membership import ATTACKS
from mucore.store import open_store
from mucore.store.rows import Measured
from mucore.verdicts import Judged, Verdict

opened = partial(open_page, "efficacy")
ENSEMBLE = "Efficacy is about one set of weights, but the model is an ensemble."


# Powers of ten on two forget sets, seed 0; seed 1 is half a power higher everywhere.
POWERS = {"original": (1.0, 2.0), "retrain": (-1.0, 0.5), "fisher": (0.8, 1.8), "scrub": (0.9, 2.1)}


def fill(home: Path) -> None:
    store = open_store(home)
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
    store.close()


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


def frame_of(*lines: Mapping) -> pd.DataFrame:
    """Each line forgot, but Retrain's."""
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
            verdict=Verdict(word="forgot", metric="", sentence="", shown=True),
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


def found(frame: pd.DataFrame, column: str = "probability") -> dict[str, tuple]:
    """By finding: its number, rounded, over how many runs, and whether it holds."""
    return {
        each.paper: (
            each.value if each.value is None else round(each.value, 2),
            each.runs,
            each.holds,
        )
        for each in efficacy_paper.findings(frame, column)
    }


RISES, LOWERS = "Training raises efficacy", "Forgetting lowers efficacy"
ORDER, TENFOLD = "The bound keeps the order", "The bound is ten times higher"
RETRAIN = "Less membership where less exposed: Retrain"
FISHER, AMNESIAC = "Fisher forgetting keeps accuracy", "Amnesiac destroys accuracy"


def test_findings_say_what_these_runs_show(small):
    each = found(small.assign(probability=np.nan))
    assert each[LOWERS] == (-2.0, 2, True) and each[RISES] == (None, 0, None)
    assert each[RETRAIN][0] is None and each[RETRAIN][2] is None
    assert each[ORDER] == (1.0, 6, True) and each[TENFOLD] == (0.85, 6, True)
    assert each[FISHER] == (-0.5, 1, True) and each[AMNESIAC] == (-70.0, 1, True)


def test_findings_contradict_the_paper_where_the_runs_do():
    """Retrain's efficacy rises; the bound turns the order round; the mean probability falls as
    Retrain's efficacy rises, whatever share of its forget set is called seen.
    """
    lines = []
    for seed in range(4):
        lines.append(run("original", seed, efficacy=float(seed), efficacy_bound=9.0 - seed, ta=0.9))
        numbers = {"efficacy": seed + 1.0, "efficacy_bound": 8.0 - seed}
        lines.append(run("retrain", seed, **numbers, mia_entropy=0.4 - 0.1 * seed, ta=0.9))
    lines.append(run("amnesiac", 0, ta=0.89))
    frame = frame_of(*lines)
    each = found(frame.assign(probability=1 - frame["efficacy"] / 10))
    assert each[LOWERS] == (1.0, 4, False) and each[RETRAIN] == (-1.0, 4, False)
    assert each[ORDER][2] is False and each[AMNESIAC][2] is False
    assert each[FISHER] == (None, 0, None)
    assert found(frame, "seen_entropy")[RETRAIN] == (1.0, 4, True)


@pytest.mark.parametrize(
    ("above", "holds"), [(-0.5, False), (0.47, False), (1.0, True), (2.0, False)]
)
def test_a_bound_is_as_in_the_paper_only_where_it_lies_an_order_of_magnitude_higher(above, holds):
    lines = [
        run("retrain", seed, efficacy=float(seed), efficacy_bound=seed + above) for seed in range(4)
    ]
    frame = frame_of(*lines).assign(probability=np.nan)
    assert found(frame)[TENFOLD] == (above, 4, holds)


def test_correlation_needs_runs_that_vary():
    few, same = pd.Series([1.0, 2.0, 3.0]), pd.Series([1.0] * 5)
    assert ef.correlation(few, few) is None
    assert ef.correlation(same, pd.Series(range(5))) is None
    assert ef.correlation(pd.Series([1, 2, 3, np.nan, 4.0]), pd.Series([4, 3, 2, 9, 1.0])) == (
        pytest.approx(-1.0),
        4,
    )


def test_the_answer_is_the_median_pair_of_retrain_and_original(small):
    assert facts.numbers(ef.sentence(small)) == ["2.0"]
    same = frame_of(run("original", efficacy=1.0), run("retrain", efficacy=1.5))
    assert facts.numbers(ef.sentence(same)) == []
    assert ef.sentence(frame_of(run("retrain", efficacy=1.5))) == ""


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


def test_strips_stand_by_method_and_forget_set():
    frame = frame_of(
        run("original", budget=0.1, efficacy=1.0),
        run("original", budget=0.4, efficacy=1.0, efficacy_untrained=0.0),
        run("retrain", budget=0.4, efficacy=0.5),
        run("retrain", 1, budget=0.4, efficacy=0.5),
    )
    sets = ef.sets(frame)
    known = {"original-0-0.1": 0.9, "original-0-0.4": 0.8, "retrain-0-0.4": 0.3}
    frame["probability"] = frame["key"].map(known).where(frame["method"] != ef.UNTRAINED)
    info = strips_info(frame, ["probability"], sets)
    assert [(panel.line.title, panel.runs) for panel in info.panels] == [
        ("Original", ((("original-0-0.1", 0.9, 0), ("original-0-0.4", 0.8, 1)),)),
        ("Retrain", ((("retrain-0-0.4", 0.3, 1),),)),
    ]
    assert info.span[0] < 0.3 < 0.9 < info.span[1] and not info.dense
    figure = efficacy_strips.draw(info, title="", power=False, dark=False, selected="retrain-0-0.4")
    assert [shape.x0 for shape in figure.layout.shapes] == [0.5, 0.5] and not any(
        trace.mode == "lines" for trace in figure.data
    )
    assert [len(trace.x) for trace in figure.data] == [2, 1, 1]  # the last is the ring
    both = strips_info(frame, ef.METRICS, sets)
    assert [panel.line.title for panel in both.panels] == ["Before training", "Original", "Retrain"]
    assert all(not panel.runs[1] for panel in both.panels)  # no bound was measured
    # of two Retrains alike the band has no width
    assert both.noise == {1: (0.5, 0.5)}


def strips_info(
    frame: pd.DataFrame, columns: Sequence[str], sets: list[str]
) -> efficacy_strips.EfficacyStripsInfo:
    return efficacy_strips.efficacy_strips_info(
        frame, columns, sets=sets, labels=ef.set_labels(sets)
    )


def test_a_density_stands_where_there_are_eight_seeds():
    frame = frame_of(*(run("retrain", seed, efficacy=0.1 * seed) for seed in range(8)))
    info = strips_info(frame, ["efficacy"], ef.sets(frame))
    assert info.dense
    figure = efficacy_strips.draw(info, title="", power=True, dark=False)
    (ridge,) = [trace for trace in figure.data if trace.mode == "lines"]
    assert max(ridge.y) == pytest.approx(RIDGE) and min(ridge.x) < 0.35 < max(ridge.x)


# --- the page
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_measured_runs_show_three_figures_in_both_shapes(home):
    fill(home)
    at = opened()
    assert len(figures(at)) == 6
    assert "20\u202f%" in figures(at)[2]["layout"]["yaxis"]["ticktext"]
    # Retrain at 20 %, mean of two seeds
    noise, line = figures(at)[0]["layout"]["shapes"]
    assert line["x0"] == -0.75
    # half a power apart: of the two differences the 97.5th percentile is 0.475
    assert (noise["x0"], noise["x1"]) == pytest.approx((-0.75 - 0.475, -0.75 + 0.475))
    names = figures(at)[0]["layout"]["yaxis"]["ticktext"]
    assert names[0] == "Original" and "Retrain" in names[-1] and "SISA" not in names
