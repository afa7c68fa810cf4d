"""Forget sets: from labels, sample ids and losses of the training set to the ids that are to be forgotten.

Conventions, stated once: arrays describe the training set sample by sample, in any order; `labels` (n,) in 0..classes−1; `ids` (n,)
unique; `losses` (n,) of the original model in eval mode without augmentation. Every function is pure: the same samples, whatever their
order, and the same parameters give the same ids on every machine. Definitions and sources are on the cards (catalog/scenarios.py).
"""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mucore import catalog
from mucore.errors import BadFile, BadValue
from mucore.random import numpy_rng


def select(
    scenario: str,
    parameters: Mapping[str, Any],
    *,
    labels: np.ndarray,
    ids: np.ndarray,
    classes: int,
    losses: np.ndarray | None = None,
    identities: np.ndarray | None = None,
) -> np.ndarray:
    """The ids to forget, sorted, int64. `parameters` are a card's effective ones, as `RunSpec.scenario_parameters` holds them.

    Raises `UnknownName` for a scenario without a card; `BadValue` for a class that does not exist, a budget over what there is to take, ids
    that are unknown or named twice, losses or identities that the scenario needs and did not get, and a forget set that is empty or leaves
    nothing to retain.
    """
    card = catalog.scenario(scenario)
    given = {"losses": losses, "identities": identities}
    for need in sorted(card.needs):
        if given[need] is None:
            origin = "measure them with the original model first" if need == "losses" else "choose a data set that has them"
            raise BadValue(f"Scenario {card.id} orders samples by their {need}, but got none: {origin}.")
    order = np.argsort(ids, kind="stable")
    labels, ids = labels[order], ids[order].astype(np.int64)
    if card.id in ("one_class", "all_classes"):
        within = ids if card.id == "all_classes" else ids[labels == _existing_class(parameters["class_id"], labels, classes)]
        of = f"class {parameters['class_id']}" if card.id == "one_class" else "the training set"
        count = _count(parameters["budget"], len(within), of)
        # A prefix of one permutation: with the same seed a smaller budget is part of a larger one.
        forget = numpy_rng(parameters["seed"], "forget_set").permutation(within)[:count]
    elif card.id == "class_wise":
        forget = ids[np.isin(labels, _existing_classes(parameters["class_ids"], labels, classes))]
    elif card.id in ("worst_case", "best_case"):
        assert losses is not None
        forget = ids[_by_loss(losses[order], highest=card.id == "best_case")][: _count(parameters["budget"], len(ids), "the training set")]
    elif card.id == "ids":
        forget = _known_ids(parameters["ids"], ids)
    else:
        raise NotImplementedError(f"Scenario {card.id} has a card but no selector.")
    if len(forget) >= len(ids):
        raise BadValue(
            f"At least one sample must stay to be retained, but scenario {card.id} forgets all {len(ids)}. Choose a smaller part."
        )
    return np.sort(forget)


def forgotten_classes(scenario: str, parameters: Mapping[str, Any]) -> tuple[int, ...]:
    """The classes that go as a whole, sorted; empty unless the scenario is class-wise."""
    return tuple(sorted(parameters["class_ids"])) if catalog.scenario(scenario).class_wise else ()


def forget_hash(ids: Iterable[int]) -> str:
    """16 hexadecimal digits that name a forget set; the order of the ids does not matter."""
    text = ",".join(str(int(i)) for i in sorted(ids))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_ids(path: Path | str) -> list[int]:
    """The sample ids of a CSV file with a column `id`, in file order. Raises `BadFile` with the line that is wrong."""
    path = Path(path)
    try:
        return parse_ids(path.read_bytes(), name=path.name)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}. Check the path.") from None


def parse_ids(content: bytes, *, name: str) -> list[int]:
    """As `read_ids`, from what a file called `name` holds."""
    rule = "A list of sample ids is a CSV file whose first line is `id`, then one whole number a line"
    try:
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        if "id" not in (rows.fieldnames or ()):
            raise BadFile(f"{rule}, but {name} has no column `id`. Add that line at the top.")
        found = []
        for row in rows:
            text = (row["id"] or "").strip()
            if not text.isdecimal():
                raise BadFile(f"{rule}, but line {rows.line_num} of {name} holds {text[:40]!r}.")
            found.append(int(text))
    except (UnicodeDecodeError, csv.Error):
        raise BadFile(f"{rule}, but {name} is no text file of that kind.") from None
    if not found:
        raise BadFile(f"{rule}, but {name} holds no id.")
    return found


def write_ids(path: Path | str, ids: Iterable[int]) -> None:
    """Write ids, sorted, as `read_ids` reads them."""
    Path(path).write_text("id\n" + "".join(f"{int(i)}\n" for i in sorted(ids)), encoding="utf-8", newline="\n")


def _by_loss(losses: np.ndarray, *, highest: bool) -> np.ndarray:
    """Positions by rising or falling loss; ties keep the order of the samples, which is that of their ids."""
    if not np.isfinite(losses).all():
        raise BadValue(
            f"Losses must be finite to order samples, but {int((~np.isfinite(losses)).sum())} are not. Train the original again."
        )
    return np.argsort(-losses if highest else losses, kind="stable")


def _count(budget: int | float, available: int, of: str) -> int:
    """Samples that a budget means: an int is a count, a float a share, rounded to the nearest (half up), at least 1."""
    if isinstance(budget, int):
        if not 1 <= budget <= available:
            raise BadValue(
                f"A budget over {of} must be from 1 to its {available} samples, but got {budget}. Choose fewer, or a share such as 0.2."
            )
        return budget
    if not 0 < budget <= 1:
        raise BadValue(f"A budget as a share must lie in (0, 1], but got {budget:g}.")
    return min(max(1, math.floor(budget * available + 0.5)), available)


def _existing_class(class_id: int, labels: np.ndarray, classes: int) -> int:
    if not 0 <= class_id < classes:
        raise BadValue(f"A class is a number from 0 to {classes - 1}, but got {class_id}.")
    if not (labels == class_id).any():
        raise BadValue(f"A class to forget must have training samples, but class {class_id} has none. Choose another class.")
    return class_id


def _existing_classes(class_ids: Iterable[int], labels: np.ndarray, classes: int) -> list[int]:
    chosen = [_existing_class(class_id, labels, classes) for class_id in class_ids]
    if not chosen:
        raise BadValue("At least one class must be named, but the list is empty. Name a class, for example 0.")
    if repeated := _repeated(chosen):
        raise BadValue(f"A class may be named once, but these are repeated: {repeated}. Take the repeats out.")
    return chosen


def _known_ids(chosen: Iterable[int], ids: np.ndarray) -> np.ndarray:
    chosen = [int(i) for i in chosen]
    if not chosen:
        raise BadValue(
            "At least one sample must be forgotten, but the list of ids is empty. Name ids, or give a CSV file with a column `id`."
        )
    if repeated := _repeated(chosen):
        raise BadValue(f"A sample id may be named once, but these are repeated: {repeated}. Take the repeats out.")
    known = set(ids.tolist())
    if unknown := [i for i in chosen if i not in known]:
        rule = f"Ids must be of training samples ({ids.min()} to {ids.max()})"
        raise BadValue(f"{rule}, but {len(unknown)} of {len(chosen)} are not: {_some(unknown)}. Take them out.")
    return np.array(chosen, dtype=np.int64)


def _repeated(values: list[int]) -> str:
    """The first values that occur twice, as text; empty if none does."""
    seen: set[int] = set()
    twice = []
    for value in values:
        if value in seen:
            twice.append(value)
        seen.add(value)
    return _some(twice) if twice else ""


def _some(values: list[int]) -> str:
    return ", ".join(map(str, values[:5])) + (", ..." if len(values) > 5 else "")
