"""All metrics of one run, from stored arrays: no model, no file, no device.

`measure` fills the table of a result: one `Measured` for each metric card that applies. registry.py
says which id is which function. Values are fractions in 0..1, seconds, bytes or counts; gap = value
− value of Retrain.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from importlib import import_module

import numpy as np

from mucore import catalog
from mucore.catalog.cards import MetricCard
from mucore.catalog.metrics import EXPERIMENT
from mucore.errors import BadValue, MucoreError
from mucore.metrics import cost, mia
from mucore.metrics.inputs import MetricInputs
from mucore.metrics.registry import MACHINE_DEPENDENT, RELATIVE_TO_RETRAIN, TABLE
from mucore.store.records import Measured

# opens the error of a metric that broke, unlike one that cannot exist
FAILED = "The computation failed: "

# What can be said about the original's training, when nobody has asked to forget yet.
OF_TRAINING = frozenset(
    {"ta", "ra", "va", "unlearning_seconds", "work", "samples_read", "optimizer_steps"}
    | {"peak_memory_bytes"}
    | {f"mia_{attack}_attack_accuracy" for attack in mia.ATTACKS}
)


def applies(card: MetricCard, *, scenario: str | None, method: str) -> bool:
    """Whether a metric says something about a run: the original row of a scenario, for one, has no
    cost, because nothing was unlearned.
    """
    if scenario is None:
        return card.id in OF_TRAINING
    if card.group == EXPERIMENT or (method == "original" and card.group == "cost"):
        return False
    if card.id == "efficacy_untrained" and method != "original":
        return False  # the same for all models of a training seed, so it is kept once
    return catalog.serves(card, scenario)


def measure(inputs: MetricInputs, *, scenario: str | None, method: str) -> dict[str, Measured]:
    """Every metric that applies, in the order of the cards. Never raises: what cannot be had is a
    `Measured` with a sentence instead.

    The reference Retrain is compared with itself: its distances are 0, its relative time 1, and it
    has no gaps. A Retrain of other settings is a method like any other.
    """
    if method == "retrain" and inputs.retrain_metrics is None:
        inputs = replace(
            inputs,
            retrained=inputs.outputs,
            retrained_weights=inputs.weights,
            retrain_cost=inputs.cost,
        )
    found: dict[str, Measured] = {}
    with one_thread():
        for card in catalog.metrics():
            if applies(card, scenario=scenario, method=method) and (
                card.group != "downstream" or inputs.looked_at(card.downstream)
            ):
                found[card.id] = _one(inputs, card.id, has_gap=scenario is not None)
    return found


def one_thread() -> AbstractContextManager:
    """NumPy's and SciPy's matrices on one thread each. Those of metrics are small: threads of
    OpenBLAS that wait for each other turn in circles, which on a busy machine took ten times the
    work itself; and sums differ by how many share them.
    """
    from threadpoolctl import get_cached_controller  # only those who measure need it

    # SciPy has an OpenBLAS of its own, which it loads when a metric first asks for it: too late
    import_module("scipy.linalg")
    # looks for libraries again when modules were imported since; that takes milliseconds
    return get_cached_controller().limit(limits=1, user_api="blas")


def _one(inputs: MetricInputs, metric: str, *, has_gap: bool) -> Measured:
    try:
        card, missing = catalog.metric(metric), inputs.cost.get("missing")
        if missing and card.group == "cost":
            raise BadValue(missing)
        if card.least and (few := card.withheld(inputs.split(card.least[0]).total)):
            raise BadValue(few)
        value = TABLE[metric](inputs)
        if value is None:
            raise BadValue("This was not recorded on the device of the run.")
        if not np.isfinite(value):
            return Measured(
                None, error=f"{FAILED}the value is {value}, not a number that can be shown."
            )
        return Measured(float(value), gap=_gap(inputs, metric, float(value)) if has_gap else None)
    except MucoreError as error:
        return Measured(None, error=str(error))
    except Exception as error:  # a broken metric must not take the run's other numbers with it
        return Measured(None, error=f"{FAILED}{type(error).__name__}: {error}")


def _gap(inputs: MetricInputs, metric: str, value: float) -> float | None:
    reference = (inputs.retrain_metrics or {}).get(metric)
    if reference is None or reference.value is None or metric in RELATIVE_TO_RETRAIN:
        return None
    if metric in MACHINE_DEPENDENT:
        other = inputs.retrain_cost
        if other is None or not cost.comparable(unlearned=inputs.cost, retrained=other):
            return None
    return value - reference.value


def held_out(inputs: MetricInputs) -> int:
    """Samples that tested the attacks of `measure`, both sides together; 0 where there was no
    attack.
    """
    members = inputs.outputs.get("retain") or inputs.outputs.get("train")
    test = inputs.outputs.get("test")
    return (
        2 * (min(len(members), len(test), inputs.mia_samples) // 2)
        if members is not None and test is not None
        else 0
    )
