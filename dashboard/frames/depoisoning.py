"""What is left of an attack, and which samples show it. No Streamlit, no plotly."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np

from dashboard import frames
from dashboard.frames.budget import Curves, Line
from dashboard.frames.compare import rows_of
from dashboard.text import units, verdicts
from mucore.outputs import SplitOutputs
from mucore.scenarios import poison

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


def headline(rows: Sequence[frames.Row]) -> str:
    """How many of the methods among `rows` healed the model, to be read aloud; "" where none is
    judged.
    """
    judged = [row for row in rows if row.verdict is not None and not row.verdict.cheats]
    many = len([row for row in judged if not row.reference])
    healed = len(verdicts.qualified(judged))
    what = "removed the attack and kept clean accuracy"
    return f"{healed or 'None'} of {units.count(many, 'method')} {what}." if many else ""


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
