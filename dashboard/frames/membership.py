"""What the Membership page computes: the five attacks side by side, and one run's scores sample by
sample. No Streamlit, no plotly.

A position is where a score stands on an axis: a stretched score, because confidences crowd near 1
and entropies near 0. Stretching keeps the order, so that a threshold, a count and a ROC curve mean
the same on either scale. Higher is always more like a training sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from dashboard.frames import ResultsTable, Row, verdict_text
from dashboard.papers.tables import Published
from dashboard.text.labels import MINUS, number, powered
from mucore.errors import BadValue
from mucore.metrics import membership
from mucore.metrics.sanity import GUESS
from mucore.outputs import Outputs, SplitOutputs, probabilities
from mucore.store.rows import Result

FLOOR = 1e-17  # below the distance of 1 to its neighbour in float64
# between thresholds, in positions
STEPS = {"correctness": 0.05, "confidence": 0.25, "entropy": 0.1, "m_entropy": 0.1, "prob": 0.05}
MOST_STOPS = 400
NEAREST = 12  # methods that are shown at first
SPLITS = ("forget", "retain", "test")


# --------------------------------------------------------------------------------------------------
# five attacks, all methods


def rows_shown(table: ResultsTable, *, everyone: bool) -> list[Row]:
    """Original, the methods that some attack looked at, and Retrain: of the methods the first
    `NEAREST` of the table unless `everyone`.
    """
    known = [
        row
        for row in table.methods
        if any(
            cell.value is not None or cell.reason == GUESS
            for cell in (row.cells[f"mia_{attack}"] for attack in membership.ATTACKS)
        )
    ]
    before, after = (
        [row for row in table.rows if row.reference and row.method == name]
        for name in ("original", "retrain")
    )
    return [*before, *(known if everyone else known[:NEAREST]), *after]


def sentence(table: ResultsTable) -> str:
    """What the attack on which verdicts rest says of Original and Retrain; "" where it is no
    evidence.
    """
    cells = {row.method: row.cells["mia_confidence"].value for row in table.rows if row.reference}
    before, after = cells.get("original"), cells.get("retrain")
    if before is None or after is None:
        return ""
    return (
        f"The confidence attack calls {number(before.mean, 'percent')} % of the forgotten samples "
        f"unseen in Original, {number(after.mean, 'percent')} % in Retrain."
    )


def attack_name(attack: str) -> str:
    return {"m_entropy": "modified entropy", "prob": "all probabilities"}.get(attack, attack)


def attacks_frame(table: ResultsTable, paper: Published | None) -> pd.DataFrame:
    """A line a method: its verdict, its distance to Retrain, and every attack in percent."""
    columns = {column.id: column for column in table.columns}
    made = []
    for row in table.rows:
        line: dict[str, object] = {
            "Method": row.title,
            "Verdict": verdict_text(row),
            "Runs": len(row.keys),
        }
        line["Distance (points)"] = number(row.distance.mean if row.distance else None, "percent")
        for attack in membership.ATTACKS:
            cell, head = row.cells[f"mia_{attack}"], attack_name(attack)
            line[f"{head} (%)"] = number(cell.value.mean if cell.value else None, "percent")
            line[f"{head} ±"] = number(cell.value.half if cell.value else None, "percent")
            line[f"{head} gap"] = number(
                cell.gap.mean if cell.gap else None, "percent", signed=True
            )
            if paper is not None and any(column == f"mia_{attack}" for _, column in paper.values):
                line[f"{head}, {paper.source} (%)"] = paper.text(
                    row.method, columns[f"mia_{attack}"], "value", reference=row.reference
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
    order, forget, retain, test, split = _attack_data(outputs, result.spec)
    scores = membership.score_samples(
        attack, forget=forget, members=retain, nonmembers=test, split=split
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


Predicted = tuple[np.ndarray, np.ndarray]  # probabilities, labels


def _attack_data(
    outputs: Outputs, spec: Mapping[str, Any]
) -> tuple[dict[str, np.ndarray], Predicted, Predicted, Predicted, membership.AttackSplit]:
    """By split the order of its samples by id; the forget, retain and test set in that order; and
    who fits the attack.
    """
    missing = [name for name in SPLITS if name not in outputs or not len(outputs[name])]
    if missing:
        raise BadValue(
            f"This needs the predictions on the {missing[0]} set, but they were not kept."
        )
    order = {name: np.argsort(outputs[name].ids, kind="stable") for name in SPLITS}
    forget, retain, test = (_predictions(outputs[name], order[name]) for name in SPLITS)
    split = membership.split_attack_data(
        members=len(retain[1]),
        nonmembers=len(test[1]),
        cap=int(spec.get("mia_samples", 2000)),
        evaluation_seed=int(spec.get("evaluation_seed", 0)),
    )
    return order, forget, retain, test, split


def _predictions(split: SplitOutputs, order: np.ndarray) -> Predicted:
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


def natural(attack: str, position: float) -> str:
    """A position in the words of what the attack looks at: "99.98 %", "0.0013 nats", "right",
    "+1.30". Probabilities too near to 0 or 1 for percent are as on the axes: "10⁻⁸", "1 − 10⁻⁸".
    """
    if attack == "correctness":
        named = {
            -0.5: "below wrong",
            0.0: "wrong",
            0.5: "between wrong and right",
            1.0: "right",
            1.5: "above right",
        }
        # shares of right attributes have no names
        return named.get(position, f"{position:.2f}".replace("-", MINUS))
    if attack == "confidence":
        share = 1 / (1 + np.exp(-position))
        rest = 1 / (1 + np.exp(position))
        if share < 1e-6:
            return powered(share)
        if rest < 1e-6:
            return f"1 {MINUS} {powered(rest)}"
        if share < 0.999:
            return f"{float(f'{100 * share:.3g}'):f}".rstrip("0").rstrip(".") + " %"
        return f"{100 * share:.4f}".rstrip("0") + " %"
    if attack in ("entropy", "m_entropy"):
        value = 10.0**-position
        return f"{float(f'{value:.2g}'):g} nats" if value >= 0.001 else f"{powered(value, 2)} nats"
    return f"{position:+.2f}".replace("-", MINUS)


def two_values(scored: Scored) -> bool:
    """Whether the scores are right or wrong and nothing between: correctness of classes."""
    return scored.attack == "correctness" and all(
        np.isin(values, (0, 1)).all() for values in scored.positions.values()
    )


def stops(scored: Scored) -> tuple[float, ...]:
    """The positions at which a threshold may stand, on a grid that depends on the attack alone, so
    that it can stay where it is when the run changes: from one step below the lowest score to one
    above the highest.
    """
    values = np.concatenate(list(scored.positions.values()))
    if two_values(scored):
        return (-0.5, 0.5, 1.5)
    step = STEPS[scored.attack]
    first, last = int(np.floor(values.min() / step)) - 1, int(np.ceil(values.max() / step)) + 1
    wide = max(1, -(-(last - first) // MOST_STOPS))
    return tuple(
        round(number * step, 2) for number in range(first - first % wide, last + wide, wide)
    )


@dataclass(frozen=True)
class Counts:
    """How many samples a threshold calls seen (on or above it, as in the metric) and unseen, of the
    forget and of the test set.
    """

    forget_seen: int
    forget_unseen: int
    test_seen: int
    test_unseen: int

    @property
    def tpr(self) -> float:
        return self.forget_seen / (self.forget_seen + self.forget_unseen)

    @property
    def fpr(self) -> float:
        return self.test_seen / (self.test_seen + self.test_unseen)


def count(scored: Scored, threshold: float) -> Counts:
    """The four counts at a position, over the forget set and the test samples of the ROC curve."""
    seen, passed = (
        int((scored.forget >= threshold).sum()),
        int((scored.negatives >= threshold).sum()),
    )
    return Counts(seen, len(scored.forget) - seen, passed, len(scored.negatives) - passed)


def vulnerable(run: Scored, *, retrain: Scored | None, original: Scored | None) -> pd.DataFrame:
    """One line a forgotten sample, most exposed first: id, position in this run, in Retrain and in
    Original (NaN where unknown).

    Exposed is what stands higher here than in Retrain, which never saw the sample; without Retrain,
    what stands high. Ties go by id.
    """
    frame = pd.DataFrame({"id": run.ids["forget"], "run": run.forget})
    for name, other in (("retrain", retrain), ("original", original)):
        known = (
            pd.Series(dtype=float)
            if other is None
            else pd.Series(other.forget, index=other.ids["forget"])
        )
        frame[name] = frame["id"].map(known).astype(float)
    frame["lead"] = frame["run"] - frame["retrain"]
    return frame.sort_values(
        ["lead", "run", "id"], ascending=[False, False, True], na_position="last", ignore_index=True
    )
