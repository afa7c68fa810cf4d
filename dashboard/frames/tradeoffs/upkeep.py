"""What a method takes for many requests: its preparation once, and each request; in units of the
time that one Retrain takes.

Preparation is what serves any later request (training records), a request is the method's run with
what must be prepared for it alone. An exact method trains networks of its own in place of the
original, so a Retrain is taken off its preparation: what training the original takes at least.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from dashboard.frames.rows import Row
from dashboard.text import labels, verdicts
from mucore import catalog
from mucore.errors import UnknownName

METRICS: Final = (
    "rte",
    "unlearning_seconds",
    "prepared_seconds",
    "prepared_for_request_seconds",
    "persistent_bytes",
)
MANY: Final = 1000  # requests up to which costs are drawn


@dataclass(frozen=True, kw_only=True)
class Upkeep:
    """One line: `once` and `request` in Retrains; `kept` are bytes, None where not measured."""

    row: Row
    once: float
    request: float
    kept: float | None

    @property
    def qualified(self) -> bool:
        return bool(verdicts.qualified([self.row]))

    @property
    def cheats(self) -> bool:
        return self.row.verdict is not None and self.row.verdict.cheats

    def each(self, requests: int) -> float:
        """What a request takes, in Retrains, if there are so many of them."""
        return self.once / requests + self.request

    def pays_from(self, other: Upkeep | None = None) -> int | None:
        """The first number of requests over which it takes less than another line, or than Retrain
        for each of them; None where there is none.
        """
        once, request = (0.0, 1.0) if other is None else (other.once, other.request)
        ahead, saved = self.once - once, request - self.request
        if ahead < 0 or (ahead == 0 and saved > 0):
            return 1 if self.each(1) < once + request else None
        if saved <= 0:
            return None
        return max(1, math.floor(ahead / saved) + 1)


@dataclass(frozen=True, kw_only=True)
class Costs:
    """The lines that have all their numbers, the cheapest for one request first; `unknown` says by
    title what the others lack.
    """

    lines: tuple[Upkeep, ...]
    unknown: dict[str, str]

    def competing(self, everyone: bool) -> tuple[Upkeep, ...]:
        """Those that are shown to have forgotten, else those that seem to have; or all but a
        baseline that cheats.
        """
        leading = verdicts.leading([line.row for line in self.lines])
        return tuple(
            line for line in self.lines if (not line.cheats if everyone else line.row in leading)
        )


def upkeep(rows: Sequence[Row]) -> Costs:
    """Of rows with cells for `METRICS`, references among them."""
    retrain = next(
        (
            _mean(row, "unlearning_seconds")
            for row in rows
            if row.reference and row.method == "retrain"
        ),
        None,
    )
    found, unknown = [], {}
    for row in rows:
        if row.reference:
            continue
        if not retrain:
            unknown[row.title] = "Retrain has no time to compare with"
        elif (request := _mean(row, "rte")) is None:
            unknown[row.title] = row.cells["rte"].reason or "its time was not measured"
        elif (prepared := _prepared(row)) is None:
            unknown[row.title] = "an earlier version made it and did not count its preparation"
        else:
            once, own = prepared
            exact = row.family == "exact"
            found.append(
                Upkeep(
                    row=row,
                    once=max(once / retrain - exact, 0.0),
                    request=request + own / retrain,
                    kept=_mean(row, "persistent_bytes"),
                )
            )
    found.sort(key=lambda line: (line.each(1), line.row.title))
    return Costs(lines=tuple(found), unknown=unknown)


def _prepared(row: Row) -> tuple[float, float] | None:
    """Seconds for any request and for each; zero for a method that needs no record, whatever its
    runs counted.
    """
    once, own = _mean(row, "prepared_seconds"), _mean(row, "prepared_for_request_seconds")
    if once is not None and own is not None:
        return once, own
    try:
        return None if catalog.method(row.method).records else (0.0, 0.0)
    except UnknownName:
        return None


def _mean(row: Row, metric: str) -> float | None:
    cell = row.cells.get(metric)
    return None if cell is None or cell.value is None else cell.value.mean


def cheapest(lines: Sequence[Upkeep], requests: int) -> Upkeep | None:
    return min(lines, key=lambda line: (line.each(requests), line.row.title), default=None)


def upkeep_sentence(found: Costs, *, everyone: bool) -> str:
    """Which line takes least for one request, and which for many; "" where none is known."""
    lines = found.competing(everyone)
    first, last = cheapest(lines, 1), cheapest(lines, MANY)
    if first is None or last is None:
        return ""
    if first is last:
        return f"{first.row.title} is the cheapest for one request and for {MANY:,}."
    return f"{first.row.title} is the cheapest for one request, {last.row.title} for {MANY:,}."


def upkeep_frame(found: Costs, *, everyone: bool) -> pd.DataFrame:
    """A line each, those that compete first: what it keeps, what it takes once and for a request;
    and of those, from which request on it takes less than Retrain, and than the cheapest of them
    that prepares nothing.
    """
    rivals = found.competing(everyone)
    bare = cheapest([line for line in rivals if line.once == 0], MANY)
    made: list[dict[str, str]] = []
    for line in (*rivals, *(line for line in found.lines if line not in rivals)):
        away = line not in rivals
        made.append(
            {
                "Method": line.row.title,
                "Verdict": _said(line),
                "Kept, MB": labels.number(line.kept, "MB"),
                "Once, Retrains": labels.number(line.once, "ratio"),
                "Each request, Retrains": labels.number(line.request, "ratio"),
                "Less than Retrain": labels.MISSING if away else _from(line.pays_from()),
            }
        )
        if bare is not None:
            against = labels.MISSING if away or line is bare else _from(line.pays_from(bare))
            made[-1][f"Less than {bare.row.title}"] = against
    return pd.DataFrame(made)


def curves_frame(lines: Sequence[Upkeep]) -> pd.DataFrame:
    """The numbers behind the figure: Retrains for each request, a column a line."""
    made = {"Requests": [1, 10, 100, MANY]}
    return pd.DataFrame(
        made | {line.row.title: [line.each(n) for n in made["Requests"]] for line in lines}
    )


def _said(line: Upkeep) -> str:
    return "" if line.row.verdict is None else verdicts.text(line.row.verdict)


def _from(requests: int | None) -> str:
    return "never" if requests is None else f"from request {requests:,}"
