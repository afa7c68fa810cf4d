"""The 95 % band of Retrains of other seeds, grey behind the marks of figures that have a
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

from mucore.metrics.mia import ATTACKS
from mucore.store import open_store
from mucore.store.records import Measured

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


def around(base: float, scale: float = 1.0) -> tuple[float, float]:
    return scale * (base + MEAN - HALF), scale * (base + MEAN + HALF)


def test_distance_against_cost(home):
    """The farthest two Retrains differ by 0.07 in each metric that decides."""
    put(home, "one_class", ONE_CLASS)
    ((box,),) = grey("results")
    assert box["y1"] == pytest.approx(math.log10(7.0))


def test_one_seed_has_no_grey(home):
    put(home, "one_class", ONE_CLASS, seeds=1)
    for page in ("results", "membership"):
        assert grey(page) == []


def test_depoisoning(home):
    put(home, "label_flip", FLIPPED)
    strips, stacked = grey("depoisoning")
    assert len(stacked) == len(strips) == len({shape["xref"] for shape in strips}) == 3
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
