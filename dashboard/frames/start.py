"""What the tiles of Start show of a table: how far models end from Retrain, and the test accuracy
that hides it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dashboard.frames.rows import Row
from dashboard.text import verdicts


def distances(rows: Sequence[Row], known: Collection[str] = ()) -> list[Row]:
    """Original, the method that knows most of what it should have forgotten, the nearest that
    forgot, and Retrain; methods among `known` where there are any. Without a method, nothing.
    """
    mine = [row for row in rows if row.method in known] or list(rows)
    short = [row for row in mine if _word(row) in verdicts.SHORT and row.away is not None]
    short = [row for row in short if _word(row) != "did nothing"] or short
    far = max(short, key=lambda row: row.away or 0.0, default=None)
    near = next(iter(verdicts.nearest(mine) or verdicts.nearest(rows)), None)
    if far is None and near is None:
        return []
    found = [_reference(rows, "original"), far, near, _reference(rows, "retrain")]
    return [row for row in found if row is not None]


def accuracies(rows: Sequence[Row]) -> list[Row]:
    """Original, the method of the highest test accuracy if that did not forget, and Retrain.
    Without both references, or where none scores above Retrain, nothing.
    """
    scored = {row.id: value.mean for row in rows if (value := row.cells["ta"].value) is not None}
    original, retrain = _reference(rows, "original"), _reference(rows, "retrain")
    ran = [row for row in rows if not row.reference and not row.unsound and row.id in scored]
    best = max(ran, key=lambda row: scored[row.id], default=None)
    if original is None or retrain is None or not {original.id, retrain.id} <= scored.keys():
        return []
    found = [original, *([best] if best and _word(best) in verdicts.SHORT else []), retrain]
    return found if scored[found[-2].id] > scored[retrain.id] else []


def _reference(rows: Sequence[Row], method: str) -> Row | None:
    return next((row for row in rows if row.method == method), None)


def _word(row: Row) -> str:
    return "" if row.reference or row.verdict is None else row.verdict.word
