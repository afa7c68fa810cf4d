"""Intervals, ranks, tests of pairs, and how far metrics agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from dashboard.charts import critical_difference
from dashboard.frames import Row
from dashboard.report.blocks import Block, Items, Picture, Table, Text
from dashboard.report.selection import Setting
from dashboard.report.text import short_name, without_thin_spaces
from dashboard.report.verdicts import verdict_cells
from dashboard.text import units
from dashboard.text.labels import MINUS, MISSING, method_names, number
from mucore import statistics
from mucore.errors import BadValue

# Metrics of the tables of statistics, and those whose rankings are compared.
JUDGED = ("ta", "fa", "mia_confidence")
AGREEMENT = ("ta", "ra", "fa", "mia_confidence", "l2_normalised", "rte")


def computed_statistics(
    runs: pd.DataFrame, values: pd.DataFrame
) -> tuple[dict[str, statistics.Statistics], list[str]]:
    """By metric of `JUDGED`, and why some have none."""
    computed: dict[str, statistics.Statistics] = {}
    untold: list[str] = []
    agreement = [metric for metric in AGREEMENT if (values["metric"] == metric).any()]
    for metric in JUDGED:
        try:
            computed[metric] = statistics.statistics(
                runs, values, metric=metric, agreement=agreement
            )
        except BadValue as failure:
            untold.append(f"{short_name(metric)}: {failure}")
    return computed, untold


def statistics_blocks(
    computed: Mapping[str, statistics.Statistics],
    untold: Sequence[str],
    labels: Mapping[str, str],
    rows: Mapping[tuple[str, str], Row],
) -> tuple[Block, ...]:
    """Intervals, ranks, pairs and agreement of what `computed_statistics` found; `rows` as
    `rows_by_line` gives them.
    """
    notes = list(untold)
    if not computed:
        return Text(
            "No statistics: these runs have none of the numbers that they would be about."
        ), Items(tuple(notes))
    blocks: list[Block] = [_intervals(computed, labels, rows)]
    ranks = _ranks(computed)
    if ranks is not None:
        blocks.append(ranks)
    for metric, each in computed.items():
        # a critical difference that no two ranks can reach makes a diagram that says nothing
        if (
            each.ranking is not None
            and each.ranking.critical_difference < len(each.ranking.ranks) - 1
        ):
            info = critical_difference.critical_difference_info(
                each.ranking, {name: _line_names(name) for name in each.ranking.ranks}
            )
            blocks.append(
                Picture(
                    name=f"ranks-{metric}",
                    title=f"Average ranks in {short_name(metric)} over "
                    f"{units.count(each.ranking.blocks, 'setting')}",
                    sentence="Methods under one bar cannot be told apart.",
                    figure=critical_difference.draw(info, dark=False),
                    alt=critical_difference.alt_text(info),
                )
            )
    for metric, each in computed.items():
        different = (
            each.pairs[each.pairs["p_holm"] < 1 - statistics.LEVEL]
            if len(each.pairs)
            else each.pairs
        )
        if len(each.pairs):
            blocks.append(_pairs(metric, each, different))
        notes += [f"{short_name(metric)}: {relabelled(note, labels)}" for note in each.notes]
    first = next(iter(computed.values()))
    if len(first.tau):
        names = [short_name(str(name)) for name in first.tau.columns]
        tau = pd.DataFrame(
            [[_tau(value) for value in row] for row in first.tau.to_numpy(float)], columns=names
        )
        tau.insert(0, "Metric", names)
        blocks.append(
            Table(
                "Whether two metrics rank the methods alike: Kendall's tau, mean over settings; 1 "
                "is the same order.",
                tau,
            )
        )
    if notes:
        blocks.append(Items(tuple(dict.fromkeys(notes))))
    return tuple(blocks)


def ranking_labels(found: Sequence[Setting], runs: pd.DataFrame) -> dict[str, str]:
    """The ranking's short names of settings -> ours."""
    named = statistics.label_runs(runs).set_index("key")["setting"]
    return {str(named[setting.runs.iloc[0]["key"]]): setting.label for setting in found}


def rows_by_line(found: Sequence[Setting], runs: pd.DataFrame) -> dict[tuple[str, str], Row]:
    """The ranking's short names of settings and lines -> our rows, whose titles are told apart in
    their own settings alone.
    """
    named = statistics.label_runs(runs).set_index("key")[["setting", "line"]]
    names = {key: (str(setting), str(line)) for key, setting, line in named.itertuples()}
    return {names[key]: row for setting in found for row in setting.values.rows for key in row.keys}


def relabelled(text: str, labels: Mapping[str, str]) -> str:
    """`text` with the report's labels of settings in place of the ranking's."""
    for name in sorted(labels, key=len, reverse=True):
        text = text.replace(f" in {name}", f" in {labels[name]}")
    return text


def _line_title(line: str) -> str:
    return _line_names(line)[0]


def _line_names(line: str) -> tuple[str, str]:
    """ "finetune (tuned)" with the method's title, and its family."""
    name, _, extra = line.partition(" ")
    title, family = method_names(name)
    return f"{title} {extra}".strip(), family


def _intervals(
    computed: Mapping[str, statistics.Statistics],
    labels: Mapping[str, str],
    rows: Mapping[tuple[str, str], Row],
) -> Table:
    lines: dict[tuple[str, str], dict[str, str]] = {}
    groups: dict[str, str] = {}
    heads: dict[str, str] = {}
    for metric, each in computed.items():
        short = short_name(metric)
        for column, head in ((f"{short} mean, %", "mean"), (f"{short} gap, points", "gap, points")):
            groups[column], heads[column] = f"{short}, %", head
        for row in each.intervals.to_dict("records"):
            place, name = str(row["setting"]), str(row["method"])
            names = (labels.get(place, place), _line_title(name))
            line = lines.setdefault(
                names,
                {
                    "Setting": names[0],
                    "Method": names[1],
                    **verdict_cells(rows.get((place, name))),
                    "Seeds": number(row["seeds"], "count"),
                },
            )
            line[f"{short} mean, %"] = _span(row["mean"], row["low"], row["high"])
            line[f"{short} gap, points"] = _span(
                row["gap_mean"], row["gap_low"], row["gap_high"], signed=True
            )
    frame = pd.DataFrame(
        list(lines.values()),
        columns=["Setting", "Method", "Verdict", "Distance, points", "Seeds", *heads],
    ).fillna(MISSING)
    caption = f"Means with 95 % t-intervals over {statistics.AXIS}. One seed leaves no interval."
    return Table(
        caption, without_thin_spaces(frame), by="Setting", groups=groups, heads=heads, wide=True
    )


def _span(mean: float, low: float, high: float, *, signed: bool = False) -> str:
    text = number(mean, "percent", signed=signed)
    inside = math.isfinite(low) and math.isfinite(high)
    return (
        (
            f"{text} [{number(low, 'percent', signed=signed)}, "
            f"{number(high, 'percent', signed=signed)}]"
        )
        if inside
        else text
    )


def _ranks(computed: Mapping[str, statistics.Statistics]) -> Table | None:
    found = {metric: each.ranking for metric, each in computed.items() if each.ranking is not None}
    if not found:
        return None
    methods = list(dict.fromkeys(name for each in found.values() for name in each.ranks))
    lines = [
        {"Method": _line_title(name)}
        | {
            short_name(metric): f"{each.ranks[name]:.2f}" if name in each.ranks else MISSING
            for metric, each in found.items()
        }
        for name in methods
    ]
    told = "; ".join(
        f"{short_name(metric)} over {units.count(each.blocks, 'setting')}, Friedman p "
        f"{each.p:.2g}, critical difference {each.critical_difference:.2f}"
        for metric, each in found.items()
    )
    return Table(
        f"Average ranks, 1 is best: {told}. Two methods differ only if their ranks do by more "
        "than that; more settings make it smaller.",
        pd.DataFrame(lines),
    )


def _pairs(metric: str, each: statistics.Statistics, different: pd.DataFrame) -> Block:
    tested = (
        f"{units.count(len(each.pairs), 'pair')} over "
        f"{units.count(len(each.blocks), 'block')} of setting and training seed"
    )
    if different.empty:
        return Text(
            f"{short_name(metric)}: no two methods differ by Wilcoxon's signed-rank test, "
            f"corrected after Holm ({tested})."
        )
    lines = [
        {
            "Closer to the ideal": _line_title(
                str(row["first"] if row["difference"] < 0 else row["second"])
            ),
            "Than": _line_title(str(row["second"] if row["difference"] < 0 else row["first"])),
            "Difference, points": number(abs(float(row["difference"])), "percent"),
            "p, corrected": f"{row['p_holm']:.2g}",
        }
        for row in different.to_dict("records")
    ]
    return Table(
        f"{short_name(metric)}: pairs that differ ({each.score}; {tested}).", pd.DataFrame(lines)
    )


def _tau(value: float) -> str:
    return MISSING if math.isnan(value) else f"{value:.2f}".replace("-", MINUS)
