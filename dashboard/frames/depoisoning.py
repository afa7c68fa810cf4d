"""What is left of an attack, and which samples show it. No Streamlit, no plotly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.text import units, verdicts
from mucore import catalog
from mucore.outputs import SplitOutputs
from mucore.scenarios import poison

ATTACK: Final = {"label_flip": "fa", "backdoor": "asr"}  # the metric that is the attack's success
PANELS: Final = {
    "label_flip": ("fa", "ta", "fa_true", "ta_flipped"),
    "backdoor": ("asr", "ta", "asr_others"),
}
# of the numbers
METRICS: Final = {
    "label_flip": PANELS["label_flip"],
    "backdoor": (*PANELS["backdoor"], "fa", "fa_true"),
}
SPLIT: Final = {"label_flip": "forget", "backdoor": "triggered"}  # whose images show the attack
WEAK = 0.1  # an attack that succeeds by less than this over Retrain leaves nothing to heal


def panels(rows: Sequence[frames.Row], scenario: str) -> list[str]:
    """The metrics to draw: TA of flipped classes only where it is not TA itself, and none that no
    run has.
    """
    values = {metric: [row.mean(metric) for row in rows] for metric in PANELS[scenario]}
    return [
        metric
        for metric, mine in values.items()
        if any(value is not None for value in mine)
        and not (metric == "ta_flipped" and mine == values["ta"])
    ]


def too_weak(rows: Sequence[frames.Row], scenario: str) -> bool:
    """Whether the original was hardly fooled more than Retrain, so that every method looks
    healed.
    """
    fooled = {row.method: row.mean(ATTACK[scenario]) for row in rows if row.reference}
    original, retrain = fooled.get("original"), fooled.get("retrain")
    return original is not None and retrain is not None and original - retrain < WEAK


def headline(rows: Sequence[frames.Row]) -> str:
    """How many of the methods among `rows` are shown to have healed the model, to be read aloud; ""
    where none is judged.
    """
    judged = [row for row in rows if row.verdict is not None and not row.verdict.cheats]
    many = len([row for row in judged if not row.reference])
    healed = sum(bool(row.verdict and row.verdict.shown) for row in verdicts.qualified(judged))
    what = "removed the attack and kept clean accuracy"
    return f"{healed or 'None'} of {units.count(many, 'method')} {what}." if many else ""


def numbers(rows: Sequence[frames.Row], scenario: str) -> pd.DataFrame:
    """The table behind the figure, in percent and points."""
    return pd.DataFrame([_numbers(row, METRICS[scenario]) for row in rows])


def _numbers(row: frames.Row, metrics: Sequence[str]) -> dict[str, Any]:
    made: dict[str, Any] = {
        "Method": row.title,
        "Verdict": frames.verdict_text(row),
        "Distance (points)": None if row.away is None else 100 * row.away,
    }
    for metric in metrics:
        short, value = catalog.metric(metric).short, row.cells[metric].value
        made[f"{short} (%)"] = None if value is None else 100 * value.mean
        half = None if value is None else value.half
        made[f"{short} ±"] = None if half is None else 100 * half
    return made | {"Training seeds": len(row.training_seeds), "Status": row.status}


def examples(outputs: Mapping[str, SplitOutputs], rules: poison.Poison) -> pd.DataFrame:
    """Attacked samples that every model has predictions of, by id: their `true` class, the class
    that the attacker `taught`, and a column of answers a model.

    `outputs` are of the split `SPLIT` by model name. Images whose true label is the attacker's show
    nothing and are out.
    """
    first = next(iter(outputs.values()))
    answers = {
        name: pd.Series(split.logits.argmax(axis=1), index=split.ids)
        for name, split in outputs.items()
    }
    found = pd.DataFrame({"label": pd.Series(first.labels, index=first.ids), **answers})
    found = found.dropna().astype(np.int64).sort_index()
    labels = found.pop("label").to_numpy()
    if rules["scenario"] == "label_flip":
        # a pair swaps, so flipping the attacker's labels gives the true ones
        every = np.ones(len(labels), bool)
        true = poison.poisoned_labels(rules, labels, every, first.logits.shape[1])
        taught = labels
    else:
        true, taught = labels, np.full(len(labels), rules["target"], np.int64)
    found.insert(0, "true", true)
    found.insert(1, "taught", taught)
    return found[true != taught]
