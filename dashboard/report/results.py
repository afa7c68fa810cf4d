"""Tables and figures of every setting, and the figures over sizes of the forget set."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dashboard import frames
from dashboard.charts import budget_curves, class_gaps, cost_distance
from dashboard.frames import budget as budget_frames
from dashboard.report.blocks import Block, Items, Picture, Section, Table, Text
from dashboard.report.selection import Setting
from dashboard.report.text import scenario_title, without_thin_spaces
from dashboard.report.verdicts import verdict_blocks
from dashboard.text.labels import MISSING
from mucore import catalog
from mucore.errors import UnknownName


def setting_sections(place: int, setting: Setting) -> list[Section]:
    """Results, verdicts, gaps, cost against distance and classes of the setting at `place` of the
    report.
    """
    reasons = _missing_cells(setting.values)
    return [
        Section(
            f"{setting.label}: results", (_results(setting.values, "Values"), *reasons), "results"
        ),
        Section(f"{setting.label}: verdicts", verdict_blocks(setting), "verdicts"),
        Section(
            f"{setting.label}: gaps to Retrain",
            (_results(setting.gaps, "Methods as differences to Retrain in points"),),
            "gaps",
        ),
        Section(f"{setting.label}: distance against cost", _cost_blocks(place, setting), "cost"),
        Section(f"{setting.label}: classes", _class_blocks(place, setting), "classes"),
    ]


NOISE_SAID = "The first line is the band of 95 % of the differences of every two Retrains. "


def _results(table: frames.ResultsTable, what: str) -> Table:
    heads = {frames.plain_head(column): column for column in table.columns}
    frame = table.frame.drop(
        columns="Family" if (table.frame["Status"] != "ok").any() else ["Family", "Status"]
    )
    return Table(
        caption=f"{what}. {table.interval} {NOISE_SAID if table.noise else ''}Original and Retrain "
        "are references, then the nearest to Retrain first.",
        frame=without_thin_spaces(frame),
        groups={head: column.group for head, column in heads.items()},
        heads={head: column.head for head, column in heads.items()},
    )


def _missing_cells(table: frames.ResultsTable) -> tuple[Block, ...]:
    """Why cells are empty: one line a reason, with the columns and methods that it is about."""
    why: dict[str, dict[str, list[str]]] = {}
    for column in table.columns:
        for row in table.rows:
            cell = row.cells[column.id]
            if cell.value is None:
                why.setdefault(cell.reason, {}).setdefault(frames.plain_head(column), []).append(
                    row.title
                )
    lines = []
    for reason, by_column in why.items():
        titles = list(dict.fromkeys(title for names in by_column.values() for title in names))
        lines.append(f"{MISSING} in {', '.join(by_column)} ({', '.join(titles)}): {reason}")
    return (Items(tuple(lines)),) if lines else ()


def _cost_blocks(place: int, setting: Setting) -> tuple[Block, ...]:
    found = cost_distance.cost_distance_info(setting.values.rows)
    if not found.dots:
        return (Text("Not drawn: no method has both a distance to Retrain and a cost."),)
    picture = Picture(
        name=f"{place}-cost",
        title="Distance against cost",
        sentence="Lower is nearer to Retrain, further left is cheaper.",
        figure=cost_distance.draw(found, dark=False, most=len(found.dots)),
        alt=cost_distance.alt_text(found),
        where=setting.label,
    )
    left = (Text(f"Without a distance: {', '.join(found.missing)}."),) if found.missing else ()
    return (picture, *left)


def _class_blocks(place: int, setting: Setting) -> tuple[Block, ...]:
    info = class_gaps.class_gaps_info(
        [
            (row.title, [setting.results[key] for key in row.keys if key in setting.results])
            for row in setting.values.methods
        ],
        [result for result in setting.results.values() if result.spec["method"] == "retrain"],
        _class_names(str(setting.runs.iloc[0]["dataset"])),
    )
    if not info.rows:
        return (
            Text("Not drawn: no method and its Retrain were stored with counts of each class."),
        )
    picture = Picture(
        name=f"{place}-classes",
        title="Test accuracy of each class against Retrain",
        sentence="Orange classes lost accuracy against Retrain, blue ones kept more than it has; "
        "a method as good as Retrain is white."
        + (" The grey line is the 95 % band of Retrains of other seeds." if info.noise else ""),
        figure=class_gaps.draw(info, dark=False),
        alt=class_gaps.alt_text(info),
        where=setting.label,
    )
    left = (
        (Text(f"Not drawn, because counts of each class are missing: {', '.join(info.missing)}."),)
        if info.missing
        else ()
    )
    return (picture, *left)


def _class_names(dataset: str) -> tuple[str, ...]:
    try:
        return catalog.dataset(dataset).class_names
    except UnknownName:
        return ()


VALUES = ["key", "metric", "value", "gap", "error"]  # the columns of `Store.metric_values`


def budget_blocks(found: Sequence[Setting]) -> tuple[Block, ...]:
    """One figure a scenario of which only the size of the forget set differs between settings."""
    groups: dict[tuple[str, ...], list[Setting]] = {}
    for setting in found:
        line = setting.runs.iloc[0]
        same = [str(line[name]) for name in ("scenario", "dataset", "model", "recipe")]
        rest = budget_frames.rest(str(line["scenario_parameters"]))
        groups.setdefault((*same, rest), []).append(setting)
    made: list[Block] = []
    for members in groups.values():
        runs = pd.concat([one.runs for one in members])
        if not budget_frames.grows(runs):
            continue
        judged = {key: line for one in members for key, line in one.judged.items()}
        curves = budget_frames.curves(
            budget_frames.alike(runs), pd.DataFrame(columns=VALUES), (), judged=judged
        )
        title = scenario_title(members[0].scenario)
        panel = budget_curves.budget_curves_info(curves, title)
        vivid = budget_curves.coloured(panel)
        made.append(
            Picture(
                name=f"budget-{len(made) + 1}",
                title=f"Distance to Retrain against the size of the forget set, {title}",
                sentence="In points; a line near the dotted one did nothing.",
                figure=budget_curves.draw(panel, budget_curves.up([panel]), vivid, dark=False),
                alt=budget_curves.alt_text(panel),
            )
        )
    return tuple(made)
