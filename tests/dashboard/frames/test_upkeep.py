"""Costs over many requests, by hand: Retrain takes 100 seconds."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from dashboard.charts import amortised_cost
from dashboard.frames import Cell, Estimate, Row
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.tradeoffs.upkeep import each
from mucore import catalog
from mucore.verdicts import Verdict, Word


def row(method: str, *, word: Word | None = "forgot", cheats: bool = False, **values: Any) -> Row:
    said = None
    if word is not None:
        said = Verdict(word=word, metric="", sentence="", shown=True, cheats=cheats)
    card = catalog.method(method)
    cells = {
        name: Cell(value=None if value is None else Estimate(value, None, 1))
        for name, value in values.items()
    }
    return Row(
        id=method,
        method=method,
        title=card.title,
        family=card.family,
        preset="authors",
        parameters={},
        keys=(f"key-{method}",),
        training_seeds=(0,),
        unsound={},
        cells={name: cells.get(name, Cell()) for name in tradeoffs_frames.COSTS},
        verdict=said,
    )


REFERENCES = [
    row("retrain", word=None, unlearning_seconds=100.0, rte=1.0),
    row("original", word=None),
]
NOTHING: dict[str, Any] = {"prepared_seconds": 0.0, "prepared_for_request_seconds": 0.0}
COUNTED: dict[str, Any] = {"prepared_for_request_seconds": 0.0, "persistent_bytes": 2e6}


def costs(*rows: Row) -> tuple[pd.DataFrame, list[str]]:
    found, unknown = tradeoffs_frames.upkeep([*REFERENCES, *rows])
    return found, unknown


def test_preparation_is_shared_out_over_requests():
    found, _ = costs(row("l_codec", rte=0.2, prepared_seconds=400.0, **COUNTED))
    assert found.loc["L-CODEC", ["once", "request"]].tolist() == [4.0, 0.2]
    shared = each(found, [1, 10, 1000])["L-CODEC"]
    assert shared.tolist() == pytest.approx([4.2, 0.6, 0.204])
    # 4 + 0.2 n < n from n = 5 on is 5 = 5, so it is 6 that takes less
    assert found.loc["L-CODEC", "pays"] == 6


def test_what_is_prepared_for_one_request_belongs_to_each():
    found, _ = costs(
        row("amnesiac", rte=0.3, prepared_seconds=0.0, prepared_for_request_seconds=90.0)
    )
    assert found.loc["Amnesiac", ["once", "request"]].tolist() == [0.0, pytest.approx(1.2)]
    assert math.isnan(found.loc["Amnesiac", "pays"])


def test_an_exact_method_trains_in_place_of_the_original():
    values: dict[str, Any] = {"rte": 0.5, **COUNTED}
    found, _ = costs(row("sisa", prepared_seconds=200.0, **values))
    # of two Retrains, one is in place of the original's training; 1 + 0.5 · 2 = 2, as Retrain
    assert found.loc["SISA", ["once", "pays"]].tolist() == [1.0, 3]
    found, _ = costs(row("sisa", prepared_seconds=100.0, **values))
    assert found.loc["SISA", ["once", "pays"]].tolist() == [0.0, 1]


def test_only_what_forgot_and_was_measured_has_a_curve():
    found, unknown = costs(
        row("finetune", rte=0.01, word="did nothing", **NOTHING),
        row("head_distillation", rte=0.02, cheats=True, **NOTHING),
        row("salun", rte=0.2, **NOTHING),
        row("l_codec", rte=0.1, prepared_seconds=200.0, **COUNTED),
        row("amnesiac", rte=0.3),
    )
    assert unknown == ["Amnesiac"]
    sentence = tradeoffs_frames.upkeep_sentence(found)
    assert "SalUn" in sentence and "L-CODEC" in sentence
    frame = tradeoffs_frames.upkeep_frame(found)
    assert list(frame["Method"]) == ["SalUn", "L-CODEC"]
    # 2 + 0.1 n < n from 3 on
    assert list(frame["Cheaper than Retrain"]) == ["from request 1", "from request 3"]
    assert float(frame.iloc[1]["Kept, MB"]) == 2.0


def test_the_figure_has_a_curve_a_line_and_colours_what_prepares_or_is_cheapest():
    found, _ = costs(
        row("salun", rte=0.2, **NOTHING),
        row("finetune", rte=0.4, **NOTHING),
        row("l_codec", rte=0.1, prepared_seconds=200.0, **COUNTED),
    )
    figure = amortised_cost.draw(found, dark=False, selected="key-salun")
    by = {trace.name: trace for trace in figure.data}
    assert set(by) == {"SalUn", "Fine-tune", "L-CODEC"}
    assert list(by["L-CODEC"].y)[0] == pytest.approx(2.1)
    assert all(point[0] == "key-l_codec" for point in by["L-CODEC"].customdata)
