"""Settings that have runs: what a selector offers of them, and what one method reached in each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from dashboard.frames.rows import Row, rows_by_setting
from dashboard.text.labels import (
    MISSING,
    Unit,
    forget_set_text,
    method_names,
    number,
    scenario_title,
    setup_text,
)
from dashboard.text.verdicts import text
from mucore import catalog
from mucore.statistics.runs import SETTING, told_apart
from mucore.verdicts import Judged


def setups(summaries: pd.DataFrame, column: str, **fixed: str) -> list[str]:
    """The distinct values of `column` among unlearning runs that match `fixed`: most methods first,
    then most runs, then by name.
    """
    chosen = summaries[summaries["scenario"].notna()]
    for name, value in fixed.items():
        chosen = chosen[chosen[name] == value]
    groups = chosen.groupby(column)
    methods, runs = groups["method"].nunique(), groups.size()
    return [
        str(name)
        for name in sorted(
            runs.index, key=lambda name: (-int(methods[name]), -int(runs[name]), str(name))
        )
    ]


# of what a method reached: the metric, which number of it, and the head of its column
SHOWN = (
    ("ta", "gap", "TA gap"),
    ("ra", "gap", "RA gap"),
    ("fa", "gap", "FA gap"),
    ("rte", "value", "RTE"),
    ("rte_work", "value", "Work"),
    ("l2_normalised", "value", "ℓ2"),
)


def method_settings(
    summaries: pd.DataFrame,
    values: pd.DataFrame,
    *,
    method: str,
    judged: Mapping[str, Judged] | None = None,
) -> tuple[Row, ...]:
    """What `method` reached everywhere: a row for each setting and set of parameters, entitled by
    what tells it from the others; its id is the run that stands for it, that of its first training
    seed. In the catalogue's order of scenarios, small forget sets first.

    `summaries` holds at least all runs of `method` with a scenario; `judged` gives each the line
    that it belongs to.
    """
    runs = summaries[(summaries["method"] == method) & summaries["scenario"].notna()]
    settings = runs.groupby(list(SETTING), sort=False).ngroup().tolist()
    wanted = [name for name, *_ in SHOWN if name != "rte_work" or name in set(values["metric"])]
    found = rows_by_setting(runs, values, wanted, settings, judged=judged)
    lines = runs.set_index("key")
    sets = runs.groupby("scenario")["scenario_parameters"].nunique()
    setup = lines[["dataset", "model", "recipe"]].agg(tuple, axis=1)
    shown = [row.keys[0] for group in found.values() for row in group]
    usual = setup[shown].mode().iloc[:1].tolist()  # goes without saying
    rows, titles = [], []
    for row in (row for group in found.values() for row in group):
        line = lines.loc[row.keys[0]]
        parts = [scenario_title(line["scenario"])]
        if sets[line["scenario"]] > 1:
            parts.append(forget_set_text(line["scenario_parameters"], line["dataset"]))
        if setup[row.keys[0]] not in usual:
            parts.append(setup_text(line))
        if variant := row.title.removeprefix(method_names(method)[0]).strip(" ()"):
            parts.append(variant)
        rows.append(replace(row, id=row.keys[0]))
        titles.append(" · ".join(parts))
    titles = told_apart(titles, [str(lines.loc[row.id, "hashes"]) for row in rows])
    order = {card.id: place for place, card in enumerate(catalog.scenarios())}
    named = [replace(row, title=title) for row, title in zip(rows, titles, strict=True)]
    places = zip(lines["scenario"].map(order), lines["forget_count"], strict=True)
    place = dict(zip(lines.index, places, strict=True))
    return tuple(sorted(named, key=lambda row: (place[row.id], row.title)))


def settings_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """The method page's table: one line a setting, text as shown; with the share of Retrain's work
    where any run counted its own.
    """
    made = []
    for row in rows:
        line = {
            "Setting": row.title,
            "Runs": f"{len(row.keys)}",
            "Verdict": MISSING if row.verdict is None else text(row.verdict),
            "Distance (points)": number(row.away, "percent"),
        }
        for name, kind, head in SHOWN:
            if name in row.cells:
                gap = kind == "gap"
                estimate = row.cells[name].gap if gap else row.cells[name].value
                unit: Unit = "percent" if gap else "ratio"
                line[head] = number(None if estimate is None else estimate.mean, unit, signed=gap)
        made.append(line | {"Status": row.status})
    return pd.DataFrame(made)
