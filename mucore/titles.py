"""Runs by the titles of their cards, for people; ids stay what they type. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mucore import catalog
from mucore.errors import MucoreError
from mucore.userfiles import datasets

if TYPE_CHECKING:
    from mucore.store.records import Job

NAMED = 12  # runs that a sentence names


def who(spec: Mapping[str, Any]) -> str:
    """ "Training of the original, seed 0", "SCRUB (tuned), seeds 0 and 1": the method of
    `RunSpec.model_dump` and its seeds.
    """
    if spec["scenario"] is not None:
        name = _title(catalog.method, spec["method"])
    else:
        name = f"Training of the {'poisoned ' if spec.get('poison') else ''}original"
    preset, noise = spec.get("method_preset", "authors"), spec.get("noise")
    changes = [
        "" if preset == "authors" else preset.replace("_", " "),
        f"noise {noise:g}" if noise else "",
        "classifier alone" if spec.get("scope", "all") != "all" else "",
    ]
    changed = ", ".join(filter(None, changes))
    seeds = f"seed {spec['training_seed']}"
    if spec.get("unlearning_seed"):
        seeds = f"seeds {spec['training_seed']} and {spec['unlearning_seed']}"
    if spec.get("evaluation_seed"):
        seeds += f", evaluation seed {spec['evaluation_seed']}"
    return f"{name} ({changed}), {seeds}" if changed else f"{name}, {seeds}"


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
    """What to ask before `jobs` are cancelled: "Retrain, seed 0: 2 runs wait for it: ... Cancel
    them too?"; "" where nothing waits.

    `waiting` are the queued jobs that need one of them, as `Store.dependents` gives them.
    """
    if not waiting:
        return ""
    needed = {key for job in waiting for key in job.needs}
    leads = dict.fromkeys(who(job.spec) for job in jobs if job.key in needed)
    names = dict.fromkeys(who(job.spec) for job in waiting)
    return f"{_listed(leads)}: {len(waiting)} runs wait for it: {_listed(names)}. Cancel them too?"


def _listed(names: Iterable[str]) -> str:
    """The first so many."""
    few = list(names)[: NAMED + 1]
    return "; ".join([*few[:NAMED], *["..."] * (len(few) > NAMED)])


def _title(find: Callable[[str], Any], name: str) -> str:
    """The title of a card, or the id where the catalogue no longer knows it."""
    try:
        return find(name).title
    except MucoreError:
        return name
