"""The papers' numbers in our units, to stand beside ours: which tables there are for a scenario,
and what each prints.

data/papers/tables.csv has a line for each table of a paper under one setting, data/papers/cells.csv
one for each number. What a paper draws and does not print is not here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Protocol

import pandas as pd

from dashboard.text.labels import Unit, number
from mucore import catalog, shipped

FOLDER = shipped.DATA / "papers"
# of each paper its short name, for the head of a line
SHORT: Final = {
    "mubox": "MUBox",
    "persons": "Choi, Na",
    "truly": "Kim et al.",
    "efficacy": "Becker, Liebig",
    "salun": "SalUn",
    "l1-sparse": "l1-sparse",
    "lotus": "LoTUS",
}
# the names in titles, by short name
NAMES: Final = {name: name for name in SHORT.values()} | {
    "Choi, Na": "Choi and Na",
    "Kim et al.": "Are We Truly Forgetting?",
    "Becker, Liebig": "Becker and Liebig",
}
# metrics that stand on the page Representation (`frames.representation.paper`)
REPRESENTATION = "average_gap|agl|agr|h_lr|knn|cka"
MARKS = ("†", "‡")  # signs behind a number, which its table's note explains


class Head(Protocol):
    """What a printed number has to know of the column that it stands in (`frames.Column`)."""

    @property
    def id(self) -> str: ...
    @property
    def unit(self) -> Unit: ...
    @property
    def compared(self) -> bool: ...


@dataclass(frozen=True)
class Published:
    """A published table beside ours: (method id, column id) -> value (fraction; MB in bytes), gaps
    likewise, and where it is from.

    `source` is the paper's short name, for a line's head. `marks` are signs behind single cells,
    which the caption explains.
    """

    values: Mapping[tuple[str, str], float]
    gaps: Mapping[tuple[str, str], float]
    caption: str
    source: str = SHORT["mubox"]
    marks: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def text(self, method: str, column: Head, view: str, *, reference: bool) -> str:
        """What the paper's line shows in this cell; empty where the paper has no such row."""
        gap = view == "gap" and column.compared and not reference
        found = (self.gaps if gap else self.values).get((method, column.id))
        return (
            ""
            if found is None
            else number(found, column.unit, signed=gap) + self.marks.get((method, column.id), "")
        )


@dataclass(frozen=True, kw_only=True)
class Printed:
    """One table of a paper under one setting. `id` stands in the address, `table` is the paper's
    name for it, `parts` are the tables in cells.csv whose numbers it has.

    `datasets`: the paper's own, then those here that stand in for it. `amount`: the share of the
    class, of the training set or of the classes that was forgotten, as the scenario counts it; None
    where the paper gives none.
    """

    id: str
    paper: str
    table: str
    parts: tuple[str, ...]
    setting: str
    scenario: str
    datasets: tuple[str, ...]
    model: str
    amount: float | None = None
    downstream: str = ""
    note: str = ""

    @property
    def source(self) -> str:
        """The paper's short name."""
        return SHORT[self.paper]

    @property
    def title(self) -> str:
        return f"{NAMES[self.source]} {self.table}: {self.setting}"


@cache
def every() -> tuple[Printed, ...]:
    """All tables, in the papers' order."""
    lines = pd.read_csv(FOLDER / "tables.csv", dtype=str, keep_default_na=False)
    return tuple(
        Printed(
            id=line["id"],
            paper=line["paper"],
            table=line["name"],
            parts=tuple(line["tables"].split()),
            setting=line["setting"],
            scenario=line["scenario"],
            datasets=tuple(line["datasets"].split()),
            model=line["model"],
            amount=float(line["amount"]) if line["amount"] else None,
            downstream=line["downstream"],
            note=line["note"],
        )
        for line in lines.to_dict("records")
    )


@cache
def _cells() -> pd.DataFrame:
    texts = {"amount": float, "value": float, "spread": float}
    lines = pd.read_csv(FOLDER / "cells.csv", dtype={"table": str})
    lines = lines.fillna({name: "" for name in lines.columns if name not in texts})
    return lines.assign(
        value=lines["value"].where(lines["unit"] != "%", lines["value"] / 100)
    ).drop(columns="unit")


def cells(paper: str) -> pd.DataFrame:
    """The numbers of a paper (a key of `SHORT`), one a line: fractions, seconds relative to
    Retrain's, bytes. Columns as in data/papers/README.md, without the unit.
    """
    found = _cells()
    return found[found["paper"] == paper]


def printed_tables(scenario: str) -> tuple[Printed, ...]:
    """The tables that the papers print for a scenario, in their order; none for most scenarios of
    poison and of chosen ids.
    """
    return tuple(one for one in every() if one.scenario == scenario)


def usual(
    tables: Sequence[Printed], *, dataset: str, model: str, parameters: Mapping[str, Any]
) -> Printed | None:
    """The table nearest to runs: of the same data set first, then model, downstream set, and share
    that is forgotten.

    `parameters` are the runs' effective scenario parameters.
    """
    mine = _amount(parameters, dataset)

    def far(one: Printed) -> tuple[bool, bool, bool, float]:
        away = 0.0 if mine is None or one.amount is None else abs(mine - one.amount)
        return (
            dataset not in one.datasets,
            model != one.model,
            one.downstream != (parameters.get("downstream") or ""),
            away,
        )

    return min(tables, key=far) if tables else None


def _amount(parameters: Mapping[str, Any], dataset: str) -> float | None:
    """The forgotten share where the parameters give one; a number of samples is none."""
    if isinstance(parameters.get("n"), int):
        classes = catalog.dataset(dataset).classes
        return parameters["n"] / classes if classes else None
    return next(
        (
            parameters[name]
            for name in ("budget", "fraction")
            if isinstance(parameters.get(name), float)
        ),
        None,
    )


def read(printed: Printed, *, dataset: str, model: str) -> Published:
    """The numbers of a table, with a caption that says how its setting differs from the runs of
    `dataset` and `model`.
    """
    values, gaps, marks = _content(printed.paper, printed.parts, printed.model, printed.amount)
    differs = [
        word
        for word, same in (
            ("data set", dataset == printed.datasets[0]),
            ("model", model == printed.model),
        )
        if not same
    ]
    other = (
        f" Another {' and '.join(differs)} than here: compare the pattern, not the digits."
        if differs
        else ""
    )
    about = catalog.model(printed.model).title
    note = f" {printed.note}" if printed.note else ""
    caption = f"{printed.title}, {about}.{note}{other}"
    return Published(values, gaps, caption, printed.source, marks)


Numbers = dict[tuple[str, str], float]


@cache
def _content(
    paper: str, parts: tuple[str, ...], model: str, amount: float | None
) -> tuple[Numbers, Numbers, dict[tuple[str, str], str]]:
    """Values, gaps and marks by (method, metric). A number without an amount goes with every
    amount.
    """
    lines = cells(paper)
    lines = lines[lines["table"].isin(parts) & (lines["model"] == model)]
    lines = lines[~lines["metric"].str.match(REPRESENTATION)]
    if amount is not None:
        lines = lines[lines["amount"].isna() | (lines["amount"] == amount)]
    places = zip(lines["block"], lines["method"], lines["metric"], strict=True)
    found = dict(zip(places, lines["value"].tolist(), strict=True))
    values, gaps, marks = {}, {}, {}
    for (block, method, metric), against, mark in zip(
        found, lines["against"], lines["mark"], strict=True
    ):
        if block and method == "original":  # which its block alone is compared with
            continue
        values[method, metric] = found[block, method, metric]
        reference = {"retrain": ("", "retrain"), "own": (block, "original")}.get(against)
        if reference is not None and (*reference, metric) in found:
            gaps[method, metric] = values[method, metric] - found[*reference, metric]
        if mark in MARKS:
            marks[method, metric] = mark
    return values, gaps, marks
