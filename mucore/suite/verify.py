"""Compute every number of a pack again that is a function of its predictions, and name each that
differs. Imports no torch, and needs neither the data set nor a GPU.

Besides: whether each run is one that the suite asks for, whether the lines are complete, and
whether predictions, counts, labels and forget sets agree with each other and with the suite's
hashes. Numbers on weights, on gradients of samples and, where a pack has no features, on features
are the maker's word, and so are a run's status, its time, its work and all else that it cost: of
these only that the metrics follow from what the row says. `suite repeat` makes a run again.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mucore import catalog
from mucore.errors import MucoreError
from mucore.forget_sets.saved import forget_hash
from mucore.metrics import MetricInputs, measure
from mucore.metrics.sanity import blind_attacks, cautions, flags, is_collapsed
from mucore.outputs import Outputs, confusion
from mucore.runner.plan import MethodChoice, expand
from mucore.scenarios import select
from mucore.spec import RunSpec
from mucore.store.rows import Measured, Result
from mucore.suite.description import Task
from mucore.suite.lines import REFERENCES, grid_of
from mucore.suite.pack import Pack, place_of

TOLERANCE = 1e-6  # relative: another processor adds up in another order, and nobody gains by less
# What metrics are of where a pack cannot say it again.
ON_FEATURES = frozenset({"representation", "downstream"})
ELSEWHERE = frozenset({"distance", "ignorance"})
COSTS = "cost"
# Its predictions are the votes of several networks, which their mean does not say.
VOTING = frozenset({"sisa"})
ODD = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong; `key` is "" where it is about no run in particular."""

    line: str
    key: str
    sentence: str


@dataclass(frozen=True)
class Verified:
    """`numbers` were computed again from predictions; `kept` are metrics that could not be: of
    those on costs only that they follow from what the row says it cost.
    """

    problems: tuple[Problem, ...]
    runs: int
    numbers: int
    kept: tuple[str, ...] = ()


@dataclass
class _Notes:
    problems: list[Problem] = field(default_factory=list)
    numbers: int = 0
    kept: set[str] = field(default_factory=set)

    def add(self, result: Result, sentence: str) -> None:
        self.problems.append(Problem(name_of(result.spec), result.key, sentence))


def verify(pack: Pack, on_done: Callable[[int, int], None] | None = None) -> Verified:
    """Everything that a pack's files can say about themselves."""
    notes = _Notes()
    notes.problems += _incomplete(pack)
    notes.problems += _several_settings(pack)
    keys = asked(pack)
    for count, result in enumerate(pack.results.values(), start=1):
        try:
            _check_run(pack, result, keys, notes)
        except MucoreError as error:
            notes.add(result, str(error))
        except ODD as error:  # of what somebody wrote by hand
            notes.add(result, f"It cannot be checked: {type(error).__name__}: {error}")
        if on_done is not None:
            on_done(count, len(pack.results))
    kept = tuple(sorted(notes.kept))
    return Verified(tuple(notes.problems), len(pack.results), notes.numbers, kept)


def name_of(spec: Mapping[str, Any]) -> str:
    """ "scrub under one_class, seed 3"."""
    under = f" under {spec['scenario']}" if spec.get("scenario") else ""
    return f"{spec.get('method')}{under}, seed {spec.get('training_seed')}"


# -- which runs there are


def _incomplete(pack: Pack) -> Iterator[Problem]:
    """Lines that are neither there nor said to be missing."""
    there = {
        (r.spec["dataset"], r.spec["scenario"], r.spec["method"], r.spec["training_seed"])
        for r in pack.results.values()
    }
    excused = {(each.scenario, each.method, each.seed) for each in pack.missing}
    for task in pack.suite.tasks:
        for method in dict.fromkeys((*REFERENCES, *pack.methods)):
            for seed in pack.suite.training_seeds:
                excuses = {(task.scenario, method, seed), (task.scenario, method, None)}
                if (task.dataset, task.scenario, method, seed) in there or excuses & excused:
                    continue
                line = f"{method} under {task.scenario}, seed {seed}"
                yield Problem(
                    line, "", f"The line {line} is missing, and the pack gives no reason."
                )


def asked(pack: Pack) -> set[str]:
    """The keys of the runs that the pack's suite asks for in its division: its references, and its
    methods that are mucore's own with the settings that the pack states.
    """
    shipped = {card.id for card in catalog.METHODS} - {*REFERENCES}
    keys: set[str] = set()
    for task in pack.suite.tasks:
        choices = [MethodChoice(id=name) for name in pack.methods if name in shipped]
        if pack.division == "tuned":
            choices = [
                MethodChoice(id=name, preset="tuned", parameters=stated.values)
                for name, stated in pack.settings.get(task.scenario, {}).items()
                if name in shipped
            ]
        keys |= {spec.key for spec in expand(grid_of(pack.suite, task, choices))[0]}
    return keys


def not_asked(pack: Pack, result: Result, asked: Collection[str]) -> str | None:
    """Why a run of the pack is none that its suite asks for, in a sentence; None where it is one.
    A user's own method, whose file is not in a pack, is held to the settings that the pack states.
    """
    spec = pack.specs[result.key]
    if spec.key != result.key:
        return f"Its description has the key {spec.key}, and not the one that it is under."
    if spec.key in asked or (spec.method_hash and _own_is_asked(pack, spec, asked)):
        return None
    return f"It is not a run that {pack.suite.id} asks for in the division {pack.division}."


def _own_is_asked(pack: Pack, spec: RunSpec, asked: Collection[str]) -> bool:
    """Whether a run of a user's own method is one of Retrain's but for the method."""
    taken = {name for card in catalog.METHODS for name in (card.id, *card.aliases)}
    retrain = spec.retrained()
    if spec.scenario is None or spec.method in taken | {*REFERENCES} or retrain.key not in asked:
        return False
    changes = {
        "method": spec.method,
        "parameters": spec.parameters,
        "method_hash": spec.method_hash,
        "unlearning_seed": pack.suite.unlearning_seed,
    }
    if retrain.model_copy(update=changes).key != spec.key:
        return False
    if pack.division != "tuned":
        return True
    stated = pack.settings.get(spec.scenario, {}).get(spec.method)
    ran = spec.model_dump(mode="json")["parameters"]
    return stated is not None and stated.values.items() <= ran.items()


def _several_settings(pack: Pack) -> Iterator[Problem]:
    """Of users' own methods, whose settings nobody else knows: those that ran with several in one
    task, or from several files, so that somebody could choose among seeds and tasks.
    """
    files, settings = defaultdict[str, set[str]](set), defaultdict[tuple[str, str], set[str]](set)
    for spec in pack.specs.values():
        if spec.method_hash and spec.scenario is not None:
            files[spec.method].add(spec.method_hash)
            parameters = spec.model_dump(mode="json")["parameters"]
            settings[spec.method, spec.scenario].add(json.dumps(parameters, sort_keys=True))
    for method, hashes in files.items():
        if len(hashes) > 1:
            yield Problem(
                method,
                "",
                f"{method} ran from {len(hashes)} files ({', '.join(sorted(hashes)[:2])}), and the "
                "lines of a method are all of one. Run it again from its last.",
            )
    for (method, scenario), found in settings.items():
        if len(found) > 1:
            yield Problem(
                f"{method} under {scenario}",
                "",
                f"It ran with {len(found)} settings ({'; '.join(sorted(found)[:2])}), and a line "
                "has one for all seeds. Run every seed with the one of the division.",
            )


# -- what their numbers are


def _check_run(pack: Pack, result: Result, asked: Collection[str], notes: _Notes) -> None:
    if (why := not_asked(pack, result, asked)) is not None:
        notes.add(result, why)
        return
    spec = pack.specs[result.key]
    task = pack.suite.task(spec.dataset, spec.scenario)
    outputs = pack.outputs(result)
    _check_outputs(pack, task, result, outputs, notes)
    retrained = original = None
    if spec.scenario is not None:
        retrained = pack.retrains.get(place_of(result))
        original = pack.originals.get(place_of(result))
        if retrained is None or original is None:
            lacks = "Retrain" if retrained is None else "original"
            notes.add(result, f"There is no {lacks} of its seed in the pack to compare it with.")
            return
    itself = retrained is None or retrained.key == result.key
    reference = outputs if itself else pack.outputs(retrained)
    inputs = MetricInputs(
        outputs=outputs,
        original=None if original is None else pack.outputs(original),
        retrained=None if itself else reference,
        classes=next(iter(outputs.values())).logits.shape[1],
        forgotten_classes=select.forgotten_classes(spec.scenario, outputs["forget"].labels)
        if spec.scenario
        else (),
        weights=None,
        retrained_weights=None,
        cost=result.cost,
        retrain_cost=None if itself else retrained.cost,
        retrain_metrics=None if itself else retrained.metrics,
        evaluation_seed=spec.evaluation_seed,
        mia_samples=spec.mia_samples,
        poison=spec.poison,
    )
    found = measure(inputs, scenario=spec.scenario, method=spec.method)
    for name in pack.suite.metrics:
        _compare(name, result.metrics.get(name), found.get(name), result, notes, outputs)
    _check_words(result, inputs, found, notes)


def _compare(
    name: str,
    stored: Measured | None,
    found: Measured | None,
    result: Result,
    notes: _Notes,
    outputs: Outputs,
) -> None:
    """One number of a row beside the same number computed now."""
    if stored is None and found is None:
        return
    if stored is None or found is None:
        there = "is missing" if stored is None else "cannot be of such a run"
        notes.add(result, f"The metric {name} {there}.")
        return
    group = catalog.metric(name).group
    if found.value is None and stored.value is not None:
        has = any(split.features is not None for split in outputs.values())
        if group in ELSEWHERE or (group in ON_FEATURES and not has):
            notes.kept.add(name)
        else:
            notes.add(result, f"{name} is {stored.value:.6g} in the pack, but: {found.error}")
        return
    for what, there, here in (
        (name, stored.value, found.value),
        (f"the gap of {name}", stored.gap, found.gap),
    ):
        if group == COSTS:
            notes.kept.add(name)
        else:
            notes.numbers += there is not None
        if not alike(there, here):
            notes.add(
                result,
                f"{what} is {_written(there)} in the pack and {_written(here)} computed again.",
            )


def alike(there: float | None, here: float | None) -> bool:
    """Whether two values of a number differ by no more than rounding, or are both missing."""
    if there is None or here is None:
        return there is here
    return math.isclose(there, here, rel_tol=TOLERANCE, abs_tol=1e-9)


def _written(value: float | None) -> str:
    return "missing" if value is None else f"{value:.8g}"


def _check_words(
    result: Result, inputs: MetricInputs, found: Mapping[str, Measured], notes: _Notes
) -> None:
    """The sentences that a verdict goes by: collapse, and attacks that only guess."""
    # flags on weights and on a method's card are nothing that predictions say
    here = flags(inputs, found, method="original")
    if is_collapsed(result.flags) != is_collapsed(here):
        notes.add(result, "The pack is wrong about whether the network collapsed.")
    if result.spec["scenario"] is not None and blind_attacks(result.notes) != blind_attacks(
        cautions(inputs, found)
    ):
        notes.add(result, "The pack is wrong about which attacks only guess.")


def _check_outputs(
    pack: Pack, task: Task | None, result: Result, outputs: Outputs, notes: _Notes
) -> None:
    """Predictions against the row's counts, themselves, Retrain's labels and the suite's hashes."""
    frozen = task or next(t for t in pack.suite.tasks if t.dataset == result.spec["dataset"])
    if result.data_hash != frozen.data_hash:
        notes.add(result, "Its data have another hash than the suite's.")
    for name, split in outputs.items():
        if not np.isfinite(split.logits).all() and result.status == "ok":
            notes.add(result, f"Its predictions on the {name} set are not finite numbers.")
        if result.confusion.get(name) != split.confusion.tolist():
            notes.add(result, f"Its counts on the {name} set are not those of its predictions.")
        if len(split) and len(split) == split.total:
            made = confusion(split.labels, split.logits.argmax(axis=1), split.logits.shape[1])
            counts = split.confusion
            if result.spec["method"] in VOTING:
                made, counts = made.sum(axis=1), counts.sum(axis=1)
            if not np.array_equal(made, counts):
                notes.add(result, f"Its counts do not follow from its predictions on {name}.")
    if task is None:
        return
    if forget_hash(outputs["forget"].ids) != task.forget_hash or result.forget_hash != (
        task.forget_hash
    ):
        notes.add(result, "It forgets other samples than the suite's.")
    for name in ("forget", "retain", "validation", "test"):
        size = _sizes(task)[name]
        if name not in outputs or outputs[name].total != size:
            notes.add(result, f"Its {name} set does not have the {size} samples of the suite.")
    reference = pack.retrains.get(place_of(result))
    if reference is not None and reference.key != result.key:
        _check_labels(outputs, pack.outputs(reference), result, notes)


def _sizes(task: Task) -> dict[str, int]:
    return {
        "forget": task.forget_count,
        "retain": task.sizes["train"] - task.forget_count,
        "validation": task.sizes["validation"],
        "test": task.sizes["test"],
    }


def _check_labels(outputs: Outputs, reference: Outputs, result: Result, notes: _Notes) -> None:
    for name, split in outputs.items():
        other = reference.get(name)
        if other is None or not (
            np.array_equal(split.ids, other.ids) and np.array_equal(split.labels, other.labels)
        ):
            notes.add(result, f"Its {name} set has other samples or labels than Retrain's.")
