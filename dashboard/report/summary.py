"""What was asked, the answer, and what to be careful with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.frames.membership import attack_name
from dashboard.report.blocks import Facts, Table
from dashboard.report.selection import Setting
from dashboard.report.text import versions, without_thin_spaces
from dashboard.text import units, verdicts
from dashboard.text.labels import MISSING, method_names, number, value_title
from mucore import catalog, statistics
from mucore.errors import UnknownName

# Fewer seeds than this give intervals so wide that they rarely separate two methods.
FEW_SEEDS = 5


def asked(found: Sequence[Setting], runs: pd.DataFrame, comparison: str) -> Facts:
    """Scenarios, forget sets, data, model, methods, seeds and time of the runs."""
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
        size = (
            units.count(int(counts[0]), "sample")
            if len(counts) == 1
            else f"{counts[0]} to {counts[-1]} samples"
        )
        hashes = sorted(set(setting.runs["forget_hash"].dropna()))
        shown = units.shortened(hashes, 3)
        facts.append(("Forget set", f"{setting.label}: {size}, hash {shown or MISSING}"))
    for name, column in (("Data set", "dataset"), ("Model", "model"), ("Recipe", "recipe")):
        facts.append(
            (name, "; ".join(value_title(column, one) for one in sorted(set(runs[column]))))
        )
    methods = [method_names(name)[0] for name in _in_order(set(runs["method"]))]
    facts.append(("Methods", ", ".join(methods)))
    seeds = sorted({int(seed) for seed in runs["training_seed"]})
    facts.append(
        (
            "Runs",
            (
                f"{units.count(len(runs), 'run')}, {units.count(len(seeds), 'training seed')} "
                f"({_spans(seeds)})"
            ),
        )
    )
    moments = runs["finished"].dropna()
    if len(moments):
        facts.append(
            ("Computed", f"{moments.min():%Y-%m-%d %H:%M} to {moments.max():%Y-%m-%d %H:%M} UTC")
        )
    if bool(runs["demo"].all()):
        facts.append(("Source", "Demo results: of a real run that comes with the program."))
    return Facts(tuple(facts))


def answers(
    found: Sequence[Setting], suspicions: Sequence[statistics.Suspicion], labels: Mapping[str, str]
) -> Table:
    """The answers above the results page's table, for every setting."""
    lines = []
    for setting in found:
        if said := verdicts.count_sentence(setting.values.methods):
            count = units.count(len(verdicts.qualified(setting.values.methods)), "line")
            lines.append(
                {
                    "Setting": setting.label,
                    "Asked": "What happened",
                    "Answer": f"{count} qualified",
                    "How it stands": said,
                }
            )
        flagged = sum(bool(result.flags) for result in setting.results.values())
        outside = len(
            {
                (one.method, one.parameters)
                for one in suspicions
                if labels.get(one.setting) == setting.label
            }
        )
        warnings = frames.Answer(
            "Warnings",
            str(flagged + outside),
            f"{flagged} with a sanity flag, {outside} outside the range from Original to Retrain",
        )
        for answer in (*frames.best_answers(setting.values), warnings):
            lines.append(
                {
                    "Setting": setting.label,
                    "Asked": answer.label,
                    "Answer": answer.value,
                    "How it stands": answer.detail,
                }
            )
    caption = (
        "Only methods that forgot, and whose runs all finished cleanly, compete. Distances are to "
        "the retrained model of the same training seed."
    )
    return Table(
        caption,
        without_thin_spaces(
            pd.DataFrame(lines, columns=["Setting", "Asked", "Answer", "How it stands"])
        ),
        by="Setting",
    )


def caveats(found: Sequence[Setting], runs: pd.DataFrame, values: pd.DataFrame) -> tuple[str, ...]:
    """Sentences on what these runs cannot show, most general last."""
    said = []
    least = min(setting.runs["training_seed"].nunique() for setting in found)
    if least == 1:
        alone = [setting.label for setting in found if setting.runs["training_seed"].nunique() == 1]
        where = "everywhere" if len(alone) == len(found) else "in " + "; ".join(alone)
        said.append(
            f"One training seed {where}: those numbers have no interval, and another training may "
            "order the methods differently."
        )
    elif least < FEW_SEEDS:
        said.append(
            f"With {units.count(least, 'training seed')} the intervals are wide; that two of them "
            "overlap does not mean equal."
        )
    for setting in found:
        missing = sorted(
            {
                row.title
                for row in setting.values.methods
                if row.cells["ta"].gap is None and row.cells["ta"].value is not None
            }
        )
        if missing:
            said.append(
                "Without a Retrain of the same training seed there is no gap: "
                f"{', '.join(missing)} in {setting.label}."
            )
    attacks = []
    for name in frames.MIA:
        mine = values[values["metric"] == f"{name}_attack_accuracy"]["value"].dropna()
        if len(mine):
            low, high = number(mine.min(), "percent"), number(mine.max(), "percent")
            attacks.append(f"{attack_name(name.removeprefix('mia_'))} {low} to {high} %")
    if attacks:
        said.append(
            f"Own accuracy of the membership attacks on held-out samples: {', '.join(attacks)}. "
            "50 % is a guess, and what an attack near a guess says about the forget set is no "
            "evidence."
        )
    statuses = runs.loc[runs["status"] != "ok", "status"].value_counts()
    said += [
        f"{units.count(int(count), 'run')} {status}; their values count like the others'."
        for status, count in statuses.items()
    ]
    lost = values["value"].isna() & values["error"].notna()
    if lost.any():
        said.append(
            f"{units.count(int(lost.sum()), 'number is', 'numbers are')} missing; Flags and notes "
            "gives the reasons."
        )
    costs = [result.cost for setting in found for result in setting.results.values()]
    if any(cost.get("shared_device") for cost in costs):
        said.append("Some runs shared their device with others, so their times are too long.")
    for column, what in (("device", "devices"), ("precision", "precisions")):
        kinds = sorted(set(runs[column].dropna()))
        if len(kinds) > 1:
            said.append(
                f"Several {what}: {', '.join(kinds)}. Times and last digits do not compare across "
                "them."
            )
    if len({versions(result) for setting in found for result in setting.results.values()}) > 1:
        said.append("The runs were made with different versions of the program or its libraries.")
    presets = set(runs.loc[~runs["method"].isin(["original", "retrain"]), "method_preset"])
    if "authors" in presets:
        said.append(
            "The authors' settings were chosen for other data and models than these, as a rule."
        )
    if bool(runs["demo"].any()):
        said.append("These are the demo results that come with the program, not yours.")
    said.append(
        "The comparison speaks about this data set, model, recipe and these forget sets; nothing "
        "here extends it to others."
    )
    return tuple(said)


def _in_order(methods: set[str]) -> list[str]:
    order = ["original", *(card.id for card in catalog.methods())]
    return sorted(
        methods, key=lambda name: (order.index(name) if name in order else len(order), name)
    )


def _spans(numbers: Sequence[int]) -> str:
    """ "0-4, 7" of sorted whole numbers."""
    if not numbers:
        return ""
    breaks = [0, *(np.flatnonzero(np.diff(numbers) != 1) + 1).tolist(), len(numbers)]
    runs = [numbers[start:end] for start, end in zip(breaks, breaks[1:], strict=False)]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
