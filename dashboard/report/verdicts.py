"""The verdict on every line with its reason, and how verdicts are made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from dashboard.frames import Row
from dashboard.report.blocks import Block, Facts, Items, Table, Text
from dashboard.report.selection import Setting
from dashboard.report.text import scenario_title
from dashboard.text import units, verdicts
from dashboard.text.labels import MISSING, number
from mucore.verdicts import VERDICT_REVISION, Judged, rules_of
from mucore.verdicts.rule import (
    DAMAGE,
    FEWEST,
    MARGIN,
    NARROWEST,
    UNMOVED,
    WIDEST_ACCURACY,
    WIDEST_ATTACK,
)
from mucore.verdicts.text import doubt


def verdict_cells(row: Row | None) -> dict[str, str]:
    """What every table of methods says behind the method."""
    if row is None:
        return {"Verdict": MISSING, "Distance, points": MISSING}
    said = verdicts.text(row.verdict) if row.verdict else MISSING
    return {
        "Verdict": said,
        "Distance, points": number(row.distance.mean if row.distance else None, "percent"),
    }


def counts_sentence(judged: Mapping[str, Judged]) -> str:
    """How many lines forgot and what became of the others, to be read aloud; "" where there is
    none. References are left out.
    """
    lines = {
        (each.setting, each.method, each.parameters): each.verdict
        for each in judged.values()
        if each.method != "original"
    }
    said = Counter(
        verdict.word for verdict in lines.values() if verdict is not None and not verdict.cheats
    )
    if not said:
        return ""
    total = units.count(said.total(), "line")
    unsure = sum(e.provisional for e in lines.values() if e and e.word == "forgot" and not e.cheats)
    others = ", ".join(
        f"{said[word]} {what}"
        for word, what in verdicts.VERBS.items()
        if said[word] and word != "forgot"
    )
    return (
        f"{said['forgot'] or 'None'} of {total} forgot without damage"
        f"{doubt(unsure, said['forgot'])}; a line is a method in one setting."
    ) + (f" {others}." if others else "")


def verdict_blocks(setting: Setting) -> tuple[Block, ...]:
    """A line a method: its verdict, its distance to Retrain, and why."""
    lines = [
        {"Method": row.title, **verdict_cells(row), "Why": row.verdict.sentence}
        for row in setting.values.rows
        if row.verdict is not None
    ]
    if not lines:
        return (Text("No line can be judged: there is none beside Retrain."),)
    caption = (
        "Nearest to Retrain first. A question mark says that the word is an indication: the "
        "seeds do not show it yet."
    )
    return (Table(caption, pd.DataFrame(lines)), *_margins(setting))


def _margins(setting: Setting) -> tuple[Block, ...]:
    """How near is near enough in what the verdicts of this setting rest on."""
    checks = {
        check.metric: check
        for row in setting.values.rows
        if row.verdict
        for check in row.verdict.checks
    }
    if not checks:
        return ()
    rules = rules_of(setting.scenario)
    said = "; ".join(
        f"{rules.name(name)}, {number(check.margin, 'percent')} points"
        for name, check in checks.items()
    )
    return (Text(f"Margins: {said}."),)


def method_blocks(found: Sequence[Setting]) -> tuple[Block, ...]:
    """How a verdict comes about: words, limits, and the metrics that decide in each scenario of the
    report.
    """
    margin, widest, attack, narrowest, unmoved, damage = (
        f"{100 * each:g}"
        for each in (MARGIN, WIDEST_ACCURACY, WIDEST_ATTACK, NARROWEST, UNMOVED, DAMAGE)
    )
    start = Text(
        "A verdict is one word on one line: a method with one set of parameters in one setting, "
        "over all its training seeds. It follows from the line's means and those of Original and "
        "Retrain of the same seeds, and is shown where the 90 % interval of the mean lies on the "
        "word's side of its boundary. Verdicts are computed when they are asked for, never "
        f"stored; these are of revision {VERDICT_REVISION} of the rule."
    )
    meanings = Facts(
        (
            (
                "forgot",
                (
                    f"Each forgetting metric is within its margin of Retrain, {margin} % of the "
                    f"way there (at least {narrowest} points, at most {widest}, of an attack "
                    f"{attack}); accuracy is kept."
                ),
            ),
            ("too little", "A forgetting metric is short of Retrain by more than its margin."),
            ("too much", "A forgetting metric is beyond Retrain by more than its margin."),
            (
                "damaged",
                (
                    f"An accuracy is below Retrain's by more than {damage} % of what Retrain has "
                    "above guessing."
                ),
            ),
            (
                "did nothing",
                (
                    f"Every forgetting metric has gone less than {unmoved} % of the way from "
                    "Original to Retrain."
                ),
            ),
            (
                "nothing to forget",
                (
                    "Original and Retrain are no further apart than chance allows, so forgetting "
                    "cannot be seen."
                ),
            ),
            ("cannot tell", "A reference or a number that decides is missing."),
        )
    )
    limits = Items(
        (
            (
                f"The interval is Student's over {FEWEST} or more seeds. With fewer it comes from "
                f"the spread of {FEWEST} or more Retrains, else from the number of samples."
            ),
            (
                "A word whose interval crosses its boundary is an indication (?), with the number "
                "of seeds that would decide at the present spread."
            ),
            (
                "Distance to Retrain is the mean size of the gaps in all metrics that decide, "
                "seed by seed, then averaged."
            ),
            *dict.fromkeys(_deciding(setting.scenario) for setting in found),
        )
    )
    return (start, meanings, limits)


def _deciding(scenario: str) -> str:
    rules = rules_of(scenario)
    forgetting, utility = (
        ", ".join(rules.name(name) for name in names) for names in (rules.forgetting, rules.utility)
    )
    return (
        f"{scenario_title(scenario)}: forgetting is judged by {forgetting}; accuracy by {utility}."
    )
