"""The papers' numbers in our units, to stand beside ours: which tables there are for a scenario,
and how each is read.

`printed_tables` lists a scenario's tables, each a `Printed`: one table of a paper under one
setting. `usual` picks the one nearest to the runs, `read` brings it into our units. What a paper
draws and does not print is not here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

import pandas as pd

from dashboard.frames import Column, ResultsTable, View, plain_head
from dashboard.frames import identity as identity_frames
from dashboard.papers import readers
from dashboard.papers.readers import Lines
from dashboard.text.labels import for_file, number
from mucore import catalog
from mucore.metrics.membership import ATTACKS

# a name in data/published -> its lines, as dashboard.data.published
Tables = Callable[[str], pd.DataFrame]

MUBOX, CHOI, TRULY, BECKER = "MUBox", "Choi, Na", "Kim et al.", "Becker, Liebig"
NAMES: Final = {
    MUBOX: "MUBox",
    CHOI: "Choi and Na",
    TRULY: "Are We Truly Forgetting?",
    BECKER: "Becker and Liebig",
}


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
    source: str = MUBOX
    marks: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def text(self, method: str, column: Column, view: View, *, reference: bool) -> str:
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
    name for it.

    `datasets`: the paper's own, then those here that stand in for it. `amount`: the share of the
    class, of the training set or of the classes that was forgotten, as the scenario counts it; None
    where the paper gives none.
    """

    id: str
    source: str
    table: str
    setting: str
    scenario: str
    datasets: tuple[str, ...]
    model: str
    amount: float | None = None
    downstream: str = ""
    note: str = ""

    @property
    def title(self) -> str:
        return f"{NAMES[self.source]} {self.table}: {self.setting}"


def _mubox_tables() -> list[Printed]:
    rows = (
        (1, "one_class", "1,000 images of one class", 0.2),
        (3, "all_classes", "1,000 images of all classes", 0.02),
        (4, "class_wise", "a whole class", None),
        (5, "worst_case", "1,000 images of the lowest loss", 0.02),
        (6, "best_case", "1,000 images of the highest loss", 0.02),
        (8, "one_class", "200 images of one class", 0.4),
        (9, "all_classes", "500 images of all classes", 0.02),
        (10, "class_wise", "a whole class", None),
        (11, "worst_case", "images of the lowest loss", None),
        (12, "best_case", "images of the highest loss", None),
    )
    made = [
        Printed(
            id=f"mubox-{number}",
            source=MUBOX,
            table=f"Table {number}",
            setting=f"{'CIFAR-10' if number < 8 else '50 classes of TinyImageNet'}, {setting}",
            scenario=scenario,
            datasets=("cifar10",) if number < 8 else ("tiny-imagenet-50",),
            model="resnet18" if number < 8 else "mobilevit-s",
            amount=amount,
            note="200 epochs." + (" RTE and MB are from Table 2." if number == 1 else ""),
        )
        for number, scenario, setting, amount in rows
    ]
    cost = Printed(
        id="mubox-2",
        source=MUBOX,
        table="Table 2",
        setting="CIFAR-10, run time and storage",
        scenario="one_class",
        datasets=("cifar10",),
        model="resnet18",
    )
    return [made[0], cost, *made[1:]]


def _truly_tables() -> list[Printed]:
    near = {
        10: ("OfficeHome", "Office-Home", "office-home"),
        11: ("CUB", "CUB", "cub-200"),
        12: ("DomainNet", "DomainNet", "domainnet-126"),
    }
    common = {"source": TRULY, "datasets": ("imagenet",)}
    minutes = (
        "RTE is from the minutes of Table 5, and its MIA stands under Conf.: whether that "
        "is the same attack is not known to us."
    )
    at_random: dict[str, Any] = common | {
        "scenario": "random_classes",
        "setting": "100 of 1,000 classes at random",
        "amount": 0.1,
    }
    made = [
        Printed(id="truly-2", table="Tables 2 and 5", model="resnet50", note=minutes, **at_random),
        Printed(
            id="truly-7-convnext-t", table="Table 7, ConvNeXt-T", model="convnext-t", **at_random
        ),
        Printed(id="truly-7-swin-t", table="Table 7, Swin-T", model="swin-t", **at_random),
    ]
    for count in (100, 200, 300):
        share: dict[str, Any] = common | {"model": "resnet50", "amount": count / 1000}
        setting = f"{count} of 1,000 classes at random"
        made.append(
            Printed(
                id=f"truly-9-{count}",
                table="Table 9",
                scenario="random_classes",
                setting=setting,
                **share,
            )
        )
        for table, (_, title, downstream) in near.items():
            setting = f"{count} of 1,000 classes near {title}"
            share |= {"scenario": "top_classes", "setting": setting, "downstream": downstream}
            made.append(Printed(id=f"truly-{table}-{count}", table=f"Table {table}", **share))
    return sorted(made, key=lambda one: int(one.id.split("-")[1]))


def _becker_tables() -> list[Printed]:
    return [
        Printed(
            id=f"efficacy-{share:g}",
            source=BECKER,
            table="Table 1",
            setting=f"{100 * share:g} % of class 3 of MNIST",
            scenario="class_fraction",
            datasets=("mnist",),
            model="mlp",
            amount=share,
            note="The first 100 images of each class, 20 seeds; Original and Fisher are printed "
            "once for all shares.",
        )
        for share in (0.1, 0.25, 0.5, 0.8, 1.0)
    ]


def _choi_tables() -> list[Printed]:
    return [
        Printed(
            id=f"persons-{name}",
            source=CHOI,
            table="MUFAC table"
            if name == "mufac"
            else "MUCAC table"
            if name == "mucac"
            else "single-attribute table",
            setting=title,
            scenario="identities",
            datasets=identity_frames.DATA[name],
            model="resnet18",
            note="Its forgetting score and NoMUS stand on the page Identity.",
        )
        for name, (_, title) in identity_frames.TABLES.items()
    ]


@cache
def _every() -> tuple[Printed, ...]:
    return (*_mubox_tables(), *_truly_tables(), *_becker_tables(), *_choi_tables())


def printed_tables(scenario: str) -> tuple[Printed, ...]:
    """The tables that the papers print for a scenario, in their order; none for most scenarios of
    poison and of chosen ids.
    """
    return tuple(one for one in _every() if one.scenario == scenario)


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


def read(printed: Printed, tables: Tables, *, dataset: str, model: str) -> Published:
    """The numbers of a table, with a caption that says how its setting differs from the runs of
    `dataset` and `model`.
    """
    lines = _READERS[printed.source](printed, tables)
    differs = [
        word
        for word, same in (
            ("data set", dataset == printed.datasets[0]),
            ("model", model == printed.model),
        )
        if not same
    ]
    other = (
        f" Another {' and '.join(differs)} than yours: compare the pattern, not the digits."
        if differs
        else ""
    )
    about = catalog.model(printed.model).title
    note = "".join(f" {each}" for each in (printed.note, *lines.notes) if each)
    caption = f"{printed.title}, {about}.{note}{other}"
    return Published(lines.values, lines.gaps, caption, printed.source, lines.marks)


def points(
    scenario: str, tables: Tables, *, dataset: str, model: str
) -> list[tuple[Printed, Published]]:
    """The tables of the nearest data set that say which share was forgotten, smallest share first:
    marks for a curve over shares.
    """
    known = [one for one in printed_tables(scenario) if one.amount is not None]
    nearest = usual(known, dataset=dataset, model=model, parameters={})
    if nearest is None:
        return []
    alike = [
        one for one in known if (one.source, one.datasets) == (nearest.source, nearest.datasets)
    ]
    return [
        (one, read(one, tables, dataset=dataset, model=model))
        for one in sorted(alike, key=lambda one: one.amount or 0.0)
    ]


# --------------------------------------------------------------------------------------------------
# one paper each


def _read_mubox(printed: Printed, tables: Tables) -> Lines:
    """Table 2 has run time and storage alone; they stand beside the accuracies of the same runs,
    Table 1, too.
    """
    lines, cost = tables("mubox_tables"), tables("mubox_cost")
    if printed.id == "mubox-2":
        return readers.plain_lines(readers.mubox_cost(cost))
    here = lines[lines["table"].astype(str) == printed.id.removeprefix("mubox-")]
    return readers.mubox(
        here,
        cost[
            cost["scenario"].isin(set(here["scenario"]))
            & cost["dataset"].isin(set(here["dataset"]))
        ],
    )


TWICE: Final = {"2": "9", "9": "2"}  # tables that print one setting, 100 classes at random, both


def _read_truly(printed: Printed, tables: Tables) -> Lines:
    table, *rest = printed.id.removeprefix("truly-").split("-", 1)
    lines = tables("truly_forgetting_tables")
    lines = lines[lines["model"].map(readers.plain) == readers.plain(printed.model)]
    if printed.amount is not None:
        lines = lines[lines["forget_classes"].astype(float) == round(1000 * printed.amount)]
    numbers = lines["table"].astype(str)
    return readers.truly(
        lines[numbers.isin([table, "5"] if table == "2" else [table])],
        lines[numbers == TWICE.get(table, "")],
    )


def _read_becker(printed: Printed, tables: Tables) -> Lines:
    lines = tables("efficacy_table1")
    share = f"{printed.amount:g}"
    here = lines[lines["forget_fraction_of_class"].astype(str).isin(["any", share])]
    found = zip(here["method"], here["metric"], here["mean"], strict=True)
    named = (
        (readers.catalogued(str(name)), str(metric).lower(), float(mean))
        for name, metric, mean in found
    )
    return readers.plain_lines(
        {(method, metric): mean for method, metric, mean in named if method is not None}
    )


def _read_choi(printed: Printed, tables: Tables) -> Lines:
    paper = identity_frames.paper_table(
        tables("mufac_mucac_tables"), printed.id.removeprefix("persons-")
    )
    return readers.plain_lines(paper.values)


_READERS: Final[Mapping[str, Callable[[Printed, Tables], Lines]]] = {
    MUBOX: _read_mubox,
    TRULY: _read_truly,
    BECKER: _read_becker,
    CHOI: _read_choi,
}


def with_attacks(
    scenario: str, tables: Tables, *, dataset: str, model: str, parameters: Mapping[str, Any]
) -> tuple[Printed, Published] | None:
    """The table with membership attacks that is nearest to runs of a scenario, and its numbers;
    None where no paper prints one.
    """
    known = [
        (one, read(one, tables, dataset=dataset, model=model)) for one in printed_tables(scenario)
    ]
    attacks = {f"mia_{attack}" for attack in ATTACKS}
    known = [
        (one, content)
        for one, content in known
        if attacks & {column for _, column in content.values}
    ]
    found = usual([one for one, _ in known], dataset=dataset, model=model, parameters=parameters)
    return next(((one, content) for one, content in known if one == found), None)


def published_table(
    tables: pd.DataFrame, cost: pd.DataFrame, *, scenario: str, dataset: str
) -> Published | None:
    """MUBox's table of `scenario` (mubox_tables.csv, mubox_cost.csv) in our units, of its data set
    nearest to ours; None without one.
    """
    options = [one for one in printed_tables(scenario) if one.source == MUBOX]
    found = usual(options, dataset=dataset, model="", parameters={})
    if found is None:
        return None
    files = {"mubox_tables": tables, "mubox_cost": cost}
    return read(found, files.__getitem__, dataset=dataset, model=found.model)


def beside(table: ResultsTable, paper: Published) -> pd.DataFrame:
    """The table's text with the paper's columns behind ours, those that it prints for any line."""
    frame = table.frame.copy()
    for column in table.columns:
        texts = [
            for_file(paper.text(row.method, column, table.view, reference=row.reference))
            for row in table.rows
        ]
        if any(texts):
            frame[f"{plain_head(column)}, {paper.source}"] = texts
    return frame
