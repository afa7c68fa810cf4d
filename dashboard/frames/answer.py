"""The answer above a table in a few figures: closest to Retrain, best utility, cheapest, and what needs a second look."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.describe import number
from dashboard.frames.rows import Row, row_id
from dashboard.frames.table import ResultsTable
from mucore.ranking import suspicions


@dataclass(frozen=True)
class Answer:
    """One figure above the table: the label, what it is, and a line that keeps it honest."""

    label: str
    value: str
    detail: str
    metrics: tuple[str, ...] = ()  # ids of metrics that it is about without their short names


def answers(table: ResultsTable, *, flagged: int = 0, outside: int = 0) -> tuple[Answer, ...]:
    """Closest to Retrain, best utility, cheapest, and what needs a second look. `flagged` counts runs with a sanity flag, `outside` rows
    with a value outside the range of original and Retrain.

    Only rows whose runs all ended well compete.
    """
    sound = [row for row in table.methods if not row.unsound]
    made = []
    if near := [(gap, row) for row in sound if (gap := average_gap(row)) is not None]:
        gap, row = min(near, key=lambda pair: pair[0])
        near_of = tuple(name for name in ("ta", "ra", "fa", "mia_confidence") if name in row.cells)
        made.append(
            Answer("Closest to Retrain", row.title, f"{number(gap, 'percent')} points away on average, accuracies and MIA", near_of)
        )
    if useful := [(value.mean, row) for row in sound if (value := row.cells["ta"].value) is not None]:
        best, row = max(useful, key=lambda pair: pair[0])
        forgotten = row.cells["fa"].gap
        detail = f"TA {number(best, 'percent')} %"
        made.append(
            Answer(
                "Best utility",
                row.title,
                f"{detail}, FA {number(forgotten.mean, 'percent', signed=True)} points from Retrain" if forgotten else detail,
            )
        )
    if cheap := [(value.mean, row) for row in sound if (value := row.cells["rte"].value) is not None]:
        cost, row = min(cheap, key=lambda pair: pair[0])
        made.append(Answer("Cheapest", row.title, f"{number(cost, 'ratio')} of Retrain's time", ("rte",)))
    unsound = sum(count for row in table.rows for count in row.unsound.values())
    parts = []
    if unsound:
        parts.append(f"{unsound} {'run' if unsound == 1 else 'runs'} diverged or reverted")
    if flagged:
        parts.append(f"{flagged} with a sanity flag")
    if outside:
        parts.append(f"{outside} {'line' if outside == 1 else 'lines'} outside original and Retrain")
    made.append(Answer("Look twice", str(unsound + flagged + outside), ", ".join(parts) or "no run diverged, no sanity flag"))
    return tuple(made)


def average_gap(row: Row) -> float | None:
    """Mean |gap to Retrain| over the percent columns, 0..1; None unless every one of them is there, so that rows stay comparable."""
    gaps = [cell.gap for name, cell in row.cells.items() if name not in ("l2_normalised", "rte", "storage")]
    found = [gap.mean for gap in gaps if gap is not None]
    return float(np.mean(np.abs(found))) if found and len(found) == len(gaps) else None


def suspicious(summaries: pd.DataFrame, values: pd.DataFrame) -> dict[str, tuple[str, ...]]:
    """By row id, sentences on values outside the range of original and Retrain; they speak of all seeds of the row, not of one run."""
    found: dict[str, list[str]] = {}
    for each in suspicions(summaries, values):
        found.setdefault(row_id(each.method, each.parameters), []).append(each.sentence)
    return {name: tuple(sentences) for name, sentences in found.items()}
