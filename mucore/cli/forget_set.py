"""`forget-set`: the sample ids that a scenario chooses, to a file and back or by name, and whether
lists name the same.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mucore import catalog, forget_sets
from mucore.cli.base import FAILED
from mucore.cli.flags import GridOptions, build_grid
from mucore.cli.printing import print_table, to_json
from mucore.errors import BadValue
from mucore.forget_sets import identity
from mucore.forget_sets.saved import forget_hash
from mucore.store import default_home
from mucore.userfiles import datasets

if TYPE_CHECKING:
    from mucore.datasets import Splits

# A scenario that never looks at the original gives the same ids with any model.
ANY_MODEL = "mlp"


@dataclass(frozen=True)
class Chosen:
    """Samples by their rows, sorted; the hash that results have; the classes that go entirely."""

    rows: list[int]
    hash: str
    classes: tuple[int, ...]
    class_names: tuple[str, ...]
    told: identity.Description
    splits: Splits


def choose(
    *,
    dataset: str,
    scenario: str,
    model: str | None,
    preset: str,
    budget: str | None,
    changes: list[str],
    seed: int,
) -> Chosen:
    """Apply a scenario as a run would, training the original if the scenario looks at it and the
    store does not have it.

    Raises `UnknownName`, `BadValue`, `BadFile`.
    """
    card = catalog.scenario(scenario)
    looks = card.needs & {"losses", "downstream"}
    if looks and model is None:
        raise BadValue(
            f"Scenario {card.id} depends on the original model, so it needs --model, such as "
            "--model resnet9-small."
        )
    from mucore.runner.plan import expand
    from mucore.runner.session import Session
    from mucore.store import open_store

    options = GridOptions(
        dataset=dataset,
        model=model or ANY_MODEL,
        scenario=[card.id],
        methods=["retrain"],
        preset=preset,
        budget=budget,
        changes=changes,
        seeds=str(seed),
    )
    grid = build_grid(options)
    retrain, *others = (spec for spec in expand(grid)[0] if spec.method == "retrain")
    if others:
        raise BadValue("A forget set is of one budget and one value of each parameter.")
    with open_store() as store:
        session = Session(store)
        original = session.original(retrain)[0] if looks else None
        forget = session.forget_set(retrain, original, session.run(retrain, 0))
        return _chosen(session.splits(retrain), forget.ids, forget.classes)


def listed(path: Path, dataset: str, splits: Splits | None = None) -> Chosen:
    """The samples of a data set that a file names, divided as in `splits`. Raises `BadFile`,
    `BadValue`.
    """
    from mucore.datasets import load

    splits = splits or load(dataset)
    rows = identity.rows_of(forget_sets.read_file(path), dataset)
    return _chosen(splits, identity.to_ids(splits, rows))


def _chosen(splits: Splits, ids: np.ndarray, classes: tuple[int, ...] = ()) -> Chosen:
    rows = np.sort(identity.to_rows(splits, ids)).tolist()
    names = tuple(splits.class_names[number] for number in classes)
    told = identity.described(splits, ids)
    return Chosen(rows, forget_hash(ids.tolist()), classes, names, told, splits)


def compare(wanted: Chosen, path: Path, dataset: str) -> tuple[bool, str]:
    """Whether a file names the samples wanted, and a sentence that says so. Raises `BadFile`,
    `BadValue`.
    """
    found = listed(path, dataset, wanted.splits)
    if found.hash == wanted.hash:
        return True, f"{path} holds exactly these {len(found.rows)} samples, hash {found.hash}."
    missing, extra = {*wanted.rows} - {*found.rows}, {*found.rows} - {*wanted.rows}
    return False, (
        f"{path} names other samples (hash {found.hash}) than the scenario ({wanted.hash}): it "
        f"lacks {len(missing)} and has {len(extra)} others."
    )


def save(name: str, dataset: str, ids: list[int], made: str, replace: bool) -> None:
    """Keep the samples by name in the home. Raises `BadValue` for a bad name or one that is taken,
    `StoreError`.
    """
    content, splits = datasets.data_hash(dataset), identity.here(dataset)
    digest = identity.digest(splits, ids) if splits is not None else ""
    found = forget_sets.make(
        datasets.named(dataset), ids, data_hash=content, digest=digest, made=[made], name=name
    )
    forget_sets.save(default_home(), found, replace=replace)


def print_saved(as_json: bool) -> int:
    """The saved sets of the home, newest first; damaged files are told on stderr and make the exit
    code `FAILED`.
    """
    found, problems = forget_sets.listed(default_home())
    for sentence in problems:
        print(sentence, file=sys.stderr)
    if as_json:
        print(
            to_json(
                [
                    {"name": each.name, "dataset": each.dataset, "made": each.made, **_facts(each)}
                    for each in found
                ],
                indent=2,
            )
        )
    else:
        print_table(
            ("name", "dataset", "count", "hash", "saved"),
            [(each.name, each.dataset, *_facts(each).values()) for each in found],
        )
    return FAILED if problems else 0


def _facts(found: forget_sets.NamedSet) -> dict[str, Any]:
    return {
        "count": len(found.ids),
        "hash": found.hash,
        "saved": f"{found.created:%Y-%m-%d %H:%M} UTC" if found.created else "",
    }


def description(found: Chosen) -> dict[str, Any]:
    """A forget set as JSON."""
    return {
        "count": len(found.rows),
        "hash": found.hash,
        "classes": list(found.classes),
        "class_names": list(found.class_names),
        "by_class": list(found.told.classes),
        "first": list(found.told.first),
        "ids": found.rows,
    }
