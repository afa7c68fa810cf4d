"""An evidence report: what was asked, the answer, tables, figures, caveats and the commands that repeat it, as a list of plain blocks.

Pandas and whole results in, frozen records out; evidence_html.py and evidence_latex.py write them. No Streamlit, no store. Texts are as
shown: what a person typed is kept as it is here and escaped by whoever writes it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import budget_frames, describe, frames, words
from dashboard.charts import budget_curves, class_gaps, critical_difference, tradeoff
from dashboard.describe import MISSING, THIN, number
from dashboard.theme import LIGHT
from mucore import catalog, ranking
from mucore.errors import BadValue, MucoreError, UnknownName
from mucore.store.records import Result

# Parts that a reader may leave out; what was asked and what to be careful with always stay.
PARTS = {
    "answer": "The answer",
    "results": "Results with intervals",
    "gaps": "Gaps to Retrain",
    "tradeoff": "Trade-off figure",
    "classes": "Accuracy of each class",
    "budget": "Across forget set sizes",
    "flags": "Flags and notes in full",
    "cost": "Cost",
    "metrics": "What the numbers mean",
    "statistics": "Statistics",
    "configuration": "Configuration of every run",
    "commands": "Commands that repeat the runs",
}
MAX_RUNS = 500  # more than this nobody reads, and a PDF of it takes minutes
MAX_TITLE, MAX_AUTHOR, MAX_REMARK = 120, 120, 2000
DEFAULT_TITLE = "Machine unlearning: evidence report"
# Metrics of the tables of statistics, and those whose rankings are compared.
JUDGED = ("ta", "fa", "mia_confidence")
AGREEMENT = ("ta", "ra", "fa", "mia_confidence", "l2_normalised", "rte")
COSTS = {
    "unlearning_seconds": "Seconds",
    "rte": "RTE",
    "optimizer_steps": "Steps",
    "samples_read": "Samples read",
    "persistent_bytes": "Kept",
    "scratch_bytes": "Aside",
    "peak_memory_bytes": "Peak memory",
}
# Fewer seeds than this give intervals so wide that they rarely separate two methods.
FEW_SEEDS = 5


# --- blocks --------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Items:
    items: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """Names with what they are."""

    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class Table:
    """`frame` holds texts as shown, one row a line, the first column its name. `groups` names a heading for columns that have one;
    rows with equal neighbours in the column `by` stand under one line, and that column is not shown."""

    caption: str
    frame: pd.DataFrame
    by: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    heads: Mapping[str, str] = field(default_factory=dict)  # shorter heads where a group says the rest
    wide: bool = False  # needs a landscape page


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure, the sentence above it, and its words for a reader who cannot see it. `name` is short and unique: a file name, an id.
    `where` is the setting that it is about, where the heading above it says so."""

    name: str
    title: str
    sentence: str
    figure: go.Figure
    alt: str
    where: str = ""


@dataclass(frozen=True)
class Command:
    label: str
    text: str


Block = Text | Items | Facts | Table | Picture | Command


@dataclass(frozen=True)
class Section:
    """One heading and what stands below it; `part` is a key of `PARTS`, "" where it always stays. `level` is 2, or 3 within another."""

    title: str
    blocks: tuple[Block, ...]
    part: str = ""
    level: int = 2
    wide: bool = False


@dataclass(frozen=True)
class Report:
    sections: tuple[Section, ...]
    demo: bool
    made: datetime
    title: str = DEFAULT_TITLE
    author: str = ""
    remark: str = ""

    @property
    def pictures(self) -> tuple[Picture, ...]:
        return tuple(block for section in self.sections for block in section.blocks if isinstance(block, Picture))

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(block for section in self.sections for block in section.blocks if isinstance(block, Table))

    def titled(self, title: str, author: str, remark: str) -> Report:
        """The same with what a person typed, cut to length and rid of control characters; an empty title is the usual one."""
        return replace(
            self,
            title=printable(title, MAX_TITLE) or DEFAULT_TITLE,
            author=printable(author, MAX_AUTHOR),
            remark=printable(remark, MAX_REMARK),
        )

    def only(self, parts: Sequence[str]) -> Report:
        """The sections of these parts and those that always stay; a heading above nothing goes."""
        kept = [section for section in self.sections if not section.part or section.part in parts]
        full = [
            section
            for place, section in enumerate(kept)
            if section.blocks or (place + 1 < len(kept) and kept[place + 1].level > section.level)
        ]
        return replace(self, sections=tuple(full))


def listed(picture: Picture) -> str:
    """A line of the list that goes with the files of figures."""
    return f"{picture.name}: {picture.title}{f', {picture.where}' if picture.where else ''}. {picture.alt}\n"


def printable(text: str, most: int) -> str:
    """`text` without control characters, at most `most` long."""
    kept = "".join(char if char.isprintable() or char == "\n" else " " for char in text)
    return kept.strip()[:most].rstrip()


# --- the selection -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Setting:
    """The runs of one data set, model, recipe, scenario and forget set, with their tables. `label` is unique in the report."""

    label: str
    scenario: str
    runs: pd.DataFrame
    values: frames.ResultsTable
    gaps: frames.ResultsTable
    results: Mapping[str, Result]


def settings(runs: pd.DataFrame, values: pd.DataFrame, results: Sequence[Result]) -> tuple[Setting, ...]:
    """The settings of the unlearning runs among `runs` (rows of `data.summaries`), in the catalogue's order of scenarios."""
    runs = runs[runs["scenario"].notna()]
    order = [card.id for card in catalog.scenarios()]
    several = [name for name in ("dataset", "model", "recipe") if runs[name].nunique() > 1]
    by_key = {result.key: result for result in results}
    made = []
    for names, group in runs.groupby(list(ranking.SETTING), sort=True):
        found = {name: str(value) for name, value in zip(ranking.SETTING, names, strict=True)}
        known = found["scenario"] in order
        label = f"{_scenario_title(found['scenario'])}, {describe.settings_text(found['scenario_parameters'])}"
        extra = [describe.recipe_text(found[name]) if name == "recipe" else found[name] for name in several]
        mine = values[values["key"].isin(group["key"])]
        class_wise = known and catalog.scenario(found["scenario"]).class_wise
        made.append(
            Setting(
                label=" · ".join([label, *extra]),
                scenario=found["scenario"],
                runs=group,
                values=frames.results_table(group, mine, view="value", class_wise=class_wise),
                gaps=frames.results_table(group, mine, view="gap", class_wise=class_wise),
                results={key: by_key[key] for key in group["key"] if key in by_key},
            )
        )
    return tuple(sorted(made, key=lambda one: order.index(one.scenario) if one.scenario in order else len(order)))


def build(runs: pd.DataFrame, values: pd.DataFrame, results: Sequence[Result], *, made: datetime, comparison: str = "") -> Report:
    """The whole report of `runs`. `values` are their metrics, `results` their records; every part is in it, `Report.only` picks some.
    `comparison` is the name and note of the comparison that they were made for.

    Raises `BadValue` where no run forgets anything, or where there are more runs than a reader can take in.
    """
    runs = runs[runs["scenario"].notna()]
    if runs.empty:
        raise BadValue("No run of this selection forgets anything, so there is nothing to report.")
    if len(runs) > MAX_RUNS:
        raise BadValue(
            f"{words.count(len(runs), 'run')} are too many for one report; at most {MAX_RUNS}. Choose fewer scenarios or methods."
        )
    values = values[values["key"].isin(runs["key"])]
    found = settings(runs, values, results)
    computed, untold = _statistics(runs, values)
    suspicions = next((each.suspicions for each in computed.values()), None)
    suspicions = ranking.suspicions(runs, values) if suspicions is None else suspicions
    labels = _ranking_labels(found, runs)
    commands = _commands(found)
    sections = [
        Section("What was asked", (_asked(found, runs, comparison),)),
        Section("The answer", (_answers(found, suspicions, labels),), "answer"),
        Section("Read with care", (Items(_caveats(found, runs, values)),)),
        Section("Results", ()),
    ]
    for place, setting in enumerate(found, start=1):
        sections += [replace(section, level=3) for section in _setting_sections(place, setting)]
    sections += [
        Section("Across forget set sizes", _budget_blocks(found, values), "budget"),
        Section("Flags and notes", _flag_blocks(found, suspicions, labels), "flags"),
        Section("Cost", _cost_blocks(found, values), "cost"),
        Section("What the numbers mean", (_meanings(found, values),), "metrics"),
        Section("Statistics", _statistics_blocks(computed, untold, labels), "statistics", wide=True),
        Section("Configuration of every run", _configuration_blocks(found, commands), "configuration", wide=True),
        Section("Commands that repeat the runs", _command_blocks(commands), "commands"),
    ]
    return Report(sections=tuple(sections), demo=bool(runs["demo"].all()), made=made).only(list(PARTS))


def outline(runs: pd.DataFrame) -> dict[str, str]:
    """What each part will hold, in a few words, from the table of runs alone; "" where it will be empty."""
    runs = runs[runs["scenario"].notna()]
    rows = [frames.row_id(method, text) for method, text in zip(runs["method"], runs["parameters"], strict=True)]
    places = runs.assign(row=rows).groupby(list(ranking.SETTING), sort=False)
    facts = [(set(group["method"]), group["row"].nunique(), group["training_seed"].nunique()) for _, group in places]
    lines = sum(count for _, count, _ in facts)
    drawn = sum("retrain" in methods and bool(methods - {"original", "retrain"}) for methods, _, _ in facts)
    sizes: dict[tuple, set[str]] = {}
    for names, _ in places:
        parameters = json.loads(str(names[-1]))
        if any(name in parameters for name in budget_frames.AMOUNTS):
            rest = json.dumps({name: value for name, value in parameters.items() if name not in budget_frames.AMOUNTS}, sort_keys=True)
            sizes.setdefault((*names[:-1], rest), set()).add(str(names[-1]))
    curves = sum(len(each) > 1 for each in sizes.values())
    tables = f"{words.count(len(facts), 'table')}, {words.count(lines, 'line')}"
    repeated = sum(seeds > 1 for _, _, seeds in facts)
    return {
        "answer": words.count(len(facts), "setting"),
        "results": tables,
        "gaps": tables if drawn else "",
        "tradeoff": words.count(drawn, "figure") if drawn else "",
        "classes": words.count(drawn, "figure") if drawn else "",
        "budget": words.count(curves, "figure") if curves else "",
        "flags": "every flag, note and missing number",
        "cost": words.count(lines, "line"),
        "metrics": "those in the report",
        "statistics": f"intervals in {repeated} of {words.count(len(facts), 'setting')}",
        "configuration": words.count(len(runs), "run"),
        "commands": f"for {words.count(int((runs['method'] != 'original').sum()), 'run')}",
    }


def standing(runs: pd.DataFrame) -> tuple[frames.Answer, ...]:
    """What the selection rests on: runs, settings, seeds, and what has to be explained to a reader."""
    runs = runs[runs["scenario"].notna()]
    places = runs.groupby(list(ranking.SETTING), sort=False)
    seeds = [group["training_seed"].nunique() for _, group in places]
    compared = sum((group["method"] == "retrain").any() for _, group in places)
    methods = set(runs["method"]) - {"original", "retrain"}
    unsound = int((runs["status"] != "ok").sum())
    span = str(min(seeds)) if min(seeds) == max(seeds) else f"{min(seeds)} to {max(seeds)}"
    return (
        frames.Answer("Runs", number(len(runs), "count"), f"{words.count(len(methods), 'method')}, {words.count(len(seeds), 'setting')}"),
        frames.Answer("Training seeds a setting", span, "no interval" if max(seeds) == 1 else "95 % intervals where there are two or more"),
        frames.Answer("With Retrain", f"{compared} of {len(seeds)}", "settings; the others have no gaps and no trade-off figure"),
        frames.Answer("Look twice", str(unsound), f"{'run' if unsound == 1 else 'runs'} diverged or reverted; flags stand in the report"),
    )


# --- what was asked, the answer, caveats ---------------------------------------------------------------------------------------------


def _asked(found: Sequence[Setting], runs: pd.DataFrame, comparison: str) -> Facts:
    facts: list[tuple[str, str]] = []
    if comparison:
        facts.append(("Comparison", comparison))
    for scenario in dict.fromkeys(setting.scenario for setting in found):
        try:
            card = catalog.scenario(scenario)
            facts.append(("Question", f"{card.question} {card.title}: {card.meaning}"))
        except UnknownName:
            facts.append(("Question", f"Scenario {scenario}, which this version does not know."))
    for setting in found:
        counts = sorted(set(setting.runs["forget_count"]))
        size = words.count(int(counts[0]), "sample") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} samples"
        hashes = sorted(set(setting.runs["forget_hash"].dropna()))
        shown = ", ".join(hashes[:3]) + (f" and {len(hashes) - 3} more" if len(hashes) > 3 else "")
        facts.append(("Forget set", f"{setting.label}: {size}, hash {shown or MISSING}"))
    for name, column in (("Data set", "dataset"), ("Model", "model")):
        facts.append((name, ", ".join(_dataset_title(one) if column == "dataset" else one for one in sorted(set(runs[column])))))
    facts += [("Recipe", _recipe(text)) for text in sorted(set(runs["recipe"]))]
    methods = [describe.method_names(name)[0] for name in _in_order(set(runs["method"]))]
    facts.append(("Methods", ", ".join(methods)))
    seeds = sorted({int(seed) for seed in runs["training_seed"]})
    facts.append(("Runs", f"{words.count(len(runs), 'run')}, {words.count(len(seeds), 'training seed')} ({_spans(seeds)})"))
    moments = runs["finished"].dropna()
    if len(moments):
        facts.append(("Computed", f"{moments.min():%Y-%m-%d %H:%M} to {moments.max():%Y-%m-%d %H:%M} UTC"))
    if bool(runs["demo"].all()):
        facts.append(("Source", "Demo results: of a real run that comes with the program."))
    return Facts(tuple(facts))


def _answers(found: Sequence[Setting], suspicions: Sequence[ranking.Suspicion], labels: Mapping[str, str]) -> Table:
    lines = []
    for setting in found:
        flagged = sum(bool(result.flags) for result in setting.results.values())
        outside = len({(one.method, one.parameters) for one in suspicions if labels.get(one.setting) == setting.label})
        for answer in frames.answers(setting.values, flagged=flagged, outside=outside):
            lines.append({"Setting": setting.label, "Asked": answer.label, "Answer": answer.value, "How it stands": answer.detail})
    caption = "Only methods whose runs all ended well compete. Distances are to the retrained model of the same training seed."
    return Table(caption, _plain(pd.DataFrame(lines, columns=["Setting", "Asked", "Answer", "How it stands"])), by="Setting")


def _caveats(found: Sequence[Setting], runs: pd.DataFrame, values: pd.DataFrame) -> tuple[str, ...]:
    said = []
    least = min(setting.runs["training_seed"].nunique() for setting in found)
    if least == 1:
        alone = [setting.label for setting in found if setting.runs["training_seed"].nunique() == 1]
        where = "everywhere" if len(alone) == len(found) else "in " + "; ".join(alone)
        said.append(f"One training seed {where}: those numbers have no interval, and another training may order the methods otherwise.")
    elif least < FEW_SEEDS:
        said.append(f"With {words.count(least, 'training seed')} the intervals are wide; that two of them overlap does not mean equal.")
    for setting in found:
        missing = sorted({row.title for row in setting.values.methods if row.cells["ta"].gap is None and row.cells["ta"].value is not None})
        if missing:
            said.append(f"Without a Retrain of the same training seed there is no gap: {', '.join(missing)} in {setting.label}.")
    attacks = []
    for name in frames.MIA:
        mine = values[values["metric"] == f"{name}_attack_accuracy"]["value"].dropna()
        if len(mine):
            low, high = number(mine.min(), "percent"), number(mine.max(), "percent")
            attacks.append(f"{name.removeprefix('mia_').replace('_', '-')} {low} to {high} %")
    if attacks:
        said.append(
            f"Own accuracy of the membership attacks on held-out samples: {', '.join(attacks)}. 50 % is a guess, and what an attack near "
            "a guess says about the forget set is no evidence."
        )
    statuses = runs.loc[runs["status"] != "ok", "status"].value_counts()
    said += [f"{words.count(int(count), 'run')} {status}; their values count like the others'." for status, count in statuses.items()]
    lost = values["value"].isna() & values["error"].notna()
    if lost.any():
        said.append(f"{words.count(int(lost.sum()), 'number is', 'numbers are')} missing; Flags and notes gives the reasons.")
    costs = [result.cost for setting in found for result in setting.results.values()]
    if any(cost.get("shared_device") for cost in costs):
        said.append("Some runs shared their device with others, so their times are too long.")
    for column, what in (("device", "devices"), ("precision", "precisions")):
        kinds = sorted(set(runs[column].dropna()))
        if len(kinds) > 1:
            said.append(f"Several {what}: {', '.join(kinds)}. Times and last digits do not compare across them.")
    if len({_versions(result) for setting in found for result in setting.results.values()}) > 1:
        said.append("The runs were made with different versions of the program or its libraries.")
    presets = set(runs.loc[~runs["method"].isin(["original", "retrain"]), "method_preset"])
    if "authors" in presets:
        said.append("Parameters of the preset authors were chosen by the methods' authors for other data and models than these, as a rule.")
    if bool(runs["demo"].any()):
        said.append("These are the demo results that come with the program, not yours.")
    said.append("The comparison speaks about this data set, model, recipe and these forget sets; nothing here extends it to others.")
    return tuple(said)


# --- one setting ---------------------------------------------------------------------------------------------------------------------


def _setting_sections(place: int, setting: Setting) -> list[Section]:
    reasons = _missing_cells(setting.values)
    return [
        Section(f"{setting.label}: results", (_results(setting.values, "Values"), *reasons), "results"),
        Section(f"{setting.label}: gaps to Retrain", (_results(setting.gaps, "Methods as differences to Retrain in points"),), "gaps"),
        Section(f"{setting.label}: utility against forgetting", _tradeoff_blocks(place, setting), "tradeoff"),
        Section(f"{setting.label}: classes", _class_blocks(place, setting), "classes"),
    ]


def _results(table: frames.ResultsTable, what: str) -> Table:
    heads = {frames.plain_head(column): column for column in table.columns}
    frame = table.frame if (table.frame["Status"] != "ok").any() else table.frame.drop(columns="Status")
    return Table(
        caption=f"{what}. {table.interval} Original and Retrain are references.",
        frame=_plain(frame),
        by="Family",
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
                why.setdefault(cell.reason, {}).setdefault(frames.plain_head(column), []).append(row.title)
    lines = []
    for reason, by_column in why.items():
        titles = list(dict.fromkeys(title for names in by_column.values() for title in names))
        lines.append(f"{MISSING} in {', '.join(by_column)} ({', '.join(titles)}): {reason}")
    return (Items(tuple(lines)),) if lines else ()


def _tradeoff_blocks(place: int, setting: Setting) -> tuple[Block, ...]:
    info = tradeoff.tradeoff_info(setting.values)
    if not info.marks:
        return (Text("Not drawn: no method has both gaps, which need the Retrain of the same training seed."),)
    picture = Picture(
        name=f"{place}-tradeoff",
        title="Utility against forgetting",
        sentence="The star is Retrain: nearer is better, lower costs accuracy. Names that would cover another are left out.",
        figure=_with_names(tradeoff.draw(info, dark=False), info),
        alt=tradeoff.alt_text(info),
        where=setting.label,
    )
    left = (Text(f"Not drawn, for want of a gap: {', '.join(info.missing)}."),) if info.missing else ()
    return (picture, *left)


def _with_names(figure: go.Figure, info: tradeoff.TradeoffInfo) -> go.Figure:
    """The figure with a name beside every mark that has room for one: paper shows nothing on hover."""
    (x0, x1), (y0, y1) = info.all_x, info.all_y
    named = {note.text for note in figure.layout.annotations}
    # boxes in shares of the plot: names that stand already, centred above their marks
    taken = [_box((n.x - x0) / (x1 - x0), (n.y - y0) / (y1 - y0) + 0.06, len(n.text), 0.5) for n in figure.layout.annotations]
    taken += [((m.x - x0) / (x1 - x0) - 0.01, (m.y - y0) / (y1 - y0) - 0.02, 0.02, 0.04) for m in info.marks]
    for mark in sorted(info.marks, key=lambda mark: abs(mark.x) + abs(mark.y), reverse=True):
        if mark.title in named:
            continue
        x, y = (mark.x - x0) / (x1 - x0), (mark.y - y0) / (y1 - y0)
        for side, anchor, shift in ((0.018, 0.0, 9), (-0.018, 1.0, -9)):
            box = _box(x + side, y + 0.02, len(mark.title), anchor)  # a little above, clear of the interval's bar
            if box[0] >= 0 and box[0] + box[2] <= 1 and not any(_meet(box, other) for other in taken):
                taken.append(box)
                note = {"xanchor": "left" if anchor == 0.0 else "right", "xshift": shift, "yshift": 8, "showarrow": False}
                figure.add_annotation(x=mark.x, y=mark.y, text=mark.title, font={"size": 10, "color": LIGHT.muted}, **note)
                break
    return figure


def _box(x: float, y: float, letters: int, anchor: float) -> tuple[float, float, float, float]:
    """Left, bottom, width and height of a name in shares of the plot; `anchor` is the share of it that lies left of `x`."""
    width = 0.0095 * letters
    return x - anchor * width, y - 0.02, width, 0.04


def _meet(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return all(abs((one[i] + one[i + 2] / 2) - (other[i] + other[i + 2] / 2)) < (one[i + 2] + other[i + 2]) / 2 for i in (0, 1))


def _class_blocks(place: int, setting: Setting) -> tuple[Block, ...]:
    info = class_gaps.class_gaps_info(
        [(row.title, [setting.results[key] for key in row.keys if key in setting.results]) for row in setting.values.methods],
        [result for result in setting.results.values() if result.spec["method"] == "retrain"],
        _class_names(str(setting.runs.iloc[0]["dataset"])),
    )
    if not info.rows:
        return (Text("Not drawn: no method and its Retrain were stored with counts of each class."),)
    picture = Picture(
        name=f"{place}-classes",
        title="Test accuracy of each class against Retrain",
        sentence="Orange classes lost accuracy against Retrain, blue ones kept more than it has; a method as good as Retrain is white.",
        figure=class_gaps.draw(info, dark=False),
        alt=class_gaps.alt_text(info),
        where=setting.label,
    )
    left = (Text(f"Not drawn, for want of counts of each class: {', '.join(info.missing)}."),) if info.missing else ()
    return (picture, *left)


def _budget_blocks(found: Sequence[Setting], values: pd.DataFrame) -> tuple[Block, ...]:
    """One figure a scenario of which only the size of the forget set differs between settings."""
    groups: dict[tuple[str, ...], list[Setting]] = {}
    for setting in found:
        first = setting.runs.iloc[0]
        parameters = json.loads(str(first["scenario_parameters"]))
        if any(name in parameters for name in budget_frames.AMOUNTS):
            rest = json.dumps({name: value for name, value in parameters.items() if name not in budget_frames.AMOUNTS}, sort_keys=True)
            groups.setdefault((setting.scenario, rest, *(str(first[name]) for name in ("dataset", "model", "recipe"))), []).append(setting)
    made: list[Block] = []
    for place, members in enumerate((each for each in groups.values() if len(each) > 1), start=1):
        curves = budget_frames.curves(pd.concat([one.runs for one in members]), values, ("ta", "fa"))
        info = budget_curves.budget_curves_info(curves, view="gap")
        made.append(
            Picture(
                name=f"budget-{place}",
                title=f"Gaps to Retrain against the size of the forget set, {_scenario_title(members[0].scenario)}",
                sentence="Zero is Retrain: a method that forgets large sets as well as small ones stays level.",
                figure=budget_curves.draw(info, dark=False),
                alt=budget_curves.alt_text(info),
            )
        )
    return tuple(made)


# --- flags and notes -----------------------------------------------------------------------------------------------------------------


def _flag_blocks(found: Sequence[Setting], suspicions: Sequence[ranking.Suspicion], labels: Mapping[str, str]) -> tuple[Block, ...]:
    outside = [
        _relabelled(one.sentence, labels).replace(f" of {one.method} ", f" of {describe.method_names(one.method)[0]} ")
        for one in suspicions
    ]
    flags = [f"{_run_name(result, setting)}: {flag}" for setting in found for result in setting.results.values() for flag in result.flags]
    stopped = [
        f"{_run_name(result, setting)}: {result.status}{f', {result.stop_reason}' if result.stop_reason else ''}"
        for setting in found
        for result in setting.results.values()
        if result.status != "ok"
    ]
    blocks: list[Block] = [Items((*outside, *flags, *stopped))] if outside or flags or stopped else []
    if not blocks:
        blocks.append(Text("No run carries a sanity flag, none diverged, and no value leaves the range of Original and Retrain."))
    everything = [(setting, result) for setting in found for result in setting.results.values()]
    notes = _counted([(note, describe.method_names(str(result.spec["method"]))[0]) for _, result in everything for note in result.notes])
    if notes:
        blocks += [Text("Notes of the runs:"), Items(notes)]
    reasons = _counted(
        [
            (f"{_metric_title(name)} is missing: {measured.error}", describe.method_names(str(result.spec["method"]))[0])
            for _, result in everything
            for name, measured in result.metrics.items()
            if measured.error
        ]
    )
    if reasons:
        blocks += [Text("Numbers that are missing, and why:"), Items(reasons)]
    return tuple(blocks)


def _counted(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Sentences that differ in numbers alone once, as the first run says it, with how many runs of which methods say so."""
    found: dict[str, list[tuple[str, str]]] = {}
    for sentence, method in pairs:
        found.setdefault(re.sub(r"\d+(\.\d+)?", "0", sentence), []).append((sentence, method))
    lines = []
    for said in found.values():
        names = list(dict.fromkeys(method for _, method in said))
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        others = "; other numbers in the others" if len({sentence for sentence, _ in said}) > 1 else ""
        lines.append(f"{said[0][0]} ({words.count(len(said), 'run')}: {shown}{others})")
    return tuple(lines)


# --- statistics ----------------------------------------------------------------------------------------------------------------------


def _statistics(runs: pd.DataFrame, values: pd.DataFrame) -> tuple[dict[str, ranking.Statistics], list[str]]:
    """By metric of `JUDGED`, and why some have none."""
    computed: dict[str, ranking.Statistics] = {}
    untold: list[str] = []
    agreement = [metric for metric in AGREEMENT if (values["metric"] == metric).any()]
    for metric in JUDGED:
        try:
            computed[metric] = ranking.statistics(runs, values, metric=metric, agreement=agreement)
        except BadValue as failure:
            untold.append(f"{_short(metric)}: {failure}")
    return computed, untold


def _statistics_blocks(computed: Mapping[str, ranking.Statistics], untold: Sequence[str], labels: Mapping[str, str]) -> tuple[Block, ...]:
    notes = list(untold)
    if not computed:
        return Text("No statistics: these runs have none of the numbers that they would be about."), Items(tuple(notes))
    blocks: list[Block] = [_intervals(computed, labels)]
    ranks = _ranks(computed)
    if ranks is not None:
        blocks.append(ranks)
    for metric, each in computed.items():
        # a critical difference that no two ranks can reach makes a diagram that says nothing
        if each.ranking is not None and each.ranking.critical_difference < len(each.ranking.ranks) - 1:
            info = critical_difference.critical_difference_info(each.ranking, {name: _line_names(name) for name in each.ranking.ranks})
            blocks.append(
                Picture(
                    name=f"ranks-{metric}",
                    title=f"Average ranks in {_short(metric)} over {words.count(each.ranking.blocks, 'setting')}",
                    sentence="Methods under one bar cannot be told apart.",
                    figure=critical_difference.draw(info, dark=False),
                    alt=critical_difference.alt_text(info),
                )
            )
    for metric, each in computed.items():
        different = each.pairs[each.pairs["p_holm"] < 1 - ranking.LEVEL] if len(each.pairs) else each.pairs
        if len(each.pairs):
            blocks.append(_pairs(metric, each, different))
        notes += [f"{_short(metric)}: {_relabelled(note, labels)}" for note in each.notes]
    first = next(iter(computed.values()))
    if len(first.tau):
        names = [_short(str(name)) for name in first.tau.columns]
        tau = pd.DataFrame([[_tau(value) for value in row] for row in first.tau.to_numpy(float)], columns=names)
        tau.insert(0, "Metric", names)
        blocks.append(Table("Whether two metrics rank the methods alike: Kendall's tau, mean over settings; 1 is the same order.", tau))
    if notes:
        blocks.append(Items(tuple(dict.fromkeys(notes))))
    return tuple(blocks)


def _ranking_labels(found: Sequence[Setting], runs: pd.DataFrame) -> dict[str, str]:
    """The ranking's short names of settings -> ours."""
    named = ranking.label_runs(runs).set_index("key")["setting"]
    return {str(named[setting.runs.iloc[0]["key"]]): setting.label for setting in found}


def _relabelled(text: str, labels: Mapping[str, str]) -> str:
    for name in sorted(labels, key=len, reverse=True):
        text = text.replace(f" in {name}", f" in {labels[name]}")
    return text


def _line_title(line: str) -> str:
    return _line_names(line)[0]


def _line_names(line: str) -> tuple[str, str]:
    """ "finetune (tuned)" with the method's title, and its family."""
    name, _, extra = line.partition(" ")
    title, family = describe.method_names(name)
    return f"{title} {extra}".strip(), family


def _intervals(computed: Mapping[str, ranking.Statistics], labels: Mapping[str, str]) -> Table:
    lines: dict[tuple[str, str], dict[str, str]] = {}
    groups: dict[str, str] = {}
    heads: dict[str, str] = {}
    for metric, each in computed.items():
        short = _short(metric)
        for column, head in ((f"{short} mean, %", "mean"), (f"{short} gap, points", "gap, points")):
            groups[column], heads[column] = f"{short}, %", head
        for row in each.intervals.to_dict("records"):
            names = (labels.get(str(row["setting"]), str(row["setting"])), _line_title(str(row["method"])))
            line = lines.setdefault(names, {"Setting": names[0], "Method": names[1], "Seeds": number(row["seeds"], "count")})
            line[f"{short} mean, %"] = _span(row["mean"], row["low"], row["high"])
            line[f"{short} gap, points"] = _span(row["gap_mean"], row["gap_low"], row["gap_high"], signed=True)
    frame = pd.DataFrame(list(lines.values()), columns=["Setting", "Method", "Seeds", *heads]).fillna(MISSING)
    caption = f"Means with 95 % t-intervals over {ranking.AXIS}. One seed leaves no interval."
    return Table(caption, _plain(frame), by="Setting", groups=groups, heads=heads, wide=True)


def _span(mean: float, low: float, high: float, *, signed: bool = False) -> str:
    text = number(mean, "percent", signed=signed)
    inside = math.isfinite(low) and math.isfinite(high)
    return f"{text} [{number(low, 'percent', signed=signed)}, {number(high, 'percent', signed=signed)}]" if inside else text


def _ranks(computed: Mapping[str, ranking.Statistics]) -> Table | None:
    found = {metric: each.ranking for metric, each in computed.items() if each.ranking is not None}
    if not found:
        return None
    methods = list(dict.fromkeys(name for each in found.values() for name in each.ranks))
    lines = [
        {"Method": _line_title(name)}
        | {_short(metric): f"{each.ranks[name]:.2f}" if name in each.ranks else MISSING for metric, each in found.items()}
        for name in methods
    ]
    told = "; ".join(
        f"{_short(metric)} over {words.count(each.blocks, 'setting')}, Friedman p {each.p:.2g}, "
        f"critical difference {each.critical_difference:.2f}"
        for metric, each in found.items()
    )
    return Table(
        f"Average ranks, 1 is best: {told}. Two methods differ only if their ranks do by more than that; more settings make it smaller.",
        pd.DataFrame(lines),
    )


def _pairs(metric: str, each: ranking.Statistics, different: pd.DataFrame) -> Block:
    tested = f"{words.count(len(each.pairs), 'pair')} over {words.count(len(each.blocks), 'block')} of setting and training seed"
    if different.empty:
        return Text(f"{_short(metric)}: no two methods differ by Wilcoxon's signed-rank test, corrected after Holm ({tested}).")
    lines = [
        {
            "Closer to the ideal": _line_title(str(row["first"] if row["difference"] < 0 else row["second"])),
            "Than": _line_title(str(row["second"] if row["difference"] < 0 else row["first"])),
            "Difference, points": number(abs(float(row["difference"])), "percent"),
            "p, corrected": f"{row['p_holm']:.2g}",
        }
        for row in different.to_dict("records")
    ]
    return Table(f"{_short(metric)}: pairs that differ ({each.score}; {tested}).", pd.DataFrame(lines))


def _tau(value: float) -> str:
    return MISSING if math.isnan(value) else f"{value:.2f}".replace("-", describe.MINUS)


# --- cost, meanings ------------------------------------------------------------------------------------------------------------------


def _cost_blocks(found: Sequence[Setting], values: pd.DataFrame) -> tuple[Block, ...]:
    costs = values[values["metric"].isin(list(COSTS))].pivot(index="key", columns="metric", values="value")
    lines = []
    for setting in found:
        for row in setting.values.rows:
            if row.method == "original":
                continue
            means = costs.reindex(index=list(row.keys), columns=list(COSTS)).mean()
            lines.append({"Setting": setting.label, "Method": row.title} | {head: _cost(name, means[name]) for name, head in COSTS.items()})
    if not lines:
        return (Text("No cost was stored with these runs."),)
    devices = sorted({str(result.device) for setting in found for result in setting.results.values() if result.device})
    caption = (
        f"Means over runs; RTE is a share of Retrain's time. Kept: from training on for later requests; aside: at most while unlearning. "
        f"Device: {', '.join(devices) or MISSING}."
    )
    return (Table(caption, pd.DataFrame(lines), by="Setting"),)


def _cost(name: str, value: float) -> str:
    if not math.isfinite(value):
        return MISSING
    if name.endswith("_bytes"):
        return words.size(value)
    return number(value, "count" if name in ("optimizer_steps", "samples_read") else "ratio").replace(THIN, " ")


def _meanings(found: Sequence[Setting], values: pd.DataFrame) -> Table:
    present = set(values.loc[values["value"].notna(), "metric"])
    shown = [column.id for setting in found for column in setting.values.columns]
    used = [name for name in dict.fromkeys([*shown, *JUDGED, *AGREEMENT, *COSTS]) if name in present]
    good = {"retrain": "near Retrain's", "high": "high", "low": "low", "none": MISSING}
    lines = []
    for name in used:
        card = catalog.metric(name)
        lines.append(
            {
                "Metric": f"{card.title} ({card.short})",
                "Meaning": card.meaning,
                "Good": good[card.ideal],
                "Source": card.source,
                "Beware": card.caveat,
            }
        )
    return Table("Metrics in this report.", pd.DataFrame(lines, columns=["Metric", "Meaning", "Good", "Source", "Beware"]))


# --- configuration and commands ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Repeat:
    """One command and the keys of the runs that it repeats."""

    label: str
    text: str
    keys: tuple[str, ...]


def _commands(found: Sequence[Setting]) -> tuple[Repeat, ...]:
    """Runs that differ in seeds alone share a command where it names just these: the same training seeds under each unlearning seed."""
    labels: dict[str, tuple[str, dict]] = {}
    alike: dict[str, dict[int, dict[int, str]]] = {}  # a spec without seeds -> unlearning seed -> training seed -> key
    for setting in found:
        for row in setting.values.rows:
            for key in row.keys:
                result = setting.results.get(key)
                if result is None or result.spec["method"] == "original":  # every comparison trains it anyway
                    continue
                same = json.dumps({**result.spec, "training_seed": None, "unlearning_seed": None}, sort_keys=True, default=str)
                labels.setdefault(same, (f"{row.title}, {setting.label}", dict(result.spec)))
                seeds = alike.setdefault(same, {}).setdefault(int(result.spec.get("unlearning_seed", 0)), {})
                seeds[int(result.spec.get("training_seed", 0))] = key
    made = []
    for same, by_unlearning in alike.items():
        label, spec = labels[same]
        grids: dict[tuple[int, ...], list[int]] = {}
        for unlearning, keys in sorted(by_unlearning.items()):
            grids.setdefault(tuple(sorted(keys)), []).append(unlearning)
        for training, unlearnings in grids.items():
            text = _command(
                {**spec, "training_seed": _listed(training), "unlearning_seed": _listed(unlearnings) if any(unlearnings) else 0}
            )
            made.append(Repeat(label, text, tuple(by_unlearning[one][seed] for one in unlearnings for seed in training)))
    return tuple(made)


def _listed(seeds: Sequence[int]) -> str:
    return ",".join(str(seed) for seed in seeds)


def _command(spec: Mapping) -> str:
    try:
        return describe.command_line(spec).replace(" \\\n  ", " ")
    except (MucoreError, KeyError, ValueError) as failure:  # a method of the reader's own that is gone, or a run of another version
        return f"# No command: {failure}"


def _command_blocks(commands: Sequence[Repeat]) -> tuple[Block, ...]:
    if not commands:
        return (Text("Only originals are among these runs; every comparison trains them."),)
    start = Text(
        "Run them in the project's folder, in any order. A run that the store has already is not computed again; the original and Retrain "
        "of each training seed are trained first where they are missing."
    )
    return (start, *(Command(f"{place}. {each.label}", each.text) for place, each in enumerate(commands, start=1)))


def _configuration_blocks(found: Sequence[Setting], commands: Sequence[Repeat]) -> tuple[Block, ...]:
    of_key = {key: place for place, each in enumerate(commands, start=1) for key in each.keys}
    lines = []
    for setting in found:
        for row in setting.values.rows:
            for key in row.keys:
                lines.append(_run_line(setting, row, key, of_key))
    caption = "Every run. Seeds: training, unlearning, evaluation. Key: the name of the run in the store, made of all that it depends on."
    parameters = [
        {"Setting": setting.label, "Method": row.title, "Parameters": _full(row.parameters)}
        for setting in found
        for row in setting.values.rows
        if row.parameters
    ]
    results = [result for setting in found for result in setting.results.values()]
    facts = [("Data hash", ", ".join(sorted({result.data_hash for result in results if result.data_hash})) or MISSING)]
    facts += [("Versions", text or MISSING) for text in sorted({_versions(result) for result in results})]
    facts += [("Recipe", _full(json.loads(text))) for text in sorted({str(setting.runs.iloc[0]["recipe"]) for setting in found})]
    samples = sorted({int(result.spec.get("mia_samples", 2000)) for result in results})
    facts.append(("Membership attacks", f"at most {' or '.join(map(str, samples)) or MISSING} samples on either side"))
    table = Table(caption, pd.DataFrame(lines), by="Setting", wide=True)
    blocks: list[Block] = [Facts(tuple(facts)), table]
    if parameters:
        blocks.append(Table("Parameters of every method.", pd.DataFrame(parameters), by="Setting", wide=True))
    return tuple(blocks)


def _run_line(setting: Setting, row: frames.Row, key: str, of_key: Mapping[str, int]) -> dict[str, str]:
    line = setting.runs.set_index("key").loc[key]
    result = setting.results.get(key)
    threads = result.cost.get("threads") if result is not None else None
    finished = line["finished"]
    return {
        "Setting": setting.label,
        "Method": row.title,
        "Preset": str(line["method_preset"]),
        "Seeds": f"{line['training_seed']}, {line['unlearning_seed']}, {line['evaluation_seed']}",
        "Status": str(line["status"]),
        "Forget set": line["forget_hash"] if isinstance(line["forget_hash"], str) else MISSING,
        "Device": str(line["device"]),
        "Precision": str(line["precision"]),
        "Threads": MISSING if threads is None else str(threads),
        "Seconds": number(None if pd.isna(line["seconds"]) else float(line["seconds"]), "ratio").replace(THIN, " "),
        "Finished, UTC": MISSING if pd.isna(finished) else f"{finished:%Y-%m-%d %H:%M}",
        "Key": key,
        "Command": str(of_key.get(key, MISSING)),
    }


# --- words ---------------------------------------------------------------------------------------------------------------------------


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Without thin spaces, which LaTeX and many PDF readers lose."""
    return frame.map(lambda text: text.replace(THIN, " ") if isinstance(text, str) else text)


def _scenario_title(scenario: str) -> str:
    try:
        return catalog.scenario(scenario).title
    except UnknownName:
        return scenario


def _dataset_title(dataset: str) -> str:
    try:
        card = catalog.dataset(dataset)
    except UnknownName:
        return dataset
    return f"{card.title} ({dataset})" if card.title != dataset else dataset


def _class_names(dataset: str) -> tuple[str, ...]:
    try:
        return catalog.dataset(dataset).class_names
    except UnknownName:
        return ()


def _metric_title(metric: str) -> str:
    try:
        return catalog.metric(metric).title
    except UnknownName:
        return metric


def _short(metric: str) -> str:
    return catalog.metric(metric).short


def _run_name(result: Result, setting: Setting) -> str:
    row = next((row for row in setting.values.rows if result.key in row.keys), None)
    title = row.title if row is not None else str(result.spec["method"])
    seeds = [f"{name} seed {result.spec.get(f'{name}_seed', 0)}" for name in ("training", "unlearning", "evaluation")]
    return f"{title}, {setting.label}, {seeds[0]}" + "".join(f", {text}" for text in seeds[1:] if not text.endswith(" 0"))


def _recipe(text: str) -> str:
    return describe.recipe_text(text).replace(THIN, " ")


def _full(parameters: Mapping) -> str:
    """Every parameter as one would type it: "lr 0.01, epochs 5"."""
    return ", ".join(f"{name} {words.plain(value)}" for name, value in parameters.items()) or "defaults"


def _versions(result: Result) -> str:
    return ", ".join(f"{name} {version}" for name, version in result.versions.items())


def _in_order(methods: set[str]) -> list[str]:
    order = ["original", *(card.id for card in catalog.methods())]
    return sorted(methods, key=lambda name: (order.index(name) if name in order else len(order), name))


def _spans(numbers: Sequence[int]) -> str:
    """ "0-4, 7" of sorted whole numbers."""
    if not numbers:
        return ""
    breaks = [0, *(np.flatnonzero(np.diff(numbers) != 1) + 1).tolist(), len(numbers)]
    runs = [numbers[start:end] for start, end in zip(breaks, breaks[1:], strict=False)]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
