"""Efficacy of Attacks: figures by value, the tab on stores."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import facts
import pandas as pd
import pytest
from builders import make_result, make_spec_row
from gap_tables import line
from pages import figures, open_page

from dashboard.frames import Row, attacks
from dashboard.frames import efficacy as ef
from mucore.metrics.mia import ATTACKS
from mucore.store import open_store
from mucore.store.records import Measured

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


def rows() -> list[Row]:
    """Original, two methods and Retrain on one forget set, two seeds."""
    runs, values = [], []
    for method, power in {"original": 1.0, "retrain": -1.0, "fisher": 0.8, "sisa": None}.items():
        for seed in (0, 1):
            runs.append(line(method, seed))
            key = runs[-1]["key"]
            if power is not None:
                values.append((key, "efficacy", power + 0.5 * seed))
                values.append((key, "mia_entropy", 0.5 - 0.1 * power))
    table = pd.DataFrame(values, columns=["key", "metric", "value"]).assign(gap=None, error=None)
    return attacks.rows(pd.DataFrame(runs), table, ef.METRICS, {})


def test_methods_stand_between_the_references():
    found = rows()
    assert [row.method for row in found] == ["original", "sisa", "fisher", "retrain"]
    assert attacks.first(found) == found


def test_the_answer_is_the_difference_of_the_means_of_retrain_and_original():
    assert facts.numbers(ef.sentence(rows())) == ["2.0"]
    assert ef.sentence(rows()[:-1]) == ""


# --- the page
# --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_measured_runs_show_dots_in_both_shapes_and_the_scatter(home):
    fill(home)
    at = opened()
    assert len(figures(at)) == 3
    # Retrain at 20 %, mean of two seeds
    noise, line = figures(at)[0]["layout"]["shapes"]
    assert line["x0"] == -0.75
    # half a power apart: of the two differences the 97.5th percentile is 0.475
    assert (noise["x0"], noise["x1"]) == pytest.approx((-0.75 - 0.475, -0.75 + 0.475))
    names = figures(at)[0]["layout"]["yaxis"]["ticktext"]
    assert names[0] == "Original" and "Retrain" in names[-1] and "SISA" not in names
