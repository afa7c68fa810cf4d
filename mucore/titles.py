"""Runs by the titles of their cards, for people; ids stay what they type. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mucore import catalog
from mucore.errors import MucoreError
from mucore.userfiles import datasets

if TYPE_CHECKING:
    from mucore.store.rows import Job

NAMED = 12  # runs that a sentence names


def who(spec: Mapping[str, Any]) -> str:
    """ "Training of the original, seed 0", "SCRUB (tuned), seeds 0 and 1": the method of
    `RunSpec.model_dump` and its seeds.
    """
    if spec["scenario"] is None:
        name = (
            "Training of the poisoned original"
            if spec.get("poison")
            else "Training of the original"
        )
    else:
        name = _title(catalog.method, spec["method"])
    preset = spec.get("method_preset", "authors")
    changes = [] if preset == "authors" else [preset.replace("_", " ")]
    changes += [f"noise {spec['noise']:g}"] if spec.get("noise") else []
    changes += ["classifier alone"] if spec.get("scope", "all") != "all" else []
    seeds = (
        f"seeds {spec['training_seed']} and {spec['unlearning_seed']}"
        if spec.get("unlearning_seed")
        else f"seed {spec['training_seed']}"
    )
    evaluation = (
        f", evaluation seed {spec['evaluation_seed']}" if spec.get("evaluation_seed") else ""
    )
    return name + (f" ({', '.join(changes)})" if changes else "") + f", {seeds}{evaluation}"


def where(spec: Mapping[str, Any]) -> str:
    """ "Part of one class · Digits · MLP 512-256-128": scenario, data set and model; which request
    it is, in a sequence.
    """
    request, before = 1, spec.get("after")
    while before:
        request, before = request + 1, before.get("after")
    scenario = [_title(catalog.scenario, spec["scenario"])] if spec["scenario"] else []
    again = [f"request {request}"] if request > 1 else []
    return " · ".join([*scenario, *again, dataset(spec["dataset"]), model(spec["model"])])


def run(spec: Mapping[str, Any]) -> str:
    """ "Retrain, seed 0 · Part of one class · Digits · MLP 512-256-128"."""
    return f"{who(spec)} · {where(spec)}"


def dataset(name: str) -> str:
    """ "Handwritten digits", and for a user's own data the kind and the name of the file."""
    kind, _, path = name.partition(":")
    return _title(catalog.dataset, kind) + (f", {file(path)}" if path else "")


def file(path: str) -> str:
    """The name of a user's file or folder; of an upload the one that it came with, which is kept
    beside it.
    """
    kept, how = datasets.split(path)
    try:
        beside = Path(kept).parent / "names" / f"{Path(kept).name}.txt"
        return beside.read_text(encoding="utf-8") + how
    except (OSError, ValueError):  # ValueError: what stands in an address is no path
        return Path(path).name


def model(name: str) -> str:
    return _title(catalog.model, name)


def cancelling(jobs: Sequence[Job], waiting: Sequence[Job]) -> str:
    """What to ask before `jobs` are cancelled: "Retrain, seed 0: 2 runs wait for it: ... Cancel it
    and them?"; "" where nothing waits.

    `waiting` are the queued jobs that need one of them, as `Store.waiting_for` gives them.
    """
    if not waiting:
        return ""
    leads = [job for job in jobs if any(job.key in one.needs for one in waiting)]
    names = list(dict.fromkeys(who(job.spec) for job in waiting))
    listed = "; ".join(names[:NAMED]) + f"; and {len(names) - NAMED} more" * (len(names) > NAMED)
    count = f"{len(waiting)} runs wait" if len(waiting) > 1 else "1 run waits"
    it, them = ("it" if len(leads) == 1 else "them"), ("them" if len(waiting) > 1 else "it")
    asked = (
        f"Cancel {it} and {them}?"
        if (it, them) == ("it", "them")
        else "Cancel both?"
        if it == "it"
        else "Cancel all of them?"
    )
    return (
        f"{'; '.join(who(job.spec) for job in leads[:NAMED])}: {count} for {it}: {listed}. {asked}"
    )


def _title(find: Callable[[str], Any], name: str) -> str:
    """The title of a card, or the id where the catalogue no longer knows it."""
    try:
        return find(name).title
    except MucoreError:
        return name
