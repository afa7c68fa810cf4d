"""Accuracy of each class less Retrain's."""

from __future__ import annotations

import pytest
from builders import make_result

from dashboard.charts import class_gaps


def test_class_gaps_of_another_split():
    counts = {"retrain": [[8, 2], [0, 10]], "salun": [[4, 6], [0, 10]]}
    results = {
        name: make_result(method=name, confusion={"forget": c, "test": c[::-1]})
        for name, c in counts.items()
    }
    info = class_gaps.class_gaps_info(
        [("SalUn", [results["salun"]])], [results["retrain"]], ["a", "b"], split="forget"
    )
    assert (
        info.rows == (("SalUn", (pytest.approx(-40.0), pytest.approx(0.0))),)
        and info.split == "forget"
    )
    assert "forget accuracy" in class_gaps.draw(info, dark=False).layout.xaxis.title.text
    assert "forget accuracy" in class_gaps.alt_text(info)


def test_class_gaps_are_means_over_seeds_of_the_same_seeds_retrain():
    def run(method: str, seed: int, first: int):
        return make_result(
            method=method, training_seed=seed, confusion={"test": [[first, 10 - first], [5, 5]]}
        )

    retrains = [run("retrain", 0, 10), run("retrain", 1, 5)]
    info = class_gaps.class_gaps_info(
        [("A", [run("finetune", 0, 9), run("finetune", 1, 7)]), ("B", [run("salun", 7, 1)])],
        retrains,
    )
    # seed 0: 90 - 100 = -10, seed 1: 70 - 50 = +20
    assert info.rows == (("A", (pytest.approx(5.0), pytest.approx(0.0))),)
    assert (
        info.missing == ("B",)
        and info.limit == class_gaps.SMALLEST_LIMIT
        and info.classes == ("0", "1")
    )
    figure = class_gaps.draw(info, dark=True)
    assert figure.data[0]["y"][-1] == "A" and figure.data[0]["text"][-1] == ["+5.0", "0.0"]
    assert "Highest: A, 0, +5.0" in class_gaps.alt_text(info)
