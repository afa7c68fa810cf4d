"""Forgetting persons: NoMUS tables, the papers' beside them, and what one run says of forgotten and
unseen persons. No Streamlit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dashboard.frames import NOISE, Answer, Row, noise, verdict_text
from dashboard.papers.tables import Printed, cells, printed_tables
from dashboard.text import verdicts
from dashboard.text.labels import MISSING, number
from mucore.outputs import Outputs, cross_entropy, probabilities
from mucore.outputs import answers as answers_of
from mucore.statistics.significance import rank_agreement

METRICS = ("ta", "top2", "forgetting_score", "nomus", "fa", "ra")
FEWEST = 3  # methods below which an order says nothing

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


@dataclass(frozen=True)
class Orders:
    """How methods order in class forgetting (nearness to Retrain, best first) and here (NoMUS, best
    first); τ-b between the two.
    """

    by_class: tuple[str, ...]
    by_person: tuple[str, ...]
    tau: float | None

    def place(self, title: str) -> int:
        return self.by_person.index(title) + 1


def orders(
    persons: Sequence[Row], classes: Sequence[Row], settings_of: Mapping[str, str]
) -> Orders | None:
    """The two orders over the methods that both have with the same settings, by NoMUS here and by
    distance to Retrain in class forgetting; None below three.

    `settings_of` says by key whose settings a run has. Of several rows of a method the first counts
    that the other side has, too.
    """
    there: dict[tuple[str, str], float] = {}
    for row in classes:
        if not row.reference and row.distance is not None:
            for key in row.keys:
                there.setdefault((row.method, settings_of[key]), -row.distance.mean)
    near: dict[str, float] = {}
    here: dict[str, tuple[str, float]] = {}
    for row in persons:
        found = value(row, "nomus")
        same = [(row.method, settings_of[key]) for key in row.keys]
        away = next((there[each] for each in same if each in there), None)
        if row.method not in here and not row.reference and found is not None and away is not None:
            here[row.method], near[row.method] = (row.title, found), away
    if len(here) < FEWEST:
        return None
    names = {method: title for method, (title, _) in here.items()}
    scores = {
        "class": [near[method] for method in here],
        "person": [score for _, score in here.values()],
    }
    tau = float(rank_agreement(scores).tau[0, 1])
    by_class = sorted(here, key=lambda method: -near[method])
    by_person = sorted(here, key=lambda method: -here[method][1])
    return Orders(
        tuple(names[method] for method in by_class),
        tuple(names[method] for method in by_person),
        None if math.isnan(tau) else tau,
    )


def orders_text(found: Orders) -> str:
    """The paper's finding on the two orders, on this store."""
    count = len(found.by_class)
    first = found.by_class[0]
    tau = (
        ""
        if found.tau is None
        else (
            f" Kendall's τ between the orders is {found.tau:.2f} over {count} methods (1: the "
            "same, 0: unrelated)."
        )
    )
    said = (
        "the two orders agree closely"
        if found.tau is not None and found.tau >= 0.8
        else "the two orders differ"
    )
    return (
        "The paper finds that methods good at forgetting classes need not be good at forgetting "
        f"persons. Here {said}. {first} is nearest to Retrain when a class goes, and number "
        f"{found.place(first)} of {count} by NoMUS when persons go; number 1 here, "
        f"{found.by_person[0]}, is number {found.by_class.index(found.by_person[0]) + 1} there. "
        f"NoMUS asks for no proof of forgetting.{tau}"
    )


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


def headline(rows: Sequence[Row], images: int) -> str:
    """What became of the methods, to be read aloud, after a warning where the forgetting score
    shows nothing; "" without a verdict.
    """
    said = verdicts.count_sentence(rows)
    if uninformative(rows, images):
        scores = {
            row.method: three(value(row, "forgetting_score")) for row in rows if row.reference
        }
        said = (
            "The forgetting score cannot show forgetting here: the untouched original has "
            f"{scores['original']}, Retrain {scores['retrain']}, and a mere guess up to "
            f"{three(by_chance(images))}. {said}"
        )
    return said.strip()


def answers(rows: Sequence[Row], found: Orders | None, images: int) -> tuple[Answer, ...]:
    """The best NoMUS of a method that qualifies, then what it must be read beside: Retrain, the
    untouched original, and chance.

    `images` are forgotten ones, which say how much is chance.
    """
    made = []
    able = [
        (score, row) for row in verdicts.leading(rows) if (score := value(row, "nomus")) is not None
    ]
    if able:
        score, best = max(able, key=lambda pair: pair[0])
        detail = f"{three(score)}, among methods {verdicts.that_forgot(rows)}"
        made.append(Answer("Best NoMUS", best.title, detail))
    elif any(not row.reference for row in rows):
        made.append(Answer("Best NoMUS", "None qualifies", verdicts.why_none(rows)))
    own = {row.method: row for row in rows if row.reference}
    retrain, original = own.get("retrain"), own.get("original")
    if retrain is not None and value(retrain, "nomus") is not None:
        detail = f"test accuracy {number(value(retrain, 'ta'), 'percent')} %"
        if original is not None and value(original, "nomus") is not None:
            detail = (
                f"the untouched original has {three(value(original, 'nomus'))}: NoMUS can be "
                "high without any forgetting"
            )
        made.append(Answer("Retrain's NoMUS", three(value(retrain, "nomus")), detail))
    if retrain is not None and value(retrain, "forgetting_score") is not None:
        detail = f"a mere guess scores up to {three(by_chance(images))}"
        if original is not None:
            detail = (
                f"the untouched original has {three(value(original, 'forgetting_score'))}; {detail}"
            )
        made.append(
            Answer("Retrain's forgetting score", three(value(retrain, "forgetting_score")), detail)
        )
    if found is not None:
        place = f"{found.place(found.by_class[0])} of {len(found.by_class)}"
        made.append(
            Answer(
                "Nearest to Retrain in class forgetting",
                found.by_class[0],
                f"number {place} here, by NoMUS",
            )
        )
    return tuple(made)


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
