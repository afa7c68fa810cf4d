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
from mucore.forget_sets.saved import forget_hash
from mucore.metrics import MetricInputs, measure
from mucore.metrics.sanity import blind_attacks, cautions, flags, is_collapsed
from mucore.outputs import Outputs, confusion
from mucore.runner.grid import MethodChoice, expand
from mucore.runs import REFERENCES, RunSpec
from mucore.scenarios import select
from mucore.store.records import Measured, Result
from mucore.suite.lines import grid_of
from mucore.suite.pack import Pack, place_of

TOLERANCE = 1e-6  # relative: another processor adds up in another order, and nobody gains by less
# What metrics are of where a pack cannot say it again.
ON_FEATURES = frozenset({"representation", "downstream"})
ELSEWHERE = frozenset({"distance", "ignorance"})
COSTS = "cost"
# Its predictions are the votes of several networks, which their mean does not say.
VOTING = frozenset({"sisa"})


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong; `key` is "" where it is about no run in particular."""

    line: str
    key: str
    sentence: str


@dataclass
class Verified:
    """`numbers` were computed again from predictions; `kept` are metrics that could not be: of
    those on costs only that they follow from what the row says it cost.
    """

    problems: list[Problem] = field(default_factory=list)
    runs: int = 0
    numbers: int = 0
    kept: set[str] = field(default_factory=set)

    def add(self, result: Result, sentence: str) -> None:
        self.problems.append(Problem(name_of(result.spec), result.key, sentence))


def verify(pack: Pack, on_done: Callable[[int, int], None] | None = None) -> Verified:
    """Everything that a pack's files can say about themselves."""
    found = Verified([*_incomplete(pack), *_several_settings(pack)], len(pack.results))
    keys = asked(pack)
    for count, result in enumerate(pack.results.values(), start=1):
        try:
            _check_run(pack, result, keys, found)
        except Exception as error:  # of what somebody wrote by hand
            found.add(result, f"It cannot be checked: {error}")
        if on_done is not None:
            on_done(count, len(pack.results))
    return found


def name_of(spec: Mapping[str, Any]) -> str:
    """ "scrub under one_class, seed 3"."""
    under = f" under {spec['scenario']}" if spec.get("scenario") else ""
    return f"{spec.get('method')}{under}, seed {spec.get('training_seed')}"


# -- which runs there are


def _incomplete(pack: Pack) -> Iterator[Problem]:
    """Lines that are neither there nor said to be missing."""
    there = {(*place_of(result), result.spec["method"]) for result in pack.results.values()}
    excused = {(each.scenario, each.method, each.seed) for each in pack.missing}
    for task in pack.suite.tasks:
        for method in dict.fromkeys((*REFERENCES, *pack.methods)):
            for seed in pack.suite.training_seeds:
                excuses = {(task.scenario, method, seed), (task.scenario, method, None)}
                if (task.dataset, task.scenario, seed, method) in there or excuses & excused:
                    continue
                line = f"{method} under {task.scenario}, seed {seed}"
                yield Problem(line, "", "It is missing, and the pack gives no reason.")


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
    names = ("method", "parameters", "method_hash")
    changes = {name: getattr(spec, name) for name in names}
    changes["unlearning_seed"] = pack.suite.unlearning_seed
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
    files, settings = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for spec in pack.specs.values():
        if spec.method_hash:
            files[spec.method].add(spec.method_hash)
            parameters = json.dumps(spec.model_dump(mode="json")["parameters"], sort_keys=True)
            settings[f"{spec.method} under {spec.scenario}"].add(parameters)
    for what, found in (("files", files), ("settings", settings)):
        for line, each in found.items():
            if len(each) > 1:
                yield Problem(line, "", f"It ran with {len(each)} {what}. Run every seed with one.")


# -- what their numbers are


def _check_run(pack: Pack, result: Result, asked: Collection[str], found: Verified) -> None:
    if (why := not_asked(pack, result, asked)) is not None:
        found.add(result, why)
        return
    spec = pack.specs[result.key]
    outputs = pack.outputs(result)
    retrained = original = None
    if spec.scenario is not None:
        retrained = pack.retrains.get(place_of(result))
        original = pack.originals.get(place_of(result))
        if retrained is None or original is None:
            found.add(result, "There is no Retrain or no original of its seed to compare it with.")
            return
    itself = retrained is None or retrained.key == result.key
    reference = outputs if itself else pack.outputs(retrained)
    for sentence in _faults(pack, result, outputs, reference):
        found.add(result, sentence)
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
    measured = measure(inputs, scenario=spec.scenario, method=spec.method)
    features = any(split.features is not None for split in outputs.values())
    nowhere = ELSEWHERE if features else ELSEWHERE | ON_FEATURES
    for name in pack.suite.metrics:
        stored, here = result.metrics.get(name), measured.get(name)
        if (
            stored is not None
            and here is not None
            and here.value is None
            and (catalog.metric(name).group in nowhere)
        ):
            found.kept.add(name)
        elif (stored, here) != (None, None):
            _compare(name, stored, here, result, found)
    # The words that a verdict goes by; flags on weights and on a method's card are nothing that
    # predictions say.
    if is_collapsed(result.flags) != is_collapsed(flags(inputs, measured, method="original")):
        found.add(result, "The pack is wrong about whether the network collapsed.")
    guesses = blind_attacks(cautions(inputs, measured))
    if spec.scenario is not None and blind_attacks(result.notes) != guesses:
        found.add(result, "The pack is wrong about which attacks only guess.")


def _compare(
    name: str, stored: Measured | None, here: Measured | None, result: Result, found: Verified
) -> None:
    """One number of a row beside the same number computed now."""
    values = [(each.value, each.gap) if each else (None, None) for each in (stored, here)]
    for what, there, now in zip((name, f"the gap of {name}"), *values, strict=True):
        if catalog.metric(name).group == COSTS:
            found.kept.add(name)
        else:
            found.numbers += there is not None
        if not alike(there, now):
            return found.add(result, f"{what} is {there} in the pack and {now} computed again.")


def alike(there: float | None, here: float | None) -> bool:
    """Whether two values of a number differ by no more than rounding, or are both missing."""
    if there is None or here is None:
        return there is here
    return math.isclose(there, here, rel_tol=TOLERANCE, abs_tol=1e-9)


def _faults(pack: Pack, result: Result, outputs: Outputs, reference: Outputs) -> Iterator[str]:
    """What is wrong with predictions: beside the row's counts, themselves, Retrain's samples and
    the suite's hashes.
    """
    spec = result.spec
    task = pack.suite.task(spec["dataset"], spec["scenario"])
    frozen = task or next(t for t in pack.suite.tasks if t.dataset == spec["dataset"])
    # where the suite has no hashes of its own, all runs of a task are held to its Retrain
    retrain = pack.retrains.get(place_of(result), result)
    if result.data_hash != (retrain.data_hash if frozen.untried else frozen.data_hash):
        yield "Its data have another hash than the suite's."
    for name, split in outputs.items():
        if not np.isfinite(split.logits).all() and result.status == "ok":
            yield f"Its predictions on the {name} set are not finite numbers."
        if result.confusion.get(name) != split.confusion.tolist():
            yield f"Its counts on the {name} set are not those of its predictions."
        made = confusion(split.labels, split.logits.argmax(axis=1), split.logits.shape[1])
        counts = split.confusion
        if spec["method"] in VOTING:
            made, counts = made.sum(axis=1), counts.sum(axis=1)
        if len(split) == split.total and not np.array_equal(made, counts):
            yield f"Its counts do not follow from its predictions on {name}."
        other = reference.get(name)
        if other is None or not (
            np.array_equal(split.ids, other.ids) and np.array_equal(split.labels, other.labels)
        ):
            yield f"Its {name} set has other samples or labels than Retrain's."
    if task is not None:
        wanted = task.forget_hash or retrain.forget_hash
        if {forget_hash(outputs["forget"].ids), result.forget_hash} != {wanted}:
            yield "It forgets other samples than the suite's."
        sizes = {"forget": task.forget_count, "retain": task.sizes["train"] - task.forget_count}
        sizes |= {name: task.sizes[name] for name in ("validation", "test")}
        for name, size in sizes.items():
            if name not in outputs or outputs[name].total != size:
                yield f"Its {name} set does not have the {size} samples of the suite."
