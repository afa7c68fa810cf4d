"""Any number of runs beside each other: their names, their Retrain, the samples they share, and
where their predictions part.

Predictions come from stored outputs (`mucore.outputs`); shares and probabilities are fractions in
0..1. No Streamlit, no plotly.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pandas as pd

from dashboard.text import verdicts
from dashboard.text.labels import (
    MISSING,
    THIN,
    Unit,
    forget_set_text,
    method_names,
    number,
    scenario_title,
)
from mucore.outputs import DOWNSTREAM, Outputs, probabilities, task_of
from mucore.runs import REFERENCES, variants
from mucore.runs.variants import Variant
from mucore.statistics import SETTING
from mucore.verdicts import Judged

SPLITS: Final = ("test", "forget", "retain", "validation")
SPLIT_NAMES: Final = {
    "test": "Test set",
    "forget": "Forget set",
    "retain": "Retain set",
    "validation": "Validation set",
}
NEAREST: Final = 5  # methods beside Original and Retrain that are compared at first


# -- runs


def labels(runs: pd.DataFrame, *, full: bool, among: pd.DataFrame | None = None) -> dict[str, str]:
    """A name for each key, unique in `runs`: with `full`, method, scenario and seed always; else
    the method and only what tells apart.

    A method that has several settings `among` the runs on offer (default: `runs`) is named with its
    own, "RUM (tuned)".
    """
    settings = _settings(runs if among is None else among)
    titles = [method_names(str(method))[0] for method in runs["method"]]
    names = [
        f"{title} ({settings[key]})" if settings[key] else title
        for title, key in zip(titles, runs["key"], strict=True)
    ]
    columns = {
        "scenario": [scenario_title(str(name)) for name in runs["scenario"]],
        "set": [
            forget_set_text(str(text), str(name))
            for text, name in zip(runs["scenario_parameters"], runs["dataset"], strict=True)
        ],
        "seed": [f"seed {seed}" for seed in runs["training_seed"]],
        "unlearning": [f"unlearning {seed}" for seed in runs["unlearning_seed"]],
        "evaluation": [f"evaluation {seed}" for seed in runs["evaluation_seed"]],
        "key": [str(key)[:6] for key in runs["key"]],
    }
    for what, parts in columns.items():
        spread: dict[str, set[str]] = {}
        for name, part in zip(names, parts, strict=True):
            spread.setdefault(name, set()).add(part)
        always = full and what in ("scenario", "seed")
        names = [
            f"{name}, {part}" if always or len(spread[name]) > 1 else name
            for name, part in zip(names, parts, strict=True)
        ]
    return dict(zip(runs["key"], names, strict=True))


def _settings(runs: pd.DataFrame) -> dict[str, str]:
    """By key, what tells a run's settings from those of the other runs of its method: their preset,
    or what differs; "" where nothing does.

    Presets are told apart across scenarios, too; single settings within one, for they may follow
    the scenario.
    """
    place = runs.groupby(list(SETTING), sort=False, dropna=False).ngroup().tolist()
    kinds: dict[str, list[tuple[str, Variant]]] = {}
    columns = (runs[name].tolist() for name in ("key", "method", "parameters", "method_preset"))
    for index, (key, method, text, preset) in enumerate(zip(*columns, strict=True)):
        kinds.setdefault(method, []).append(
            (key, Variant(settings=json.loads(text), preset=preset, place=place[index]))
        )
    found = {}
    for method, mine in kinds.items():
        names = variants.names(method, [kind for _, kind in mine])
        if not any(names) and len({kind.preset for _, kind in mine}) > 1:
            names = [kind.preset for _, kind in mine]
        found |= {key: name for (key, _), name in zip(mine, names, strict=True)}
    return found


def in_order(runs: pd.DataFrame) -> pd.DataFrame:
    """Original and Retrain first, then by method, setting, preset and seeds."""
    place = runs["method"].map({"original": 0, "retrain": 1}).fillna(2)
    by = [
        "place",
        "method",
        "scenario",
        "scenario_parameters",
        "method_preset",
        "training_seed",
        "unlearning_seed",
        "evaluation_seed",
    ]
    return runs.assign(place=place).sort_values(by, kind="stable").drop(columns="place")


def usual_keys(runs: pd.DataFrame, near: Sequence[str]) -> list[str]:
    """Original, Retrain and a few methods, of one training seed; `runs` are those of one setting.

    Runs of the keys `near` come first, in this order; those that ended badly are left out.
    """
    seeds = sorted(set(runs.loc[runs["method"] == "retrain", "training_seed"])) or sorted(
        set(runs["training_seed"])
    )
    mine = runs[(runs["training_seed"] == seeds[0]) & (runs["status"] == "ok")] if seeds else runs
    mine = mine.sort_values(["unlearning_seed", "evaluation_seed"], kind="stable").drop_duplicates(
        ["method", "parameters"]
    )
    references = [
        key for name in REFERENCES for key in mine.loc[mine["method"] == name, "key"].head(1)
    ]
    methods = mine[~mine["method"].isin(REFERENCES)]
    places = {key: place for place, key in enumerate(near)}
    away = methods.assign(place=methods["key"].map(places)).sort_values("place", kind="stable")
    return [*references, *away.drop_duplicates("method")["key"].head(NEAREST)]


def alike(every: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Those of `every` run that have a setting of `runs`: the other seeds and methods, among which
    a run is judged.
    """
    settings = list(SETTING)
    return every[every.set_index(settings).index.isin(runs.set_index(settings).index)]


def retrain_of(runs: pd.DataFrame, key: str) -> str | None:
    """The retrained model of the same setting and training seed as the run `key`, None where there
    is none.
    """
    mine = runs[runs["key"] == key].iloc[0]
    alike = runs[(runs["method"] == "retrain") & (runs["training_seed"] == mine["training_seed"])]
    for column in SETTING:
        alike = alike[alike[column] == mine[column]]
    return None if alike.empty else str(alike["key"].iloc[0])


# -- predictions


@dataclass(frozen=True, eq=False)
class Common:
    """The samples of one split that all runs kept: `ids` (n,), `labels` (n,) or (n, A), and each
    run's probabilities (n, C) or (n, A).

    Arrays may be shared with other readers: never write to them. `total` is the size of the whole
    split.
    """

    ids: np.ndarray
    labels: np.ndarray
    probabilities: tuple[np.ndarray, ...]
    total: int

    @property
    def predictions(self) -> tuple[np.ndarray, ...]:
        """Classes (n,), or answers (n, A) of 0 and 1."""
        if task_of(self.labels) == "attributes":
            return tuple((each > 0.5).astype(np.int64) for each in self.probabilities)
        return tuple(each.argmax(axis=1) for each in self.probabilities)


def common(outputs: Sequence[Outputs], split: str) -> Common | None:
    """What all runs predicted on the samples of `split` that each of them kept; None where there is
    no such sample.
    """
    parts = [each[split] for each in outputs if split in each]
    if not parts or len(parts) < len(outputs):
        return None
    ids = parts[0].ids
    for part in parts[1:]:
        ids = np.intersect1d(ids, part.ids)
    if not len(ids):
        return None
    rows = [rows_of(part.ids, ids) for part in parts]
    return Common(
        ids=ids,
        labels=parts[0].labels[rows[0]],
        probabilities=tuple(
            probabilities(part.logits[row], part.task)
            for part, row in zip(parts, rows, strict=True)
        ),
        total=min(part.total for part in parts),
    )


def rows_of(all_ids: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """Where `ids`, each of which is in `all_ids`, stand there."""
    order = np.argsort(all_ids, kind="stable")
    return order[np.searchsorted(all_ids, ids, sorter=order)]


def shared_predictions(found: Common) -> np.ndarray:
    """(runs, runs): the share of samples with the same prediction; of attributes, of answers."""
    predictions = found.predictions
    square = np.eye(len(predictions))
    for i, j in itertools.combinations(range(len(predictions)), 2):
        square[i, j] = square[j, i] = (predictions[i] == predictions[j]).mean()
    return square


def most_disputed(found: Common, most: int) -> np.ndarray:
    """Places in `found.ids` of the samples on which the runs differ most, the most disputed first;
    none on which all say the same.

    First by the share of pairs of runs that predict differently, then by the spread of the
    probability of the true label.
    """
    predictions, count = found.predictions, len(found.ids)
    pairs = list(itertools.combinations(predictions, 2))
    differ = np.zeros(count)
    for one, other in pairs:
        differ += (one != other).reshape(count, -1).mean(axis=1) / len(pairs)
    spread = np.std([true_confidence(each, found.labels) for each in found.probabilities], axis=0)
    order = np.lexsort((found.ids, -spread, -differ))
    return order[differ[order] > 0][:most]


def true_confidence(probability: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """(n,) the probability of the true label; for attributes the mean over them."""
    if task_of(labels) == "attributes":
        return np.where(labels == 1, probability, 1 - probability).mean(axis=1)
    return probability[np.arange(len(labels)), labels]


@dataclass(frozen=True, eq=False)
class Instance:
    """One sample under several runs: the split of each run that it stands in, its label, and
    probabilities (C,) or (A,).
    """

    splits: tuple[str, ...]
    label: np.ndarray
    probabilities: tuple[np.ndarray, ...]
    places: tuple[int, ...]  # which of the given outputs have it


def instance(outputs: Sequence[Outputs], sample: int) -> Instance | None:
    """The sample wherever the runs kept it; None where none did. What an attacker changed
    (`triggered`) is not looked at.
    """
    splits, found, places = [], [], []
    label: np.ndarray | None = None
    for place, each in enumerate(outputs):
        for name in each:
            if name == "triggered" or name.startswith(DOWNSTREAM):
                continue
            (rows,) = np.nonzero(each[name].ids == sample)
            if len(rows):
                part, row = each[name], rows[:1]
                splits.append(name)
                places.append(place)
                found.append(probabilities(part.logits[row], part.task)[0])
                label = part.labels[row][0] if label is None else label
                break
    return (
        None
        if label is None
        else Instance(tuple(splits), np.asarray(label), tuple(found), tuple(places))
    )


def answer_text(probability: np.ndarray, names: Sequence[str]) -> tuple[str, float]:
    """The predicted class of one sample (C,) and its probability."""
    best = int(probability.argmax())
    return class_name(best, names), float(probability[best])


def class_name(number: int, names: Sequence[str]) -> str:
    return names[number] if number < len(names) else str(number)


def disputed_frame(
    found: Common,
    places: np.ndarray,
    titles: Sequence[str],
    names: Sequence[str],
    numbers: np.ndarray,
) -> pd.DataFrame:
    """One line a disputed sample: its number, true label, and prediction and confidence of each
    run; `numbers` are those of all samples in common.
    """
    made = []
    for place in places:
        line: dict[str, object] = {
            "Sample": int(numbers[place]),
            "True label": label_text(found.labels[place], names),
        }
        for title, probability in zip(titles, found.probabilities, strict=True):
            if task_of(found.labels) == "attributes":
                line[title] = label_text(probability[place] > 0.5, names)
            else:
                name, confidence = answer_text(probability[place], names)
                line[title] = f"{name}, {100 * confidence:.0f}{THIN}%"
        made.append(line)
    return pd.DataFrame(made)


def true_classes(label: np.ndarray, names: Sequence[str]) -> list[str]:
    """A class by name; of attributes those that the sample has."""
    places = [int(label)] if np.ndim(label) == 0 else np.flatnonzero(label)
    return [class_name(place, names) for place in places]


def label_text(label: np.ndarray, names: Sequence[str]) -> str:
    return ", ".join(true_classes(label, names)) or "none"


def runs_frame(
    runs: pd.DataFrame,
    values: pd.DataFrame,
    titles: Mapping[str, str],
    judged: Mapping[str, Judged],
) -> pd.DataFrame:
    """One line a run: verdict and distance to Retrain of its line, accuracies in percent, cost in
    seconds and, where any run counted it, in work, and how it ended. Text as shown.
    """
    wide = values[values["key"].isin(runs["key"])].pivot_table(
        index="key", columns="metric", values="value", aggfunc="first"
    )
    columns: list[tuple[str, str, Unit]] = [
        ("TA (%)", "ta", "percent"),
        ("RA (%)", "ra", "percent"),
        ("FA (%)", "fa", "percent"),
        ("RTE", "rte", "ratio"),
    ]
    if "rte_work" in wide.columns:
        columns.append(("Work", "rte_work", "ratio"))
    made = []
    for key, status, device in zip(runs["key"], runs["status"], runs["device"], strict=True):
        own = judged.get(key)
        line = {
            "Run": titles[key],
            "Verdict": MISSING
            if own is None or own.verdict is None
            else verdicts.text(own.verdict),
        }
        line["Distance"] = number(None if own is None else own.distance, "percent")
        for head, metric, unit in columns:
            known = metric in wide.columns and key in wide.index
            line[head] = number(float(wide.loc[key, metric]) if known else None, unit)
        made.append(line | {"Status": status, "Device": device})
    return pd.DataFrame(made)
