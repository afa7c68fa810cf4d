"""Make one run of a pack again, its original and its Retrain with it, and say what differs.

On the machine that made the pack the predictions come out bit by bit. Another processor adds up in
another order, and for a convolutional network that is nearly as much as another seed
(docs/findings.md). So there a run counts as repeated where every number that a verdict rests on
lies within a band: how far two Retrains lie apart by chance, or two seeds of the method, where that
is more.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass

import numpy as np

from mucore.engine.run import NO_CALLBACKS, Callbacks
from mucore.metrics import MACHINE_DEPENDENT
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.spec import RunSpec
from mucore.store import open_store
from mucore.store.rows import Result
from mucore.suite.description import check
from mucore.suite.lines import check_result
from mucore.suite.pack import Pack
from mucore.suite.run import one_thread
from mucore.suite.scores import repeat_band
from mucore.suite.verify import alike
from mucore.verdicts import rules_of

# of the clock, so that no two runs agree
TIMED = MACHINE_DEPENDENT | {"rte"}


@dataclass(frozen=True)
class Difference:
    """A number that came out otherwise. `band` is how far it may, None for numbers that no verdict
    rests on.
    """

    metric: str
    packed: float | None
    repeated: float | None
    band: float | None

    @property
    def beyond(self) -> bool:
        if self.band is None:
            return False
        if self.packed is None or self.repeated is None:
            return True
        return abs(self.packed - self.repeated) > self.band


@dataclass(frozen=True)
class Repeated:
    """`same`: every prediction is equal bit by bit."""

    result: Result
    same: bool
    differences: tuple[Difference, ...]

    @property
    def agrees(self) -> bool:
        return not any(each.beyond for each in self.differences)


def repeat(
    pack: Pack, key: str, *, device: str = "auto", callbacks: Callbacks = NO_CALLBACKS
) -> Repeated:
    """Run the line with that key, or its first letters, anew in a home of its own, which goes
    afterwards. Raises `Cancelled`, `MucoreError`.
    """
    check(pack.suite)
    packed = pack.find(key)
    spec = RunSpec.model_validate(dict(packed.spec))
    task = pack.suite.task(spec.dataset, spec.scenario)
    with tempfile.TemporaryDirectory() as home, open_store(home) as store, one_thread():
        result = execute(spec, Session(store, device), callbacks)
        if task is not None:
            check_result(
                pack.suite, task, data_hash=result.data_hash, forget_hash=result.forget_hash
            )
        assert result.outputs is not None
        here, there = store.artifacts.get_outputs(result.outputs), pack.outputs(packed)
        same = here.keys() == there.keys() and all(
            np.array_equal(here[name].logits, there[name].logits, equal_nan=True) for name in there
        )
    return Repeated(result, same, _differences(pack, packed, result))


def _differences(pack: Pack, packed: Result, result: Result) -> tuple[Difference, ...]:
    bands = _bands(pack, packed)
    found = []
    for name in pack.suite.metrics:
        if name in TIMED or name not in packed.metrics and name not in result.metrics:
            continue
        there, here = (
            each.metrics[name].value if name in each.metrics else None for each in (packed, result)
        )
        if not alike(there, here):
            found.append(Difference(name, there, here, bands.get(name)))
    return tuple(found)


def _bands(pack: Pack, packed: Result) -> dict[str, float]:
    """By metric that decides, how far two seeds lie apart by chance: of Retrain, or of this line's
    method with the same settings, whichever is more. The method's are those of its other runs in
    the pack, for a line that is wrong must not widen its own band.
    """
    scenario = packed.spec["scenario"]
    if scenario is None:
        return {}
    others = [
        result
        for result in pack.results.values()
        if result.key != packed.key and _setting(result) == _setting(packed)
    ]
    retrains = [
        result
        for (dataset, name, _), result in pack.retrains.items()
        if (dataset, name) == (packed.spec["dataset"], scenario)
    ]
    bands = {}
    for name in rules_of(scenario).metrics:
        if of_retrain := _values(retrains, name):
            bands[name] = repeat_band(
                of_retrain, _values(others, name), samples=packed.forget_count
            )
    return bands


def _setting(result: Result) -> tuple[object, ...]:
    """What lines share that differ in their seeds alone."""
    names = ("dataset", "scenario", "method", "method_preset", "parameters")
    return tuple(result.spec[name] for name in names)


def _values(results: list[Result], metric: str) -> list[float]:
    measured = [each.metrics[metric].value for each in results if metric in each.metrics]
    return [value for value in measured if value is not None]
