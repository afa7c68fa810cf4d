"""Forget sets: from labels, sample ids and losses of the training set to the ids that are to be
forgotten.

Conventions, stated once: arrays describe the training set sample by sample, in any order; `labels`
(n,) in 0..classes−1; `ids` (n,) unique; `losses` (n,) of the original model in eval mode without
augmentation; `identities` (n,) which person each sample shows; `elsewhere` (m,) the persons of
validation and test; `prototypes` (classes, d) class means of the original's penultimate features
over the training set, `downstream` (k, d) those of another data set. Every function is pure: the
same samples, whatever their order, and the same parameters give the same ids on every machine.
Definitions and sources are on the cards (catalog/scenarios.toml).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mucore import catalog
from mucore.errors import BadValue
from mucore.outputs import task_of
from mucore.rng import numpy_rng
from mucore.runs import refuse_task
from mucore.runs.budget import samples_of
from mucore.scenarios.poison import poisoned_ids

# What a scenario does that lacks something, and the way out.
MISSING = {
    "losses": "orders samples by their losses, but got none: measure them with the original "
    "model first",
    "identities": (
        "forgets persons, but the data set does not say who is on its images: choose one with "
        "identities"
    ),
    "downstream": (
        "compares classes with a downstream set, but got no features: measure them with the "
        "original model first"
    ),
}


def select(
    scenario: str,
    parameters: Mapping[str, Any],
    *,
    labels: np.ndarray,
    ids: np.ndarray,
    classes: int,
    losses: np.ndarray | None = None,
    identities: np.ndarray | None = None,
    elsewhere: np.ndarray | None = None,
    prototypes: np.ndarray | None = None,
    downstream: np.ndarray | None = None,
) -> np.ndarray:
    """The ids to forget, sorted, int64. `parameters` are a card's effective ones, as
    `RunSpec.scenario_parameters` holds them.

    Raises `UnknownName` for a scenario without a card; `BadValue` for a class or person that does
    not exist, a budget over what there is to take, persons who
    are in another split too, losses, identities or features that the scenario needs and did not
    get, and a forget set that is empty or leaves nothing to retain.
    """
    card = catalog.scenario(scenario)
    refuse_task(card, task_of(labels))
    given = {"losses": losses, "identities": identities, "downstream": downstream}
    for need in sorted(card.needs):
        if given[need] is None:
            raise BadValue(f"Scenario {card.id} {MISSING[need]}.")
    order = np.argsort(ids, kind="stable")
    labels, ids = labels[order], ids[order].astype(np.int64)
    if card.id in ("one_class", "class_fraction", "all_classes"):
        within = (
            ids
            if card.id == "all_classes"
            else ids[labels == _existing_class(parameters["class_id"], labels, classes)]
        )
        of = "the training set" if card.id == "all_classes" else f"class {parameters['class_id']}"
        count = samples_of(
            parameters["fraction" if card.id == "class_fraction" else "budget"], len(within), of
        )
        # A prefix of one permutation: with the same seed a smaller budget is part of a larger one.
        forget = numpy_rng(parameters["seed"], "forget_set").permutation(within)[:count]
    elif card.id == "class_wise":
        forget = ids[np.isin(labels, _existing_classes(parameters["class_ids"], labels, classes))]
    elif card.id == "random_classes":
        present = np.unique(labels)
        drawn = numpy_rng(parameters["seed"], "forget_set").permutation(present)
        forget = ids[np.isin(labels, drawn[: _some_classes(parameters["n"], len(present))])]
    elif card.id == "top_classes":
        assert prototypes is not None and downstream is not None
        present = np.unique(labels)
        nearest = present[by_similarity(prototypes[present], downstream)]
        forget = ids[np.isin(labels, nearest[: _some_classes(parameters["n"], len(present))])]
    elif card.id in ("identities", "competition"):
        assert identities is not None
        forget = ids[np.isin(identities[order], _persons(parameters, identities, elsewhere))]
    elif card.id in ("worst_case", "best_case"):
        assert losses is not None
        forget = ids[_by_loss(losses[order], highest=card.id == "best_case")][
            : samples_of(parameters["budget"], len(ids), "the training set")
        ]
    elif card.poisons:
        forget = poisoned_ids({"scenario": card.id, **parameters}, labels, ids, classes)
    elif card.id == "ids":
        forget = np.asarray(parameters["ids"], np.int64)  # checked by forget_sets/identity.py
    else:
        raise NotImplementedError(f"Scenario {card.id} has a card but no selector.")
    if len(forget) >= len(ids):
        raise BadValue(
            f"At least one sample must stay to be retained, but scenario {card.id} forgets all "
            f"{len(ids)}. Choose a smaller part."
        )
    return np.sort(forget)


def forgotten_classes(scenario: str, labels: np.ndarray) -> tuple[int, ...]:
    """The classes that go as a whole, sorted, from the labels of the forgotten samples; empty
    unless the scenario is class-wise.
    """
    return tuple(np.unique(labels).tolist()) if catalog.scenario(scenario).class_wise else ()


def by_similarity(prototypes: np.ndarray, downstream: np.ndarray) -> np.ndarray:
    """Rows of `prototypes` (C, d) from the most to the least similar to a downstream set with class
    means `downstream` (K, d).

    Similarity is the cosine, and a source class has that to the downstream class it is nearest to.
    Every downstream class picks its nearest source class; the picked ones come first, then the
    others, both by falling similarity, ties by number (Are We Truly Forgetting?, 4.3).
    """
    if not (np.isfinite(prototypes).all() and np.isfinite(downstream).all()):
        raise BadValue(
            "Features must be finite to compare classes, but some are not. Train the original "
            "again."
        )
    cosines = _unit(downstream) @ _unit(prototypes).T
    picked = np.isin(np.arange(len(prototypes)), cosines.argmax(axis=1))
    return np.lexsort((-cosines.max(axis=0), ~picked))


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length one in float64; a row of zeros, as ReLU may give, stays one and is similar to
    nothing.
    """
    norms = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    return rows / np.where(norms == 0, 1.0, norms)


def _by_loss(losses: np.ndarray, *, highest: bool) -> np.ndarray:
    """Positions by rising or falling loss; ties keep the order of the samples, which is that of
    their ids.
    """
    if not np.isfinite(losses).all():
        raise BadValue(
            f"Losses must be finite to order samples, but {int((~np.isfinite(losses)).sum())} are "
            "not. Train the original again."
        )
    return np.argsort(-losses if highest else losses, kind="stable")


def _some_classes(n: int, present: int) -> int:
    if not 1 <= n < present:
        raise BadValue(
            f"The number of classes to forget must be from 1 to {present - 1}, so that one of "
            f"{present} is left, but got {n}."
        )
    return n


def _persons(
    parameters: Mapping[str, Any], identities: np.ndarray, elsewhere: np.ndarray | None
) -> np.ndarray:
    """The persons to forget: those named, or a draw from those who are in no other split."""
    persons, images = np.unique(identities, return_counts=True)
    shared = np.isin(persons, [] if elsewhere is None else elsewhere)
    if (named := parameters.get("persons")) is not None:
        return _known_persons(named, persons, [] if elsewhere is None else elsewhere)
    order = numpy_rng(parameters["seed"], "forget_set").permutation(np.flatnonzero(~shared))
    if not len(order):
        raise BadValue(
            f"A person to forget must be in the training images alone, but all {len(persons)} are "
            "in validation or test too. Split the data set by person."
        )
    if "count" in parameters:
        if not 1 <= parameters["count"] <= len(order):
            rule = (
                f"The number of persons must be from 1 to the {len(order)} who are in the "
                "training images alone"
            )
            raise BadValue(f"{rule}, but got {parameters['count']}. Choose fewer.")
        return persons[order[: parameters["count"]]]
    taken = np.cumsum(images[order])
    return persons[
        order[: 1 + int(np.abs(taken - parameters["fraction"] * len(identities)).argmin())]
    ]


def _known_persons(
    named: Iterable[int], persons: np.ndarray, elsewhere: Sequence[int] | np.ndarray
) -> np.ndarray:
    named = [int(person) for person in named]
    held = sorted({*named} & {*np.asarray(elsewhere).tolist()})
    if not named or len({*named}) < len(named) or held or not {*named} <= {*persons.tolist()}:
        raise BadValue(
            "Persons to forget are named by identity, at least one, each once, and are in the "
            f"training images alone ({persons.min()} to {persons.max()}), but got {named[:10]}."
            + f" Validation or test show {held}: to train on all, recipe.validation_from=test."
            * bool(held)
        )
    return np.array(named)


def _existing_class(class_id: int, labels: np.ndarray, classes: int) -> int:
    if not 0 <= class_id < classes:
        raise BadValue(f"A class is a number from 0 to {classes - 1}, but got {class_id}.")
    if not (labels == class_id).any():
        raise BadValue(
            f"A class to forget must have training samples, but class {class_id} has none. Choose "
            "another class."
        )
    return class_id


def _existing_classes(class_ids: Iterable[int], labels: np.ndarray, classes: int) -> list[int]:
    chosen = [_existing_class(class_id, labels, classes) for class_id in class_ids]
    if not chosen or len({*chosen}) < len(chosen):
        raise BadValue(f"Classes are named once each, at least one, but got {chosen}.")
    return chosen
