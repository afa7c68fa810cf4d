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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import mucore
from mucore import catalog
from mucore.catalog.cards import MethodCard
from mucore.errors import MucoreError, said
from mucore.forget_sets.saved import forget_hash
from mucore.metrics import MetricInputs, measure
from mucore.metrics.sanity import blind_attacks, cautions, flags, is_collapsed
from mucore.outputs import Outputs, confusion
from mucore.runner.plan import expand
from mucore.scenarios import select
from mucore.spec import RunSpec, make_spec
from mucore.store.rows import Measured, Result
from mucore.suite.description import Suite, Task
from mucore.suite.lines import REFERENCES, grid_of, tuned
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
    references = _references(pack.suite)
    notes.problems += _incomplete(pack)
    notes.problems += _searched_otherwise(pack)
    notes.problems += _several_settings(pack)
    for count, result in enumerate(pack.results.values(), start=1):
        try:
            _check_run(pack, result, references, notes)
        except MucoreError as error:
            notes.add(result, str(error))
        except ODD as error:  # of what somebody wrote by hand
            notes.add(result, _unreadable(error))
        if on_done is not None:
            on_done(count, len(pack.results))
    kept = tuple(sorted(notes.kept))
    return Verified(tuple(notes.problems), len(pack.results), notes.numbers, kept)


def name_of(spec: Mapping[str, Any]) -> str:
    """ "scrub under one_class, seed 3"."""
    under = f" under {spec['scenario']}" if spec.get("scenario") else ""
    return f"{spec.get('method')}{under}, seed {spec.get('training_seed')}"


# -- which runs there are


def _references(suite: Suite) -> dict[str, RunSpec]:
    """The runs of Original and Retrain that the suite asks for, by key."""
    return {spec.key: spec for task in suite.tasks for spec in expand(grid_of(suite, task, []))[0]}


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


def _searched_otherwise(pack: Pack) -> Iterator[Problem]:
    """Tuned settings whose search was another than the pack says: of those that come with this very
    version of mucore, for another one may have searched further and come to the same.
    """
    if pack.about.get("mucore") != mucore.__version__:
        return
    ours = {card.id for card in catalog.METHODS}
    for task in pack.suite.tasks:
        for method, there in pack.settings.get(task.scenario, {}).items():
            here = tuned(method, task) if method in ours else None
            if here is None or json.loads(json.dumps(here.values)) != there.values:
                continue
            differ = [
                f"{name} {stated}, not {known}"
                for name, stated, known in (
                    ("trials", there.trials, here.trials),
                    ("cap", there.cap, here.cap),
                    ("open", there.open, here.open),
                )
                if None not in (stated, known) and stated != known
            ]
            if differ:
                yield Problem(
                    f"{method} under {task.scenario}",
                    "",
                    f"The pack is wrong about the search of its setting: {'; '.join(differ)}.",
                )


def not_asked(pack: Pack, result: Result) -> str | None:
    """Why a run of the pack is none that its suite asks for, in a sentence; None where it is one.
    A user's own method, whose file is not in a pack, is held to the settings that the pack states.
    """
    try:
        return _not_asked(pack, result, _references(pack.suite))
    except MucoreError as error:
        return str(error)
    except ODD as error:  # of what somebody wrote by hand
        return _unreadable(error)


def _unreadable(error: Exception) -> str:
    return f"It cannot be checked: {type(error).__name__}: {error}"


def _not_asked(pack: Pack, result: Result, references: Mapping[str, RunSpec]) -> str | None:
    spec = pack.specs[result.key]
    card = _mucores(spec.method)
    if card is not None and (spec.method_hash or spec.method != card.id):
        return (
            f"It says that {spec.method}, a name of mucore's {card.id}, is a method of somebody's "
            f"own, of a file with the hash {said(spec.method_hash)}. Such a method needs a name "
            "that is free."
        )
    if spec.key != result.key:
        return f"Its description has the key {spec.key}, and not the one that it is under."
    if spec.key in references:
        return None
    base = references.get(spec.retrained().key)
    if base is None or spec.scenario is None or spec.method in REFERENCES:
        return f"It is not a run that {pack.suite.id} asks for."
    if card is None and not spec.method_hash:
        return (
            f"{said(spec.method)} is no method of mucore's, and the run names no file of one's own."
        )
    expected = base.model_copy(
        update={
            "method": spec.method,
            "parameters": spec.parameters,
            "method_hash": spec.method_hash,
            "unlearning_seed": pack.suite.unlearning_seed,
        }
    )
    if expected.key != spec.key:
        return f"It is not run as {pack.suite.id} runs methods."
    return _other_settings(pack, spec)


def _mucores(method: str) -> MethodCard | None:
    """The card of mucore's own that has this id or alias; no file of a user's may have them."""
    cards = (catalog.ORIGINAL, *catalog.METHODS)
    return next((card for card in cards if method in (card.id, *card.aliases)), None)


def _other_settings(pack: Pack, spec: RunSpec) -> str | None:
    """Why a method's settings are not those of the division. What the authors of a user's own
    method set is not in a pack: see `_several_settings`.
    """
    values: Mapping[str, Any] = {}
    if pack.division == "tuned":
        stated = pack.settings.get(spec.scenario or "", {}).get(spec.method)
        if stated is None:
            return f"The pack states no tuned setting of {spec.method} under {spec.scenario}."
        values = stated.values
    ran = spec.model_dump(mode="json")["parameters"]
    if spec.method_hash:
        wrong = [name for name, value in values.items() if name not in ran or ran[name] != value]
        wanted = {name: values[name] for name in wrong}
    else:
        made = _made(pack, spec, values)
        wrong = [
            name for name in {**made, **ran} if name not in made or made.get(name) != ran.get(name)
        ]
        wanted = {name: made[name] for name in wrong if name in made}
    if not wrong:
        return None
    found = {name: ran[name] for name in wrong if name in ran}
    return (
        f"Its settings are not those of the division {pack.division}: it ran {said(found)}, and "
        f"not {said(wanted)}."
    )


def _made(pack: Pack, spec: RunSpec, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of one of mucore's methods where a division sets `values`."""
    task = pack.suite.task(spec.dataset, spec.scenario)
    assert task is not None
    made = make_spec(
        dataset=spec.dataset,
        model=spec.model,
        recipe=spec.recipe,
        paper=task.preset,
        scenario=spec.scenario,
        scenario_parameters=spec.scenario_parameters,
        method=spec.method,
        parameters=values,
        training_seed=spec.training_seed,
        mia_samples=spec.mia_samples,
    )
    return made.model_dump(mode="json")["parameters"]


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


def _check_run(
    pack: Pack, result: Result, references: Mapping[str, RunSpec], notes: _Notes
) -> None:
    if (why := _not_asked(pack, result, references)) is not None:
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
