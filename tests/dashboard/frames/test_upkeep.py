"""Costs over many requests, by hand: Retrain takes 100 seconds."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.charts import amortised_cost
from dashboard.frames import Cell, Estimate, Row
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.tradeoffs.upkeep import MANY
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
COUNTED: dict[str, Any] = {"prepared_for_request_seconds": 0.0, "persistent_bytes": 2e6}


def lines(*rows: Row):
    found = tradeoffs_frames.upkeep([*REFERENCES, *rows])
    return found, {line.row.method: line for line in found.lines}


def test_preparation_is_shared_out_over_requests():
    _, by = lines(row("l_codec", rte=0.2, prepared_seconds=400.0, **COUNTED))
    line = by["l_codec"]
    assert (line.once, line.request) == (4.0, 0.2)
    assert [line.each(n) for n in (1, 10, 1000)] == pytest.approx([4.2, 0.6, 0.204])
    # 4 + 0.2 n < n from n = 5 on is 5 = 5, so it is 6 that takes less
    assert line.pays_from() == 6 and line.each(5) == pytest.approx(1.0) and line.each(6) < 1


def test_what_is_prepared_for_one_request_belongs_to_each():
    _, by = lines(row("amnesiac", rte=0.3, prepared_seconds=0.0, prepared_for_request_seconds=90.0))
    assert (by["amnesiac"].once, by["amnesiac"].request) == (0.0, pytest.approx(1.2))
    assert by["amnesiac"].pays_from() is None


def test_an_exact_method_trains_in_place_of_the_original():
    values: dict[str, Any] = {"rte": 0.5, **COUNTED}
    _, by = lines(row("sisa", prepared_seconds=200.0, **values))
    assert by["sisa"].once == 1.0  # of two Retrains, one is in place of the original's training
    assert by["sisa"].pays_from() == 3  # 1 + 0.5 · 2 = 2, as Retrain; 2.5 < 3
    _, by = lines(row("sisa", prepared_seconds=100.0, **values))
    assert by["sisa"].once == 0.0 and by["sisa"].pays_from() == 1


def test_two_methods_against_each_other():
    _, by = lines(
        row("l_codec", rte=0.1, prepared_seconds=200.0, **COUNTED), row("finetune", rte=0.3)
    )
    # 2 + 0.1 n against 0.3 n: alike at 10
    assert by["l_codec"].pays_from(by["finetune"]) == 11
    assert by["finetune"].pays_from(by["l_codec"]) == 1  # and no longer from 10 on


def test_a_method_without_records_prepares_nothing_whoever_counted():
    """Earlier versions did not count preparation; where a card names records it is unknown."""
    found, by = lines(
        row("finetune", rte=0.05),
        row("amnesiac", rte=0.3),
        row("salun", prepared_seconds=0.0, prepared_for_request_seconds=0.0),
    )
    assert set(by) == {"finetune"} and by["finetune"].once == 0.0
    assert set(found.unknown) == {catalog.method(name).title for name in ("amnesiac", "salun")}


def test_only_what_forgot_is_called_cheapest():
    found, _ = lines(
        row("finetune", rte=0.01, word="did nothing"),
        row("head_distillation", rte=0.02, cheats=True),
        row("salun", rte=0.2),
        row("l_codec", rte=0.1, prepared_seconds=200.0, **COUNTED),
    )
    sentence = tradeoffs_frames.upkeep_sentence(found, everyone=False)
    assert "SalUn" in sentence and "L-CODEC" in sentence and "Fine-tune" not in sentence
    every = tradeoffs_frames.upkeep_sentence(found, everyone=True)
    assert every.startswith("Fine-tune")


def test_the_table_and_the_numbers_hold_every_line():
    found, by = lines(
        row("finetune", rte=0.01, word="did nothing"),
        row("salun", rte=0.2),
        row("l_codec", rte=0.1, prepared_seconds=200.0, **COUNTED),
    )
    frame = tradeoffs_frames.upkeep_frame(found, everyone=False)
    assert list(frame["Method"]) == ["SalUn", "L-CODEC", "Fine-tune"]
    # 2 + 0.1 n < n from 3 on, < 0.2 n from 21 on; what did nothing takes less than nobody
    assert list(frame["Less than Retrain"]) == ["from request 1", "from request 3", "–"]
    assert list(frame["Less than SalUn"]) == ["–", "from request 21", "–"]
    every = tradeoffs_frames.upkeep_frame(found, everyone=True)
    assert every.iloc[0]["Method"] == "Fine-tune" and "Less than Fine-tune" in every
    assert float(frame.iloc[1]["Kept, MB"]) == 2.0
    curves = tradeoffs_frames.curves_frame(found.lines)
    assert list(curves["Requests"]) == [1, 10, 100, MANY]
    assert list(curves["L-CODEC"]) == pytest.approx(
        [by["l_codec"].each(n) for n in (1, 10, 100, MANY)]
    )


def test_the_figure_has_a_curve_a_line_and_colours_what_prepares_or_is_cheapest():
    found, _ = lines(
        row("salun", rte=0.2),
        row("finetune", rte=0.4),
        row("l_codec", rte=0.1, prepared_seconds=200.0, **COUNTED),
    )
    info = amortised_cost.amortised_cost_info(found.lines)
    assert {c.title for c in info.curves if c.vivid} == {"SalUn", "L-CODEC"}
    figure = amortised_cost.draw(info, dark=False, selected="key-salun")
    by = {trace.name: trace for trace in figure.data}
    assert set(by) == {"SalUn", "Fine-tune", "L-CODEC"}
    assert list(by["L-CODEC"].y)[0] == pytest.approx(2.1)
    assert all(point[0] == "key-l_codec" for point in by["L-CODEC"].customdata)
