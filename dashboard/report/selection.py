"""The runs that a report is about, by setting, and what can be said of them before it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dashboard import frames
from dashboard.frames import budget as budget_frames
from dashboard.report.text import scenario_title
from dashboard.text import units
from dashboard.text.labels import forget_set_text, number, value_title
from mucore import catalog, statistics
from mucore.store.rows import Result
from mucore.verdicts import Judged, judge


@dataclass(frozen=True, eq=False)
class Setting:
    """The runs of one data set, model, recipe, scenario and forget set, with their tables. `label`
    is unique in the report.
    """

    label: str
    scenario: str
    runs: pd.DataFrame
    values: frames.ResultsTable
    gaps: frames.ResultsTable
    results: Mapping[str, Result]
    judged: Mapping[str, Judged]


def settings(
    runs: pd.DataFrame,
    values: pd.DataFrame,
    results: Sequence[Result],
    references: Sequence[Result] = (),
) -> tuple[Setting, ...]:
    """The settings of the unlearning runs among `runs` (rows of `data.summaries`), in the
    catalogue's order of scenarios. Verdicts also rest on `references`, originals and Retrains that
    the store has of these settings beside `runs`.
    """
    runs = runs[runs["scenario"].notna()]
    order = [card.id for card in catalog.scenarios()]
    several = [name for name in ("dataset", "model", "recipe") if runs[name].nunique() > 1]
    by_key = {result.key: result for result in results}
    everything = {each.key: each for each in (*references, *results)}
    judged = {key: line for line in judge(everything.values()) for key in line.keys}
    places, labels = [], []
    for names, group in runs.groupby(list(statistics.SETTING), sort=True):
        found = {name: str(value) for name, value in zip(statistics.SETTING, names, strict=True)}
        places.append((found, group))
        label = (
            f"{scenario_title(found['scenario'])}, "
            f"{forget_set_text(found['scenario_parameters'], found['dataset'])}"
        )
        labels.append(" · ".join([label, *(value_title(name, found[name]) for name in several)]))
    labels = statistics.told_apart(labels, [found["hashes"] for found, _ in places])
    made = []
    for label, (found, group) in zip(labels, places, strict=True):
        known = found["scenario"] in order
        mine = values[values["key"].isin(group["key"])]
        class_wise = known and catalog.scenario(found["scenario"]).class_wise
        made.append(
            Setting(
                label=label,
                scenario=found["scenario"],
                runs=group,
                values=frames.results_table(
                    group, mine, view="value", class_wise=class_wise, judged=judged
                ),
                gaps=frames.results_table(
                    group, mine, view="gap", class_wise=class_wise, judged=judged
                ),
                results={key: by_key[key] for key in group["key"] if key in by_key},
                judged=judged,
            )
        )
    return tuple(
        sorted(
            made, key=lambda one: order.index(one.scenario) if one.scenario in order else len(order)
        )
    )


def outline(runs: pd.DataFrame) -> dict[str, str]:
    """What each part will hold, in a few words, from the table of runs alone; "" where it will be
    empty.
    """
    runs = runs[runs["scenario"].notna()]
    rows = [
        frames.row_id(method, text)
        for method, text in zip(runs["method"], runs["parameters"], strict=True)
    ]
    places = runs.assign(row=rows).groupby(list(statistics.SETTING), sort=False)
    facts = [
        (set(group["method"]), group["row"].nunique(), group["training_seed"].nunique())
        for _, group in places
    ]
    lines = sum(count for _, count, _ in facts)
    drawn = sum(
        "retrain" in methods and bool(methods - {"original", "retrain"}) for methods, _, _ in facts
    )
    sizes: dict[tuple, set[str]] = {}
    for names, _ in places:
        rest = budget_frames.rest(str(names[-1]))
        sizes.setdefault((*names[:-1], rest), set()).add(str(names[-1]))
    curves = sum(len(each) > 1 for each in sizes.values())
    tables = f"{units.count(len(facts), 'table')}, {units.count(lines, 'line')}"
    repeated = sum(seeds > 1 for _, _, seeds in facts)
    return {
        "answer": units.count(len(facts), "setting"),
        "results": tables,
        "verdicts": units.count(lines, "line"),
        "gaps": tables if drawn else "",
        "tradeoff": units.count(drawn, "figure") if drawn else "",
        "classes": units.count(drawn, "figure") if drawn else "",
        "budget": units.count(curves, "figure") if curves else "",
        "flags": "every flag, note and missing number",
        "cost": units.count(lines, "line"),
        "metrics": "those in the report",
        "statistics": f"intervals in {repeated} of {units.count(len(facts), 'setting')}",
        "configuration": units.count(len(runs), "run"),
        "commands": f"for {units.count(int((runs['method'] != 'original').sum()), 'run')}",
    }


def standing(runs: pd.DataFrame) -> tuple[frames.Answer, ...]:
    """What the selection rests on: runs, settings, seeds, and what has to be explained to a
    reader.
    """
    runs = runs[runs["scenario"].notna()]
    places = runs.groupby(list(statistics.SETTING), sort=False)
    seeds = [group["training_seed"].nunique() for _, group in places]
    compared = sum((group["method"] == "retrain").any() for _, group in places)
    methods = set(runs["method"]) - {"original", "retrain"}
    unsound = int((runs["status"] != "ok").sum())
    span = str(min(seeds)) if min(seeds) == max(seeds) else f"{min(seeds)} to {max(seeds)}"
    without = (
        "; the others have no gaps and no trade-off figure"
        if compared < len(seeds)
        else ", so all have gaps"
    )
    with_retrain = f"{'setting' if len(seeds) == 1 else 'settings'}{without}"
    return (
        frames.Answer(
            "Runs",
            number(len(runs), "count"),
            f"{units.count(len(methods), 'method')}, {units.count(len(seeds), 'setting')}",
        ),
        frames.Answer(
            "Training seeds a setting",
            span,
            "no interval" if max(seeds) == 1 else "95 % intervals where there are two or more",
        ),
        frames.Answer("With Retrain", f"{compared} of {len(seeds)}", with_retrain),
        frames.Answer(
            "Look twice",
            str(unsound),
            f"{'run' if unsound == 1 else 'runs'} diverged, reverted or unsolved; flags stand "
            "in the report",
        ),
    )
