"""`forget-set`: the sample ids that a scenario chooses, to a file and back or by name, and whether
lists name the same.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mucore import catalog, forget_sets
from mucore.cli.base import FAILED
from mucore.cli.flags import GridOptions, build_grid
from mucore.cli.printing import print_table, to_json
from mucore.errors import BadValue
from mucore.forget_sets.ids import read_ids
from mucore.forget_sets.saved import forget_hash
from mucore.store import default_home
from mucore.userfiles import datasets

if TYPE_CHECKING:
    from mucore.runner.session import ForgetSet

# A scenario that never looks at the original gives the same ids with any model.
ANY_MODEL = "mlp"


def choose(
    *,
    dataset: str,
    scenario: str,
    model: str | None,
    preset: str,
    budget: str | None,
    changes: list[str],
    seed: int,
) -> ForgetSet:
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
    grid, _ = build_grid(options)
    (retrain,) = (spec for spec in expand(grid)[0] if spec.method == "retrain")
    with open_store() as store:
        session = Session(store)
        original = session.original(retrain)[0] if looks else None
        return session.forget_set(retrain, original, session.run(retrain, 0))


def compare(wanted: set[int], path: Path) -> tuple[bool, str]:
    """Whether the ids of a CSV file are those wanted, and a sentence that says so. Raises
    `BadFile`, `BadValue`.
    """
    ids = file_ids(path)
    missing, extra = wanted - ids, ids - wanted
    if not missing and not extra:
        return True, f"{path} holds exactly these {len(ids)} samples, hash {forget_hash(ids)}."
    difference = " and ".join(
        f"{verb} {len(some)}, such as {min(some)}"
        for verb, some in (("lacks", missing), ("has others:", extra))
        if some
    )
    return False, (
        f"{path} names other samples (hash {forget_hash(ids)}) than the scenario "
        f"({forget_hash(wanted)}): it {difference}."
    )


def file_ids(path: Path) -> set[int]:
    """The ids of a CSV file, each named once. Raises `BadFile`, `BadValue`."""
    ids = read_ids(path)
    if repeated := [number for number, times in Counter(ids).items() if times > 1]:
        raise BadValue(
            f"A sample id may be named once, but {path} repeats {repeated[0]}. Take the repeats "
            "out."
        )
    return set(ids)


def save(name: str, dataset: str, ids: list[int], made: str, replace: bool) -> None:
    """Keep the samples by name in the home. Raises `BadValue` for a bad name or one that is taken,
    `StoreError`.
    """
    content = datasets.data_hash(dataset)
    if content:
        dataset = f"{catalog.dataset(dataset).id}:{datasets.path_of(dataset).resolve()}"
    found = forget_sets.make(dataset, ids, data_hash=content, made=[made], name=name)
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


def description(ids: list[int], classes: tuple[int, ...]) -> dict[str, Any]:
    """A forget set as JSON."""
    return {"count": len(ids), "hash": forget_hash(ids), "classes": list(classes), "ids": ids}
