"""Make one run of a pack again, its original and its Retrain with it, and say what differs.

On the machine that made the pack the predictions come out bit by bit. Another processor adds up in
another order, and for a convolutional network that is nearly as much as another seed. So there a
run counts as repeated where every number that a verdict rests on lies within a 95 % band: that of
Retrains, or of the method's seeds, where that is more. A run that is repeated has no part in its
own band, since a lie would widen it. A training alone has no verdict: its original is repeated as
what forgets nothing under a scenario.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mucore.engine.run import NO_CALLBACKS, Callbacks
from mucore.errors import BadFile, BadValue
from mucore.metrics import MACHINE_DEPENDENT
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.store import open_store
from mucore.store.records import Result
from mucore.suite.description import check
from mucore.suite.lines import check_result, one_thread
from mucore.suite.pack import Pack
from mucore.suite.scores import repeat_band
from mucore.suite.verify import alike, asked, not_asked
from mucore.verdicts import rules_of, sample_counts

# of the clock, so that no two runs agree
TIMED = MACHINE_DEPENDENT | {"rte"}


@dataclass(frozen=True)
class Difference:
    """A number that came out otherwise. `band` is how far it may, None for numbers that only are
    told.
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
    """`same`: every prediction is equal bit by bit. `agrees`: no number that a verdict rests on is
    beyond its band.
    """

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
    afterwards. Raises `Cancelled`, `MucoreError`: `BadFile` where the pack's suite does not ask for
    that run, which is not made then.
    """
    check(pack.suite)
    packed = pack.find(key)
    if (why := not_asked(pack, packed, asked(pack))) is not None:
        raise BadFile(
            f"The run {packed.key} is not made again. {why} `mucore suite verify` names what is "
            "wrong with a pack."
        )
    spec = pack.specs[packed.key]
    task = pack.suite.task(spec.dataset, spec.scenario)
    if task is None:
        raise BadValue(
            "A training alone has no verdict to compare. Repeat the method `original` under a "
            "scenario, which trains it anew."
        )
    with tempfile.TemporaryDirectory() as home, open_store(home) as store, one_thread():
        result = execute(spec, Session(store, device), callbacks)
        check_result(pack.suite, task, data_hash=result.data_hash, forget_hash=result.forget_hash)
        assert result.outputs is not None
        here, there = store.artifacts.get_outputs(result.outputs), pack.outputs(packed)
        same = here.keys() == there.keys() and all(
            np.array_equal(here[name].logits, there[name].logits, equal_nan=True) for name in there
        )
    return Repeated(result, same, _differences(pack, packed, result, _bands(pack, packed)))


def _differences(
    pack: Pack, packed: Result, result: Result, bands: Mapping[str, float]
) -> tuple[Difference, ...]:
    found = []
    for name in pack.suite.metrics:
        there, here = (
            each.metrics[name].value if name in each.metrics else None for each in (packed, result)
        )
        if name not in TIMED and not alike(there, here):
            found.append(Difference(name, there, here, bands.get(name)))
    return tuple(found)


def _bands(pack: Pack, packed: Result) -> dict[str, float]:
    """By metric of the verdict the 95 % band of two seeds: of Retrain, or of this line's method
    with the same settings, whichever is more. All of them are other runs of the pack, for a line
    that is wrong must not widen its own band; where there is no other one, the value itself and its
    samples say it.
    """
    setting = {**packed.spec, "training_seed": None}
    others = [r for r in pack.results.values() if r.key != packed.key]
    seeds = [r for r in others if {**r.spec, "training_seed": None} == setting]
    where = (packed.spec["dataset"], packed.spec["scenario"])
    retrains = [
        r for (*place, _), r in pack.retrains.items() if (*place,) == where and r.key != packed.key
    ]
    counts = sample_counts(packed)
    return {
        name: repeat_band(told, _values(seeds, name), samples=counts.get(name, packed.forget_count))
        for name in rules_of(where[1]).metrics
        if (told := _values(retrains, name) or _values([packed], name))
    }


def _values(results: Sequence[Result], metric: str) -> list[float]:
    measured = [each.metrics[metric].value for each in results if metric in each.metrics]
    return [value for value in measured if value is not None]
