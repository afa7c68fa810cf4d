"""Make one run of a pack again, its original and its Retrain with it, and say what differs.

On the machine that made the pack the predictions come out bit by bit. Another processor adds up in
another order, and for a convolutional network that is nearly as much as another seed. So there a
run counts as repeated where every number that a verdict rests on lies within a 95 % band: that of
Retrains, or of the method's seeds, where that is more. No verdict rests on
the training of an original: of it the accuracies are compared, with those of trainings with other
seeds. A run that is repeated has no part in its own band, since a lie would widen it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mucore.engine.run import NO_CALLBACKS, Callbacks
from mucore.errors import BadFile
from mucore.metrics import MACHINE_DEPENDENT
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.store import open_store
from mucore.store.rows import Result
from mucore.suite.description import check
from mucore.suite.lines import check_result
from mucore.suite.pack import Pack
from mucore.suite.run import one_thread
from mucore.suite.scores import repeat_band
from mucore.suite.verify import ODD, alike, asked, not_asked
from mucore.verdicts import rules_of, sample_counts

# of the clock, so that no two runs agree
TIMED = MACHINE_DEPENDENT | {"rte"}
# what is compared of a training, and the samples that it is a share of
OF_TRAINING = {"ta": "test", "ra": "train", "va": "validation"}


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
    """`same`: every prediction is equal bit by bit. `agrees`: no number that decides is beyond its
    band; those are the numbers that a verdict rests on, and of a `training` its accuracies.
    """

    result: Result
    same: bool
    differences: tuple[Difference, ...]

    @property
    def training(self) -> bool:
        """Whether an original was trained and nothing forgotten, so that no verdict rests on it."""
        return self.result.spec["scenario"] is None

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
    try:
        bands = _bands(pack, packed)
    except ODD as error:
        raise BadFile(
            f"The numbers of the run {packed.key} cannot be compared: {type(error).__name__}: "
            f"{error}. `mucore suite verify` names what is wrong with a pack."
        ) from None
    spec = pack.specs[packed.key]
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
    return Repeated(result, same, _differences(pack, packed, result, bands))


def _differences(
    pack: Pack, packed: Result, result: Result, bands: Mapping[str, float]
) -> tuple[Difference, ...]:
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
    """By metric that decides, the 95 % band of two seeds: of Retrain, or of this line's method
    with the same settings, whichever is more; of a training that of other trainings. All of
    them are other runs of the pack, for a line that is wrong must not widen its own band.
    """
    others = [
        result
        for result in pack.results.values()
        if result.key != packed.key and _setting(result) == _setting(packed)
    ]
    scenario = packed.spec["scenario"]
    if scenario is None:
        return {
            name: _band(name, others, [], packed, int(np.sum(packed.confusion[split])))
            for name, split in OF_TRAINING.items()
        }
    retrains = [
        result
        for (dataset, name, _), result in pack.retrains.items()
        if (dataset, name) == (packed.spec["dataset"], scenario) and result.key != packed.key
    ]
    counts = sample_counts(packed)
    return {
        name: _band(name, retrains, others, packed, counts.get(name, packed.forget_count))
        for name in rules_of(scenario).metrics
    }


def _band(
    name: str, retrains: list[Result], others: list[Result], packed: Result, samples: int
) -> float:
    """Where there is no other run, of so many samples the value itself, whose band is never wide;
    0 where that is missing, too.
    """
    told = _values(retrains, name) or _values([packed], name)
    return repeat_band(told, _values(others, name), samples=samples) if told else 0.0


def _setting(result: Result) -> Mapping[str, object]:
    """What lines share that differ in their training seeds alone."""
    return {**result.spec, "training_seed": None}


def _values(results: list[Result], metric: str) -> list[float]:
    measured = [each.metrics[metric].value for each in results if metric in each.metrics]
    return [value for value in measured if value is not None]
