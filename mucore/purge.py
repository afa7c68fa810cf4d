"""What samples that must be gone left in a home: found, and removed. Numbers of runs stay, for they
say nothing of one sample; the data themselves and copies elsewhere are their owner's to remove.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import sqlalchemy as sa

from mucore import catalog, datasets
from mucore.errors import BadValue, MucoreError
from mucore.forget_sets import identity, saved
from mucore.runs import Recipe
from mucore.store import Store, schema
from mucore.store.records import ACTIVE, Result
from mucore.userfiles.datasets import data_hash, named, split

RECORD: Final = "purged.jsonl"  # in the home; names no sample
# of the home, made anew when they are asked for; which samples are in them is not known
MADE_ANEW: Final = ("analyses", "quality", "checkpoints")


@dataclass(frozen=True)
class Left:
    """Keys of results whose predictions hold a sample, keys of networks but those that are known to
    be retrained without the samples or made to forget them, names of forget sets, and files.
    """

    outputs: tuple[str, ...]
    models: tuple[str, ...]
    sets: tuple[str, ...]
    files: tuple[Path, ...]


def left(store: Store, dataset: str, rows: Sequence[int]) -> Left:
    """What `rows` of the source of a data set left in the home of `store`. Raises `MucoreError`
    for rows that there are not, and where the data cannot be read.
    """
    name = split(named(dataset) if ":" in dataset else catalog.dataset(dataset).id)[0]
    content = data_hash(dataset)

    def of_it(spec: Mapping[str, Any]) -> bool:
        other = split(spec["dataset"])[0]  # however it was read
        return other == name or bool(content) and spec.get("data_hash") == content

    every = identity.numbers(datasets.load(dataset))
    if unknown := set(rows) - set(every.tolist()):
        raise BadValue(f"{dataset} has no row {min(unknown)}. Name rows up to {every.max()}.")
    known: dict[str, np.ndarray] = {}
    outputs, forgot = [], set[str]()
    for result in store.results(metrics=False):
        if not of_it(result.spec):
            continue
        if (result.spec.get("data_hash") or "") != content:  # changed since, or read otherwise
            outputs += [result.key] if result.outputs else []
            continue
        recipe = Recipe.model_validate(result.spec["recipe"])
        cut = json.dumps(recipe.cut())
        if cut not in known:
            numbers = identity.numbers(datasets.load(dataset, **recipe.cut()))
            known[cut] = identity.numbered(numbers, np.asarray(rows))
        held, without = _held(store, result, known[cut])
        outputs += [result.key] if held else []
        forgot |= {result.model_key} if without and result.spec["method"] != "original" else set()
    with store.read() as connection:
        model = schema.model
        there = sa.select(model.c.model_key).where(model.c.weights.is_not(None))
        networks = [store.get_model(key) for key in connection.execute(there).scalars().all()]
    models = [
        each.model_key
        for each in networks
        if each and of_it(each.spec) and each.model_key not in forgot
    ]
    sets = [
        each.name
        for each in saved.listed(store.home)[0]
        if of_it({"dataset": each.dataset, "data_hash": each.data_hash})
        and (each.data_hash != content or np.isin(rows, each.ids).any())
    ]
    files = [path for name in MADE_ANEW for path in (store.home / name).glob("*") if path.is_file()]
    return Left(tuple(outputs), tuple(models), tuple(sets), tuple(files))


def _held(store: Store, result: Result, ids: np.ndarray) -> tuple[bool, bool]:
    """Whether the predictions of a run hold one of `ids`, and whether it forgot all of them."""
    try:
        found = store.artifacts.get_outputs(result.outputs or "", features=False)
    except MucoreError:  # they are gone, so nobody knows what it forgot
        return False, False
    held = any(np.isin(ids, part.ids).any() for part in found.values())
    return held, "forget" in found and bool(np.isin(ids, found["forget"].ids).all())


def remove(store: Store, found: Left) -> dict[str, int]:
    """Remove it; returns what went, by kind, as the record in the home has it. Raises `BadValue`
    while jobs are queued or running.
    """
    if store.jobs(states=ACTIVE, limit=1):
        raise BadValue("Jobs are queued or running. Cancel them or wait for their end first.")
    result, model = schema.result, schema.model
    with store.write("results") as connection:
        of_runs = sa.update(result).where(store.among(result.c.key, found.outputs))
        connection.execute(of_runs.values(outputs=None))
        for table in (result, model):
            of_networks = sa.update(table).where(store.among(table.c.model_key, found.models))
            connection.execute(of_networks.values(weights=None))
    for name in found.sets:
        saved.delete(store.home, name)
    for path in found.files:
        path.unlink(missing_ok=True)
    freed = store.gc("all", young_seconds=0.0)
    counts = {"predictions": len(found.outputs), "networks": len(found.models)}
    counts |= {"forget sets": len(found.sets), "files": len(found.files) + freed["files"]}
    line = json.dumps({"time": datetime.now(UTC).isoformat(timespec="seconds"), **counts})
    with (store.home / RECORD).open("a", encoding="utf-8") as record:
        record.write(f"{line}\n")
    return counts
