"""The whole report of a selection."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pandas as pd

from dashboard import frames
from dashboard.charts import budget_curves
from dashboard.frames import budget
from dashboard.report.blocks import Block, Command, Facts, Picture, Report, Section, Text
from dashboard.report.ranks import ranks
from dashboard.report.reproduce import script
from dashboard.report.setting import REFERENCES, Setting, section, settings
from dashboard.text import labels
from mucore import catalog
from mucore.store import Store
from mucore.store.rows import Result
from mucore.verdicts import VERDICT_REVISION, Judged, judge_stored

TITLE = "Machine unlearning report"
REPEAT = "Run them in the project's folder, in any order. Stored runs are not computed again."
VALUES = ["key", "metric", "value", "gap", "error"]  # the columns of `Store.metric_values`


def read(store: Store, keys: Sequence[str]) -> tuple[list[Setting], dict[str, Judged]]:
    """The settings of these runs of one data set, model and recipe, and their verdicts by key."""
    judged = judge_stored(store, keys=keys)
    return settings(store.summaries(keys=keys), store.metric_values(keys=keys), judged), judged


def build(store: Store, keys: Sequence[str], comparison: str = "") -> Report:
    """The report of these runs; `comparison` is the name and note of the comparison that they were
    made for.
    """
    found, judged = read(store, keys)
    results = {result.key: result for result in store.results(metrics=False, keys=keys)}
    runs = pd.concat([each.runs for each in found])
    values = pd.concat([each.values for each in found])
    sections = [
        Section("What was run", (asked(found, runs, [*results.values()], comparison),)),
        *(section(place, each, results) for place, each in enumerate(found, start=1)),
        Section("Across forget set sizes", curves(runs, judged)),
        Section("Average ranks", ranks(runs, values, judged)),
        Section("Commands", (Text(REPEAT), *(repeats(each, results) for each in found))),
        Section("Terms", (words(found),)),
    ]
    kept = tuple(each for each in sections if each.blocks)
    return Report(TITLE, kept, bool(runs["demo"].all()), datetime.now(UTC))


def asked(
    found: Sequence[Setting], runs: pd.DataFrame, results: Sequence[Result], comparison: str
) -> Facts:
    """Scenarios, data, model, methods, seeds, time and versions."""
    scenarios = [catalog.scenario(name) for name in dict.fromkeys(one.scenario for one in found)]
    order = [card.id for card in (catalog.ORIGINAL, *catalog.methods())]
    methods, tried = set(runs["method"]), runs[~runs["method"].isin(REFERENCES)]
    methods = [*(each for each in order if each in methods), *sorted(methods - {*order})]
    versions = {
        ", ".join(f"{name} {version}" for name, version in one.versions.items()) for one in results
    }

    def named(column: str) -> str:
        return "; ".join(sorted(map(str, runs[column].unique())))

    facts = [
        *([("Comparison", comparison)] if comparison else []),
        *((card.title, card.meaning) for card in scenarios),
        *(
            (title, labels.value_title(column, str(runs.iloc[0][column])))
            for title, column in (("Data set", "dataset"), ("Model", "model"), ("Recipe", "recipe"))
        ),
        ("Data hash", "; ".join(sorted({one.data_hash for one in results}))),
        ("Methods", ", ".join(labels.method_names(each)[0] for each in methods)),
        ("Settings", ", ".join(sorted(map(labels.preset_title, set(tried["method_preset"]))))),
        ("Training seeds", ", ".join(map(str, sorted(set(runs["training_seed"]))))),
        ("Runs", f"{len(runs)}, finished by {runs['finished'].max():%Y-%m-%d %H:%M} UTC"),
        ("Devices", f"{named('device')} ({named('precision')})"),
        ("Versions", "; ".join(sorted(versions))),
        ("Rule of verdicts", f"revision {VERDICT_REVISION}"),
    ]
    return Facts(tuple(facts))


def curves(runs: pd.DataFrame, judged: dict[str, Judged]) -> tuple[Block, ...]:
    """Distance against the size of the forget set, a figure a scenario that has several sizes."""
    made = []
    for name, mine in budget.panels(runs).items():
        line, values = mine.iloc[0], pd.DataFrame(columns=VALUES)
        title = labels.set_title(line["scenario"], line["scenario_parameters"], line["dataset"])
        found = budget.curves(budget.alike(mine), values, (), judged=judged)
        panel = budget_curves.budget_curves_info(found, title)
        if not panel.series:
            continue
        vivid, up = budget_curves.coloured(panel), budget_curves.up([panel])
        made.append(
            Picture(
                name=f"budget-{name}",
                title="Distance to Retrain against the size of the forget set",
                sentence="In points. A line near the dotted one did nothing.",
                figure=budget_curves.draw(panel, up, vivid, dark=False),
                alt=budget_curves.alt_text(panel),
            )
        )
    return tuple(made)


def repeats(setting: Setting, results: dict[str, Result]) -> Command:
    rows = [(row.title, [results[key].spec for key in row.keys]) for row in setting.table.rows]
    return Command(setting.label, script(rows))


def words(found: Sequence[Setting]) -> Facts:
    """The verdicts, and the columns of the tables."""
    columns = {column.head: column.help for one in found for column in one.table.columns}
    verdicts = {
        card.title: card.meaning for card in catalog.verdicts() if card.id != frames.DISTANCE
    }
    return Facts(tuple({**verdicts, **columns}.items()))
