"""Flags, notes and missing numbers in full."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dashboard.report.blocks import Block, Items, Text
from dashboard.report.selection import Setting
from dashboard.report.statistics import relabelled
from dashboard.text import units
from dashboard.text.labels import method_names, metric_title, note_text
from mucore import statistics
from mucore.store.rows import Result


def flag_blocks(
    found: Sequence[Setting], suspicions: Sequence[statistics.Suspicion], labels: Mapping[str, str]
) -> tuple[Block, ...]:
    """Flags of runs and of values out of range, how runs ended, their notes, and why numbers are
    missing.
    """
    outside = [
        relabelled(one.sentence, labels).replace(
            f" of {one.method} ", f" of {method_names(one.method)[0]} "
        )
        for one in suspicions
    ]
    flags = [
        f"{_run_name(result, setting)}: {flag}"
        for setting in found
        for result in setting.results.values()
        for flag in result.flags
    ]
    stopped = [
        (
            f"{_run_name(result, setting)}: "
            f"{result.status}{f', {result.stop_reason}' if result.stop_reason else ''}"
        )
        for setting in found
        for result in setting.results.values()
        if result.status != "ok"
    ]
    blocks: list[Block] = (
        [Items((*outside, *flags, *stopped))] if outside or flags or stopped else []
    )
    if not blocks:
        blocks.append(
            Text(
                "No run carries a sanity flag, all are ok, and no value leaves the range of "
                "Original and Retrain."
            )
        )
    everything = [(setting, result) for setting in found for result in setting.results.values()]
    notes = counted(
        [
            (note_text(note), method_names(str(result.spec["method"]))[0])
            for _, result in everything
            for note in result.notes
        ]
    )
    if notes:
        blocks += [Text("Notes of the runs:"), Items(notes)]
    reasons = counted(
        [
            (
                f"{metric_title(name)} is missing: {measured.error}",
                method_names(str(result.spec["method"]))[0],
            )
            for _, result in everything
            for name, measured in result.metrics.items()
            if measured.error
        ]
    )
    if reasons:
        blocks += [Text("Numbers that are missing, and why:"), Items(reasons)]
    return tuple(blocks)


def counted(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Sentences that differ in numbers alone once, as the first run says it, with how many runs of
    which methods say so.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for sentence, method in pairs:
        found.setdefault(re.sub(r"\d+(\.\d+)?", "0", sentence), []).append((sentence, method))
    lines = []
    for said in found.values():
        names = list(dict.fromkeys(method for _, method in said))
        shown = units.shortened(names, 6)
        others = (
            "; other numbers in the others" if len({sentence for sentence, _ in said}) > 1 else ""
        )
        lines.append(f"{said[0][0]} ({units.count(len(said), 'run')}: {shown}{others})")
    return tuple(lines)


def _run_name(result: Result, setting: Setting) -> str:
    row = next((row for row in setting.values.rows if result.key in row.keys), None)
    title = row.title if row is not None else str(result.spec["method"])
    seeds = [
        f"{name} seed {result.spec.get(f'{name}_seed', 0)}"
        for name in ("training", "unlearning", "evaluation")
    ]
    return f"{title}, {setting.label}, {seeds[0]}" + "".join(
        f", {text}" for text in seeds[1:] if not text.endswith(" 0")
    )
