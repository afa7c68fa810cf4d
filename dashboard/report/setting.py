"""One data set, model, recipe, scenario and forget set of a report: the table of Results, what
decides in it, cost against distance, and warnings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dashboard import frames, theme
from dashboard.charts import cost_distance
from dashboard.report.blocks import Block, Facts, Picture, Section, Table
from dashboard.text import units, verdicts
from dashboard.text.labels import (
    MISSING,
    THIN,
    forget_set_text,
    metric_title,
    note_text,
    number,
    scenario_title,
)
from mucore import catalog, statistics
from mucore.export import tables
from mucore.store.rows import Result
from mucore.verdicts import Judged, rules_of

REFERENCES = ("original", "retrain")
NUMBER = r"\d+(?:\.\d+)?"
NOISE = " First line: 95 % band of the differences between two Retrains."


@dataclass(frozen=True, eq=False)
class Setting:
    """`label` is unique in the report."""

    label: str
    scenario: str
    runs: pd.DataFrame
    values: pd.DataFrame
    table: frames.ResultsTable


def settings(
    runs: pd.DataFrame, values: pd.DataFrame, judged: Mapping[str, Judged]
) -> list[Setting]:
    """The settings of `runs` (rows of `Store.summaries`) in which a method ran, scenarios in the
    catalogue's order.
    """
    order = {card.id: place for place, card in enumerate(catalog.scenarios())}
    groups = [group for _, group in runs.groupby(list(statistics.SETTING))]
    groups = [group for group in groups if not group["method"].isin(REFERENCES).all()]
    groups.sort(key=lambda group: order[group.iloc[0]["scenario"]])
    lines = [group.iloc[0] for group in groups]
    labels = [
        f"{scenario_title(line['scenario'])}: "
        f"{forget_set_text(line['scenario_parameters'], line['dataset'])}".replace(THIN, " ")
        for line in lines
    ]
    labels = statistics.told_apart(labels, [line["hashes"] for line in lines])
    made = []
    for label, line, group in zip(labels, lines, groups, strict=True):
        scenario = str(line["scenario"])
        mine = values[values["key"].isin(group["key"])]
        table = frames.results_table(
            group,
            mine,
            view="value",
            class_wise=catalog.scenario(scenario).class_wise,
            sort=frames.USUAL,
            judged=judged,
        )
        made.append(Setting(label, scenario, group, mine, table))
    return made


def section(place: int, setting: Setting, results: Mapping[str, Result]) -> Section:
    """What the report says of its setting number `place`; `results` by key."""
    parts = [part for part in verdicts.parts(setting.table.rows) if part.count]
    blocks: list[Block] = [facts(setting, parts), results_table(setting.table)]
    apart = frames.apart(setting.runs, setting.values, rules_of(setting.scenario).metrics)
    found = cost_distance.cost_distance_info(setting.table.rows, apart)
    if found.dots:
        blocks.append(
            Picture(
                name=f"cost-{place}",
                title="Cost against distance to Retrain",
                sentence="Lower is closer to Retrain, further left is cheaper. Hollow: an "
                f"indication. Marks: {', '.join(map(mark, parts))}.",
                figure=cost_distance.draw(found, dark=False, most=len(found.dots)),
                alt=cost_distance.alt_text(found),
            )
        )
    if len(warned := warnings(setting, results)):
        blocks.append(Table("Warnings. Numbers in them are those of the first run.", warned))
    return Section(setting.label, tuple(blocks))


def mark(part: verdicts.Part) -> str:
    """ "forgot (circle)"."""
    words = reversed(theme.FATES[part.fate].symbol.split("-"))
    return f"{part.fate} ({' '.join(words)})"


def facts(setting: Setting, parts: Sequence[verdicts.Part]) -> Facts:
    """The forget set, and how near to Retrain a method must come in what decides."""
    counts, hashes = (setting.runs[name].unique() for name in ("forget_count", "forget_hash"))
    checked = (row.verdict.checks for row in setting.table.methods if row.verdict)
    rules, checks = rules_of(setting.scenario), next(filter(None, checked), ())
    margins = [f"{rules.name(e.metric)} {number(e.margin, 'percent')} points" for e in checks]
    counted = [f"{part.count} {part.fate}" for part in parts]
    return Facts(
        (
            ("Verdicts", ", ".join(counted) or MISSING),
            (
                "Forget set",
                " or ".join(units.count(int(count), "sample") for count in sorted(counts)),
            ),
            ("Its hash", ", ".join(hashes)),
            ("Margins", "; ".join(margins) or MISSING),
            ("Accuracy kept", "; ".join(map(rules.name, rules.utility))),
        )
    )


def results_table(table: frames.ResultsTable) -> Table:
    """The whole table of Results."""
    columns = {frames.plain_head(column): column for column in table.columns}
    return Table(
        table.interval + NOISE * bool(table.noise),
        plain(table),
        {head: column.group for head, column in columns.items()},
        {head: column.head for head, column in columns.items()},
    )


def plain(table: frames.ResultsTable) -> pd.DataFrame:
    """Its text without families, and without statuses where all are ok."""
    fine = table.frame["Status"].isin(["", "ok"]).all()
    return table.frame.drop(columns=["Family", *(["Status"] * bool(fine))])


def latex(found: Sequence[Setting]) -> str:
    """The table of every setting, for a document that uses booktabs."""
    return "\n".join(tables.to_latex(plain(each.table), each.label) for each in found)


def warnings(setting: Setting, results: Mapping[str, Result]) -> pd.DataFrame:
    """How runs ended, their flags, values outside the range from Original to Retrain, notes and the
    table's missing numbers: a line each, with how many runs of which methods it is about. Sentences
    that differ in numbers alone are one, as the first run says it.
    """
    rows = {row.id: row for row in setting.table.rows}
    mine = [(results[key], row.title) for row in rows.values() for key in row.keys]
    said = [(f"Ended as {run.status}", title) for run, title in mine if run.status != "ok"]
    said += [(flag, title) for run, title in mine for flag in run.flags]
    for each in statistics.suspicions(setting.runs, setting.values):
        row = rows[frames.row_id(each.method, each.parameters)]
        outside = f"{metric_title(each.metric)} is outside the range from Original to Retrain"
        said += [(outside, row.title)] * len(row.keys)
    said += [(note_text(note), title) for run, title in mine for note in run.notes]
    titles = {run.key: title for run, title in mine}
    values, shown = setting.values, [column.id for column in setting.table.columns]
    lost = values[values["error"].notna() & values["metric"].isin(shown)]
    lost = lost[lost["key"].isin(titles)]
    for key, metric, error in lost[["key", "metric", "error"]].itertuples(index=False):
        said.append((f"{metric_title(metric)} is missing: {error}", titles[key]))
    frame = pd.DataFrame(said, columns=["Warning", "Methods"])
    alike = frame.groupby(frame["Warning"].str.replace(NUMBER, "0", regex=True), sort=False)
    found = alike.agg(
        Warning=("Warning", "first"), Runs=("Methods", "size"), Methods=("Methods", _named)
    )
    return found.reset_index(drop=True)


def _named(titles: pd.Series) -> str:
    return units.shortened([*dict.fromkeys(titles)], 6)
