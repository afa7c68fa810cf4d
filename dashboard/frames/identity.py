"""Forgetting persons: NoMUS tables, the papers' beside them, and what one run says of forgotten and
unseen persons. No Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.frames import NOISE, Row, noise, verdict_text
from dashboard.papers.tables import Printed, cells, printed_tables
from dashboard.text.labels import MISSING, number
from mucore.outputs import Outputs, cross_entropy, probabilities
from mucore.outputs import answers as answers_of

METRICS = ("ta", "top2", "forgetting_score", "nomus", "fa", "ra")

# The published tables by their names in addresses.
TABLES: Mapping[str, Printed] = {
    one.id.removeprefix("persons-"): one for one in printed_tables("identities")
}


def table_for(dataset: str) -> str:
    """The published table, a key of `TABLES`, that goes with runs on a data set."""
    return next(
        (name for name, table in TABLES.items() if dataset in table.datasets), next(iter(TABLES))
    )


@dataclass(frozen=True)
class Paper:
    """A published table: (method id, metric) -> value in 0..1; lines without a counterpart keep the
    paper's name as id. `names` are the paper's, by method id.
    """

    title: str
    values: Mapping[tuple[str, str], float]
    names: Mapping[str, str]

    def value(self, method: str, metric: str) -> float | None:
        return self.values.get((method, metric))

    @property
    def methods(self) -> list[str]:
        return list(dict.fromkeys(method for method, _ in self.values))


def paper_table(name: str) -> Paper:
    """The table that `name`, a key of `TABLES`, stands for."""
    lines = cells("persons")
    lines = lines[lines["table"] == name]
    places = zip(lines["method"], lines["metric"], strict=True)
    return Paper(
        TABLES[name].setting,
        dict(zip(places, lines["value"], strict=True)),
        dict(zip(lines["method"], lines["name"], strict=True)),
    )


def value(row: Row, metric: str) -> float | None:
    found = row.cells[metric].value
    return None if found is None else found.mean


def table(rows: Sequence[Row], paper: Paper | None) -> pd.DataFrame:
    """The 95 % band of Retrains of other seeds, then a line a row, references first; with
    `paper`, its columns beside ours, and below a line for each method of its that has no row.

    Test and forget accuracy in percent, the others in 0..1.
    """
    made = [_noise(rows, paper)] if noise(rows, "ta") is not None else []
    for row in rows:
        line = {
            "Method": row.title,
            "Verdict": verdict_text(row) or MISSING,
            "Distance": number(None if row.distance is None else row.distance.mean, "percent"),
            "Seeds": str(len(row.training_seeds)),
            "Test, %": number(value(row, "ta"), "percent"),
            "Top-2, %": number(value(row, "top2"), "percent"),
            "Forgetting score": three(value(row, "forgetting_score")),
            "NoMUS": three(value(row, "nomus")),
            "Forget, %": number(value(row, "fa"), "percent"),
        }
        if paper is not None:
            line |= _printed(paper, row.method)
        made.append(line | {"Status": row.status})
    if paper is not None:
        known = {row.method for row in rows}
        blank = dict.fromkeys(list(made[0]) if made else [], MISSING)
        for method in paper.methods:
            if method not in known:
                made.append(blank | {"Method": paper.names[method]} | _printed(paper, method))
    shown = pd.DataFrame(made)
    if all(row.status == "ok" for row in rows):
        shown = shown.drop(columns="Status")
    if paper is not None and not any(metric == "top2" for _, metric in paper.values):
        shown = shown.drop(columns="Paper: top-2, %")
    # attributes, or results from before it was measured
    if all(value(row, "top2") is None for row in rows):
        shown = shown.drop(columns="Top-2, %")
    return shown


def _noise(rows: Sequence[Row], paper: Paper | None) -> dict[str, str]:
    said = {"Verdict": MISSING, "Distance": MISSING, "Seeds": MISSING}
    for head, metric in HEADS.items():
        half = noise(rows, metric)
        text = number(half, "percent") if head.endswith("%") else three(half)
        said[head] = MISSING if half is None else f"±{text}"
    printed = dict.fromkeys(_printed(paper, "retrain"), MISSING) if paper is not None else {}
    return {"Method": NOISE, **said, **printed, "Status": ""}


def _printed(paper: Paper, method: str) -> dict[str, str]:
    return {
        "Paper: test, %": number(paper.value(method, "ta"), "percent"),
        "Paper: top-2, %": number(paper.value(method, "top2"), "percent"),
        "Paper: score": three(paper.value(method, "forgetting_score")),
        "Paper: NoMUS": three(paper.value(method, "nomus")),
    }


HEADS = {
    "Test, %": "ta",
    "Top-2, %": "top2",
    "Forgetting score": "forgetting_score",
    "NoMUS": "nomus",
    "Forget, %": "fa",
}


def three(value: float | None) -> str:
    return MISSING if value is None or not math.isfinite(value) else f"{value:.3f}"


def reasons(rows: Sequence[Row]) -> list[str]:
    """Why numbers are missing, each reason once with the methods that lack them."""
    said: dict[str, list[str]] = {}
    for row in rows:
        for metric in ("forgetting_score", "nomus"):
            if row.cells[metric].value is None and row.title not in said.setdefault(
                row.cells[metric].reason, []
            ):
                said[row.cells[metric].reason].append(row.title)
    return [f"{', '.join(names)}: {reason}" for reason, names in said.items() if names]


def by_chance(images: int) -> float:
    """How far from 0 the forgetting score lies by chance in one case of twenty, with so many images
    of each kind, of a mere guess.
    """
    return 1.96 * 0.5 / math.sqrt(2 * images)


def ordered(rows: Sequence[Row]) -> tuple[Row, ...]:
    """References first, then by distance to Retrain; those without one last."""
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                not row.reference,
                0.0 if row.reference else math.inf if row.away is None else row.away,
            ),
        )
    )


def uninformative(rows: Sequence[Row], images: int) -> bool:
    """Whether the untouched original already scores no more than Retrain, or than chance gives, so
    that no score can show forgetting.
    """
    before, after = (
        next((value(row, "forgetting_score") for row in rows if row.method == name), None)
        for name in ("original", "retrain")
    )
    return before is not None and after is not None and before <= max(after, by_chance(images))


# -- a closer look at one run


@dataclass(frozen=True, eq=False)
class Losses:
    """Loss of each kept sample in nats, (n,): of forgotten persons and of persons nobody has
    seen.
    """

    forget: np.ndarray
    unseen: np.ndarray


def losses(outputs: Outputs) -> Losses | None:
    """None where the data set has no images of unseen persons."""
    if "unseen" not in outputs or "forget" not in outputs:
        return None
    return Losses(
        *(
            cross_entropy(outputs[name].logits, outputs[name].labels)
            for name in ("forget", "unseen")
        )
    )


@dataclass(frozen=True)
class Face:
    """A forgotten image: its true label and what each model says of it, with whether it is
    right.
    """

    sample: int
    label: str
    said: tuple[tuple[str, str, bool], ...]  # model, label, right


def faces(
    models: Sequence[tuple[str, Outputs]], names: Sequence[str], count: int
) -> tuple[Face, ...]:
    """`count` forgotten images, those first on which the models differ most; `models` name ->
    outputs, with the same forget set.
    """
    splits = [(name, outputs["forget"]) for name, outputs in models]
    ids = np.sort(splits[0][1].ids)
    placed = {
        name: dict(zip(split.ids.tolist(), range(len(split)), strict=True))
        for name, split in splits
    }
    ids = [int(each) for each in ids if all(int(each) in places for places in placed.values())]
    made = []
    for sample in ids:
        said = []
        first = splits[0][1]
        truth = first.labels[placed[splits[0][0]][sample]]
        for name, split in splits:
            place = placed[name][sample]
            told = answers_of(
                probabilities(split.logits[place : place + 1], split.task), split.task
            ).argmax(axis=1)
            found = told if split.task == "attributes" else told[0]
            said.append(
                (
                    name,
                    label_text(found, names),
                    bool(np.array_equal(np.asarray(found), np.asarray(truth))),
                )
            )
        made.append(Face(sample, label_text(truth, names), tuple(said)))
    return tuple(
        sorted(made, key=lambda face: (-len({told for _, told, _ in face.said}), face.sample))[
            :count
        ]
    )


def label_text(label: np.ndarray | int, names: Sequence[str]) -> str:
    """A class by its name, or the attributes that an image has."""
    if np.ndim(label):
        return (
            ", ".join(names[place] if names else str(place) for place in np.flatnonzero(label))
            or "none"
        )
    return names[int(label)] if names else str(int(label))
