"""What is left of an attack: the answers above the bars, and which samples show it. No Streamlit,
no plotly.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from dashboard import frames
from dashboard.frames.budget import Curves, Line
from dashboard.frames.compare import rows_of
from dashboard.text import units, verdicts
from dashboard.text.labels import number
from mucore import catalog
from mucore.outputs import SplitOutputs
from mucore.scenarios import poison
from mucore.verdicts.text import doubt

ATTACK: Final = {"label_flip": "fa", "backdoor": "asr"}  # the metric that is the attack's success
PANELS: Final = {
    "label_flip": ("ta", "fa", "fa_true", "ta_flipped"),
    "backdoor": ("ta", "asr", "asr_others"),
}
# of the numbers
METRICS: Final = {
    "label_flip": PANELS["label_flip"],
    "backdoor": (*PANELS["backdoor"], "fa", "fa_true"),
}
SPLIT: Final = {"label_flip": "forget", "backdoor": "triggered"}  # whose images show the attack
NAMED = 4  # healed methods that the sentence on top names
OTHERS: Final = {  # the other verdicts, as that sentence says them
    "did nothing": "did nothing",
    "too little": "left part of the attack, or did not get the right labels back",
    "too much": "went beyond Retrain",
    "damaged": "fell short of Retrain's clean accuracy",
    "unsound": "got there in runs that did not all finish cleanly",
    "nothing to forget": "had nothing to heal",
    "cannot tell": "cannot be judged yet",
}
WEAK = 0.1  # an attack that succeeds by less than this over Retrain leaves nothing to heal

Shown = Literal["any", "healed", "fooled"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Examples:
    """Attacked samples, their predictions by model, and how many the choice was made from.

    `ids`, `true`, `taught` (the attacker's label) and each array of `predicted` are (n,) int64.
    """

    ids: np.ndarray
    true: np.ndarray
    taught: np.ndarray
    predicted: Mapping[str, np.ndarray]
    matching: int
    total: int


def panels(found: Curves, scenario: str) -> tuple[str, ...]:
    """The metrics to draw: TA of flipped classes only where it is not TA itself, and none that no
    run has.
    """
    chosen = []
    for metric in PANELS[scenario]:
        pairs = [
            (step.cells[metric].value, step.cells["ta"].value)
            for line in found.lines
            for step in line.steps
        ]
        known = [(value, ta) for value, ta in pairs if value is not None]
        if known and (
            metric != "ta_flipped"
            or any(ta is None or value.mean != ta.mean for value, ta in known)
        ):
            chosen.append(metric)
    return tuple(chosen)


def reference(found: Curves, method: str, count: int, metric: str) -> float | None:
    """The value of Original or Retrain at one size."""
    line = found.reference(method)
    step = line.step(count) if line else None
    cell = step.cells[metric] if step else None
    return cell.value.mean if cell and cell.value else None


def too_weak(found: Curves, scenario: str, count: int) -> bool:
    """Whether the original was hardly fooled more than Retrain, so that every method looks
    healed.
    """
    fooled, base = (
        reference(found, method, count, ATTACK[scenario]) for method in ("original", "retrain")
    )
    return fooled is not None and base is not None and fooled - base < WEAK


def rows(found: Curves, count: int) -> list[frames.Row]:
    """The row of every line that has runs at one size, references among them."""
    return [step.row for line in found.lines if (step := line.step(count)) is not None]


def ordered(found: Curves, count: int) -> Curves:
    """The same with methods by their distance to Retrain at one size, nearest first and those
    without one last; references stay on top.
    """

    def place(line: Line) -> float:
        step = line.step(count)
        return math.inf if step is None or step.row.away is None else step.row.away

    references = [line for line in found.lines if line.reference]
    return replace(found, lines=(*references, *sorted(found.methods, key=place)))


def headline(rows: Sequence[frames.Row], size: int | None = None) -> str:
    """How many methods healed the model and what became of the others, to be read aloud; "" where
    none has a verdict.

    Healed is the verdict "forgot": the attack is gone as it is from Retrain, and clean accuracy is
    Retrain's. `rows` are of one size, which is named where `size` says it.
    """
    judged = [(row, row.verdict) for row in rows if not row.reference and row.verdict is not None]
    if not judged:
        return ""
    first = verdicts.nearest(rows)
    healed = [*first, *(row for row in verdicts.qualified(rows) if row not in first)]
    methods = len({row.method for row, _ in judged})
    of = (
        units.count(len(judged), "method")
        if methods == len(judged)
        else f"{len(judged)} settings of {units.count(methods, 'method')}"
    )
    said = "removed the attack and kept clean accuracy"
    unsure = sum(row.verdict is not None and row.verdict.provisional for row in healed)
    if healed:
        said += doubt(unsure, len(healed))
        names = [row.title for row in healed]
        shown = units.shortened(names, NAMED) if len(names) > NAMED else units.joined(names)
        said += f": {shown}"
    counts = Counter(
        "unsound" if each.qualified and row.unsound else each.word
        for row, each in judged
        if row not in healed
    )
    others = "; ".join(f"{counts[word]} {what}" for word, what in OTHERS.items() if counts[word])
    many = str(len(healed) or "None")
    start = f"With {units.count(size, 'poisoned sample')}, {many.lower()}" if size else many
    return f"{start} of {of} {said}." + (f" {others[0].upper()}{others[1:]}." if others else "")


def answers(found: Curves, scenario: str, count: int) -> tuple[frames.Answer, ...]:
    """What the attack did at this size, which healed model is nearest to Retrain, who keeps most of
    the attack, who pays most.

    Unsound runs do not compete, and for the nearest only methods that qualify do.
    """
    attack = ATTACK[scenario]
    # one size of several must not pass for all of them
    at = f" with {units.count(count, 'sample')}" if len(found.sizes) > 1 else ""
    name = "attack success" if scenario == "label_flip" else catalog.metric(attack).short
    made = []
    fooled, base = (reference(found, method, count, attack) for method in ("original", "retrain"))
    if fooled is not None and base is not None:
        clean = [reference(found, method, count, "ta") for method in ("original", "retrain")]
        detail = (
            f"of the attacked images fool the original, {number(base, 'percent')} % fool Retrain"
        )
        if clean[0] is not None and clean[1] is not None:
            detail += f"; TA {number(clean[0], 'percent')} against {number(clean[1], 'percent')} %"
        label = f"Attack{at}" if at else "What the attack did"
        made.append(frames.Answer(label, f"{number(fooled, 'percent')} %", detail))
    here = rows(found, count)
    if any(not row.reference for row in here):
        made.append(frames.nearest_answer(here, at))
    sound = [line for line in found.methods if line.sound]
    if kept := _values(sound, count, attack):
        value, line = max(kept, key=lambda pair: pair[0])
        alike = sum(round(other, 3) == round(value, 3) for other, _ in kept) - 1
        detail = f"{name} {number(value, 'percent')} %"
        if base is not None:
            detail += f", {number(value - base, 'percent', signed=True)} points from Retrain"
        made.append(
            frames.Answer(
                f"Most of the attack left{at}",
                line.title + (f" and {alike} more" if alike else ""),
                detail,
            )
        )
    if useful := _values(sound, count, "ta"):
        value, line = min(useful, key=lambda pair: pair[0])
        made.append(
            frames.Answer(
                f"Lowest clean accuracy{at}", line.title, f"TA {number(value, 'percent')} %"
            )
        )
    return tuple(made)


def _values(lines: Sequence[Line], count: int, metric: str) -> list[tuple[float, Line]]:
    steps = [(line.step(count), line) for line in lines]
    return [
        (value.mean, line)
        for step, line in steps
        if step is not None and (value := step.cells[metric].value) is not None
    ]


def examples(
    outputs: Mapping[str, SplitOutputs], rules: poison.Poison, *, show: Shown, most: int = 10
) -> Examples:
    """Attacked samples that every model has predictions of, evenly spread over their ids.

    `outputs` are of the split `SPLIT` by model name: the original first, the method last. "healed":
    the original was fooled, the method is right; "fooled": the method still gives the attacker's
    label. Images whose true label is the attacker's show nothing and are out.
    """
    splits = list(outputs.values())
    classes = splits[0].logits.shape[1]
    ids = splits[0].ids
    for split in splits[1:]:
        ids = np.intersect1d(ids, split.ids)
    ids = np.unique(ids)
    rows = {name: rows_of(split.ids, ids) for name, split in outputs.items()}
    labels = splits[0].labels[next(iter(rows.values()))]
    # a pair swaps, so flipping the attacker's labels gives the true ones
    if rules["scenario"] == "label_flip":
        true, taught = (
            poison.poisoned_labels(rules, labels, np.ones(len(labels), bool), classes),
            labels,
        )
    else:
        true, taught = labels, np.full(len(labels), rules["target"], np.int64)
    predicted = {name: split.logits[rows[name]].argmax(axis=1) for name, split in outputs.items()}
    first, last = list(predicted.values())[0], list(predicted.values())[-1]
    attacked = true != taught
    chosen = {
        "any": attacked,
        "healed": attacked & (first == taught) & (last == true),
        "fooled": attacked & (last == taught),
    }[show]
    places = np.flatnonzero(chosen)
    shown = (
        places[
            np.unique(
                np.linspace(0, len(places) - 1, min(most, len(places))).round().astype(np.int64)
            )
        ]
        if len(places)
        else places
    )
    return Examples(
        ids=ids[shown],
        true=true[shown],
        taught=taught[shown],
        predicted={name: answer[shown] for name, answer in predicted.items()},
        matching=len(places),
        total=int(attacked.sum()),
    )
