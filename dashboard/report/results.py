"""Tables and figures of every setting, and the figures over sizes of the forget set."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from dashboard import frames
from dashboard.charts import budget_curves, class_gaps, tradeoff
from dashboard.frames import budget as budget_frames
from dashboard.report.blocks import Block, Items, Picture, Section, Table, Text
from dashboard.report.selection import Setting
from dashboard.report.text import scenario_title, without_thin_spaces
from dashboard.report.verdicts import verdict_blocks
from dashboard.text.labels import MISSING
from dashboard.theme import LIGHT
from mucore import catalog
from mucore.errors import UnknownName


def setting_sections(place: int, setting: Setting) -> list[Section]:
    """Results, verdicts, gaps, trade-off figure and classes of the setting at `place` of the
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
        Section(
            f"{setting.label}: utility against forgetting",
            _tradeoff_blocks(place, setting),
            "tradeoff",
        ),
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


def _tradeoff_blocks(place: int, setting: Setting) -> tuple[Block, ...]:
    info = tradeoff.tradeoff_info(setting.values)
    if not info.marks:
        return (
            Text(
                "Not drawn: no method has both gaps, which need the Retrain of the same training "
                "seed."
            ),
        )
    picture = Picture(
        name=f"{place}-tradeoff",
        title="Utility against forgetting",
        sentence="The star is Retrain: nearer is better, lower costs accuracy. Names that would "
        "cover another are left out.",
        figure=with_names(tradeoff.draw(info, dark=False), info),
        alt=tradeoff.alt_text(info),
        where=setting.label,
    )
    left = (
        (Text(f"Not drawn, since a gap is missing: {', '.join(info.missing)}."),)
        if info.missing
        else ()
    )
    return (picture, *left)


def with_names(figure: go.Figure, info: tradeoff.TradeoffInfo) -> go.Figure:
    """The figure with a name beside every mark that has room for one: paper shows nothing on
    hover.
    """
    (x0, x1), (y0, y1) = info.all_x, info.all_y
    named = {note.text for note in figure.layout.annotations}
    # boxes in shares of the plot: names that stand already, centred above their marks
    taken = [
        _box((n.x - x0) / (x1 - x0), (n.y - y0) / (y1 - y0) + 0.06, len(n.text), 0.5)
        for n in figure.layout.annotations
    ]
    taken += [
        ((m.x - x0) / (x1 - x0) - 0.01, (m.y - y0) / (y1 - y0) - 0.02, 0.02, 0.04)
        for m in info.marks
    ]
    for mark in sorted(info.marks, key=lambda mark: abs(mark.x) + abs(mark.y), reverse=True):
        if mark.title in named:
            continue
        x, y = (mark.x - x0) / (x1 - x0), (mark.y - y0) / (y1 - y0)
        for side, anchor, shift in ((0.018, 0.0, 9), (-0.018, 1.0, -9)):
            # a little above, clear of the interval's bar
            box = _box(x + side, y + 0.02, len(mark.title), anchor)
            if (
                box[0] >= 0
                and box[0] + box[2] <= 1
                and not any(_meet(box, other) for other in taken)
            ):
                taken.append(box)
                note = {
                    "xanchor": "left" if anchor == 0.0 else "right",
                    "xshift": shift,
                    "yshift": 8,
                    "showarrow": False,
                }
                figure.add_annotation(
                    x=mark.x,
                    y=mark.y,
                    text=mark.title,
                    font={"size": 10, "color": LIGHT.muted},
                    **note,
                )
                break
    return figure


def _box(x: float, y: float, letters: int, anchor: float) -> tuple[float, float, float, float]:
    """Left, bottom, width and height of a name in shares of the plot; `anchor` is the share of it
    that lies left of `x`.
    """
    width = 0.0095 * letters
    return x - anchor * width, y - 0.02, width, 0.04


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return all(
        abs((one[i] + one[i + 2] / 2) - (other[i] + other[i + 2] / 2))
        < (one[i + 2] + other[i + 2]) / 2
        for i in (0, 1)
    )


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


def budget_blocks(found: Sequence[Setting], values: pd.DataFrame) -> tuple[Block, ...]:
    """One figure a scenario of which only the size of the forget set differs between settings."""
    groups: dict[tuple[str, ...], list[Setting]] = {}
    for setting in found:
        first = setting.runs.iloc[0]
        parameters = json.loads(str(first["scenario_parameters"]))
        if any(name in parameters for name in budget_frames.AMOUNTS):
            rest = json.dumps(
                {
                    name: value
                    for name, value in parameters.items()
                    if name not in budget_frames.AMOUNTS
                },
                sort_keys=True,
            )
            groups.setdefault(
                (
                    setting.scenario,
                    rest,
                    *(str(first[name]) for name in ("dataset", "model", "recipe")),
                ),
                [],
            ).append(setting)
    made: list[Block] = []
    for place, members in enumerate((each for each in groups.values() if len(each) > 1), start=1):
        whole = pd.concat([one.runs for one in members])
        runs, aside = budget_frames.alike(whole)
        left = budget_frames.left_out(
            aside, runs["training_seed"].nunique(), whole["training_seed"].nunique()
        )
        curves = budget_frames.curves(runs, values, ("ta", "fa"))
        info = budget_curves.budget_curves_info(curves, view="gap")
        made.append(
            Picture(
                name=f"budget-{place}",
                title="Gaps to Retrain against the size of the forget set, "
                f"{scenario_title(members[0].scenario)}",
                sentence="Zero is Retrain: a method that forgets large sets as well as small ones "
                f"stays level. {left}".strip(),
                figure=budget_curves.draw(info, dark=False),
                alt=budget_curves.alt_text(info),
            )
        )
    return tuple(made)
