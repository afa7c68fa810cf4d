"""What the tab Membership computes: the five attacks side by side, and one run's scores sample by
sample. No Streamlit, no plotly.

A position is where a score stands on an axis: a stretched score, because confidences crowd near 1
and entropies near 0. Stretching keeps the order, so that a cut and a ROC curve mean the same on
either scale. Higher is always more like a training sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd
from scipy.special import expit

from dashboard.frames.results import verdict_text
from dashboard.frames.rows import Row
from dashboard.text.labels import number
from mucore.errors import BadValue
from mucore.metrics import mia
from mucore.metrics.sanity import GUESS
from mucore.outputs import Outputs, SplitOutputs, probabilities
from mucore.store.records import Result

FLOOR: Final = 1e-17  # below the distance of 1 to its neighbour in float64
SPLITS: Final = ("forget", "test", "retain")
METRICS: Final = tuple(f"mia_{attack}" for attack in mia.ATTACKS)
NAMES: Final = {"m_entropy": "modified entropy", "prob": "all probabilities"}


# --------------------------------------------------------------------------------------------------
# five attacks, all methods


def attacked(row: Row) -> bool:
    """Whether some attack looked at a row, if only to guess."""
    return any(
        row.cells[name].value is not None or row.cells[name].reason == GUESS for name in METRICS
    )


def sentence(rows: Sequence[Row]) -> str:
    """What the attack on which verdicts rest says of Original and Retrain; "" where it is no
    evidence.
    """
    shares = {row.method: row.mean("mia_confidence") for row in rows if row.reference}
    before, after = shares.get("original"), shares.get("retrain")
    if before is None or after is None:
        return ""
    return (
        f"The confidence attack calls {number(before, 'percent')} % of the forgotten samples "
        f"unseen by Original and {number(after, 'percent')} % unseen by Retrain."
    )


def attacks_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """A line a method: its verdict, its distance to Retrain, and every attack in percent."""
    made = []
    for row in rows:
        line: dict[str, object] = {
            "Method": row.title,
            "Verdict": verdict_text(row),
            "Runs": len(row.keys),
            "Distance (points)": number(row.away, "percent"),
        }
        for attack in mia.ATTACKS:
            name = f"mia_{attack}"
            cell, head = row.cells[name], NAMES.get(attack, attack)
            line[f"{head} (%)"] = number(row.mean(name), "percent")
            line[f"{head} ±"] = number(cell.value.half if cell.value else None, "percent")
            line[f"{head} gap"] = number(
                cell.gap.mean if cell.gap else None, "percent", signed=True
            )
        made.append(line)
    return pd.DataFrame(made)


# --------------------------------------------------------------------------------------------------
# one run, one attack


@dataclass(frozen=True, eq=False)
class Scored:
    """One run under one attack: positions (n,) and sample ids by split; `negatives` are the test
    positions a ROC curve may use.
    """

    attack: str
    positions: Mapping[str, np.ndarray]
    ids: Mapping[str, np.ndarray]
    labels: np.ndarray  # of the forget set, (n,) or (n, A)
    negatives: np.ndarray
    cut: float  # position of the threshold that best parts retained from test samples
    reversed: bool  # where that threshold has retained samples below it

    @property
    def forget(self) -> np.ndarray:
        return self.positions["forget"]


def score_run(attack: str, outputs: Outputs, result: Result) -> Scored:
    """The scores behind a run's stored AUC and TPR. Raises `BadValue` where a split is missing or
    too small.
    """
    missing = [name for name in SPLITS if name not in outputs or not len(outputs[name])]
    if missing:
        raise BadValue(
            f"This needs the predictions on the {missing[0]} set, but they were not kept."
        )
    order = {name: np.argsort(outputs[name].ids, kind="stable") for name in SPLITS}
    forget, test, retain = (_predictions(outputs[name], order[name]) for name in SPLITS)
    scores = mia.score_samples(
        attack,
        forget=forget,
        members=retain,
        nonmembers=test,
        cap=int(result.spec.get("mia_samples", 2000)),
        evaluation_seed=int(result.spec.get("evaluation_seed", 0)),
    )
    return Scored(
        attack=attack,
        positions={name: stretch(attack, getattr(scores, name)) for name in SPLITS},
        ids={name: outputs[name].ids[order[name]] for name in SPLITS},
        labels=forget[1],
        negatives=stretch(attack, scores.negatives),
        cut=float(stretch(attack, np.array([scores.cut]))[0]),
        reversed=scores.reversed,
    )


def _predictions(split: SplitOutputs, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities and labels."""
    return probabilities(split.logits[order], split.task), split.labels[order]


def stretch(attack: str, scores: np.ndarray) -> np.ndarray:
    """Positions of scores (n,): log-odds of a probability, minus the power of ten of an entropy,
    other scores as they are.
    """
    if attack == "confidence":
        return np.log(np.maximum(scores, FLOOR)) - np.log(np.maximum(1 - scores, FLOOR))
    if attack in ("entropy", "m_entropy"):
        return -np.log10(np.maximum(-scores, FLOOR))
    return scores


def natural(attack: str, positions: np.ndarray) -> np.ndarray:
    """What `stretch` made positions of: shares of 1, entropies in nats."""
    if attack == "confidence":
        return expit(positions)
    return 10.0**-positions if attack in ("entropy", "m_entropy") else positions


def vulnerable(run: Scored, *, retrain: Scored, original: Scored | None) -> pd.DataFrame:
    """One line a forgotten sample, most exposed first: id, label, position in this run, in Retrain
    and in Original (NaN where unknown), and how much higher it stands here than in Retrain, which
    never saw the sample. Ties go by id.
    """
    frame = pd.DataFrame({"id": run.ids["forget"], "label": [*run.labels], "run": run.forget})
    for name, other in (("retrain", retrain), ("original", original)):
        known = {} if other is None else dict(zip(other.ids["forget"], other.forget, strict=True))
        frame[name] = frame["id"].map(known).astype(float)
    frame["lead"] = frame["run"] - frame["retrain"]
    return frame.sort_values(
        ["lead", "run", "id"], ascending=[False, False, True], na_position="last", ignore_index=True
    )
