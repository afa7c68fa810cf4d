"""Measure stored results again, from what the store kept of them: what a later version can measure
comes to the results of an earlier one.

Nothing is trained. Predictions are read from the store; weights are used where they are there. A
number that cannot be had any more stays what it was; one that is withheld now goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import mucore
from mucore.catalog.cards import WITHHELD
from mucore.errors import MucoreError
from mucore.metrics import measure
from mucore.metrics.sanity import flags
from mucore.runner.evaluate import (
    gradient_norms_of,
    metric_inputs,
    original_outputs,
    stored_outputs,
)
from mucore.runner.session import Session
from mucore.runs import RunSpec, stored_spec
from mucore.scenarios import select
from mucore.store.records import Measured, Result


def remeasure(
    results: Sequence[Result],
    session: Session,
    *,
    on_done: Callable[[int, int], None] | None = None,
) -> list[str]:
    """Measure each of `results` again and store it; returns, in a sentence each, why some were
    left alone. References come first, for the gaps to them.

    Each result is stored when it is done, so that an interruption loses at most one. Raises
    `StoreError` where the store cannot be written.
    """
    left = []
    for count, result in enumerate(sorted(results, key=lambda each: _order(each.spec)), 1):
        try:
            session.store.put_result(_again(result, session))
        except _Stays as reason:
            left.append(str(reason))
        if on_done is not None:
            on_done(count, len(results))
    return left


class _Stays(MucoreError):
    """Why a result stays as it is."""


def _order(spec: Mapping[str, Any]) -> tuple[int, int]:
    """Requests of a sequence in order; of each, references first."""
    place = {"retrain": 1, "original": 2}.get(spec["method"], 3)
    before = spec.get("after")
    return 1 + _order(before)[0] if before else 1, place if spec["scenario"] is not None else 0


def _again(result: Result, session: Session) -> Result:
    try:
        outputs = stored_outputs(session, result)
        if outputs is None:
            raise _Stays("Its predictions are not in the store.")
        spec = stored_spec(result.spec)
        if spec.key != result.key:
            raise _Stays("It was made by another version of its method, scenario or data set.")
        return _measured_again(spec, result, outputs, session)
    except MucoreError as error:
        raise _Stays(str(error)) from error


def _measured_again(spec: RunSpec, result: Result, outputs: Any, session: Session) -> Result:
    original, model = session.load_model(spec.original()), session.load_model(spec)
    run = session.run(spec, spec.evaluation_seed)
    data, gone = None, ()
    before = stored_outputs(session, session.store.get_result(spec.untouched().key))
    if spec.scenario is not None:
        if original is not None:
            forget = session.forget_set(spec, original[0], run)
            if forget.hash != result.forget_hash:
                raise _Stays("Its scenario chooses other samples now.")
            data, gone = session.unlearning_data(spec, forget), forget.gone
            before = original_outputs(spec, session, original[0], data, outputs, run)
        elif spec.after is None:
            gone = select.forgotten_classes(spec.scenario, outputs["forget"].labels)
        else:
            raise _Stays("Its original is no longer in the store.")
    start = original
    if spec.after is not None and not spec.from_original:
        start = session.load_model(spec.after)
    norms = gradient_norms_of(spec, session, model[0], data, run) if model is not None else None
    inputs = metric_inputs(
        spec,
        session,
        outputs=outputs,
        original=before,
        model=model[0] if model is not None else None,
        start=start[0] if start is not None else None,
        gradient_norms=norms,
        cost=result.cost,
        forgotten_classes=gone,
    )
    found = measure(inputs, scenario=spec.scenario, method=spec.method)
    metrics = {
        name: was if _had(was := result.metrics.get(name), measured) else measured
        for name, measured in found.items()
    }
    mended = {
        was.error
        for name, was in result.metrics.items()
        if was.error and name in metrics and metrics[name].value is not None
    }
    # flags of what is not looked at here stay too
    standing = [flag for flag in result.flags if not flag.endswith(tuple(mended))]
    return replace(
        result,
        metrics=metrics,
        flags=tuple(dict.fromkeys([*standing, *flags(inputs, metrics, method=spec.method)])),
        versions={**result.versions, "metrics": mucore.__version__},
    )


def _had(was: Measured | None, measured: Measured) -> TypeGuard[Measured]:
    """Whether a number cannot be had any more that was there; one that is withheld now goes."""
    withheld = (measured.error or "").startswith(WITHHELD)
    return measured.value is None and not withheld and was is not None and was.value is not None
