"""One spec to one stored result: references, method under the clock, one pass for the outputs,
metrics, record.
"""

from __future__ import annotations

import copy
import platform
import time
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
import torch
from torch import nn

import mucore
from mucore import catalog, methods, training
from mucore.datasets.splits import Splits, copies_flags, copies_notes
from mucore.engine.data import UnlearningData
from mucore.engine.features import classifier_layer
from mucore.engine.layers import train_only
from mucore.engine.loop import is_finite
from mucore.engine.run import NO_CALLBACKS, Callbacks, Run
from mucore.errors import Refused
from mucore.metrics import measure
from mucore.metrics.sanity import cautions, flags
from mucore.outputs import DOWNSTREAM
from mucore.runner.evaluate import evidence_of, original_outputs, outputs_of, probed_of
from mucore.runner.session import ForgetSet, Session
from mucore.runner.training_records import training_records
from mucore.spec import RunSpec, complete
from mucore.store.rows import Model, Result

# beside the groups of metrics, parts of what measuring takes
PREDICTING, GRADIENTS = "predicting", "gradients of samples"


def execute(
    spec: RunSpec,
    session: Session,
    callbacks: Callbacks = NO_CALLBACKS,
) -> Result:
    """Compute a spec and store its result; return the stored one if there is one. Missing
    references are made first.

    Raises `Cancelled`, and `MucoreError` for what the user can mend. Everything finished before
    stays in the store.
    """
    if (done := session.store.get_result(spec.key)) is not None:
        return done
    session.check_task(spec)
    for needed in spec.needs():
        if not session.store.known([needed.key]):
            execute(needed, session, callbacks)
    began, clock = datetime.now(UTC), time.perf_counter()
    original, original_record = session.original(spec, callbacks)
    evaluation = session.run(spec, spec.evaluation_seed, callbacks)
    forget = session.forget_set(spec, original, evaluation) if spec.scenario is not None else None
    data = session.unlearning_data(spec, forget) if forget is not None else None
    start, start_record = (original, original_record)
    if spec.after is not None and not spec.from_original:
        start, start_record = _result_of(spec.after, session, original, original_record, callbacks)
    model, record = _model(spec, session, start, start_record, forget, data, callbacks)

    evaluation.progress("predicting", 0.0, force=True)
    evaluating = time.perf_counter()
    outputs = outputs_of(spec, session, model, data, evaluation)
    measuring = {PREDICTING: time.perf_counter() - evaluating}
    evaluation.progress("measuring", 0.5, force=True)
    is_reference = spec.scenario is None or spec.key == spec.retrained().key
    retrained = None if is_reference else session.store.get_result(spec.retrained().key)
    before = original_outputs(spec, session, original, data, outputs, evaluation)
    evidence = evidence_of(
        spec,
        session,
        outputs,
        before,
        model,
        start,
        record.cost,
        forget.gone if forget else (),
        retrained,
    )
    probing = time.perf_counter()
    evidence = replace(evidence, probed=probed_of(spec, session, model, data, evaluation))
    if evidence.probed is not None:
        measuring[GRADIENTS] = time.perf_counter() - probing
    metrics = measure(evidence, scenario=spec.scenario, method=spec.method, seconds=measuring)
    finished = time.perf_counter()
    result = Result(
        key=spec.key,
        model_key=spec.model_key,
        spec=spec.model_dump(mode="json"),
        status=record.status,
        stop_reason=record.stop_reason,
        metrics=metrics,
        cost={
            **record.cost,
            "evaluation_seconds": finished - evaluating,
            "measuring_seconds": measuring,
            "wall_seconds": finished - clock,
        },
        losses=record.losses,
        diagnostics=record.diagnostics,
        notes=(
            *record.notes,
            *session.splits(spec).notes,
            *(copies_notes(session.splits(spec).train) if forget else ()),
            *(session.downstream(spec)[1] if data is not None else ()),
            *cautions(evidence, metrics),
        ),
        flags=(
            *flags(evidence, metrics, method=spec.method),
            *_copies(session.splits(spec), forget),
        ),
        confusion={
            name: split.confusion.tolist()
            for name, split in outputs.items()
            if not name.startswith(DOWNSTREAM)
        },
        forget_hash=forget.hash if forget else None,
        forget_count=len(data.forget) if data else 0,
        retain_count=len(data.retain) if data else 0,
        data_hash=session.splits(spec).data_hash,
        versions=versions(),
        device=record.device,
        precision=record.precision,
        outputs=session.store.artifacts.put_outputs(outputs),
        weights=record.weights,
        started=began,
        finished=datetime.now(UTC),
    )
    session.store.put_result(result)
    return result


def _result_of(
    spec: RunSpec,
    session: Session,
    original: nn.Module,
    original_record: Model,
    callbacks: Callbacks,
) -> tuple[nn.Module, Model]:
    """What an earlier request of a sequence ended in: loaded, or made again from the original on
    where it was cleared away.
    """
    if spec.method != "original" and (found := session.load_model(spec)) is not None:
        return found
    start, record = original, original_record
    if spec.after is not None and not spec.from_original:
        start, record = _result_of(spec.after, session, original, original_record, callbacks)
    forget = session.forget_set(spec, original, session.run(spec, 0, callbacks))
    return _model(
        spec,
        session,
        start,
        record,
        forget,
        session.unlearning_data(spec, forget),
        callbacks,
    )


def _model(
    spec: RunSpec,
    session: Session,
    original: nn.Module,
    original_record: Model,
    forget: ForgetSet | None,
    data: UnlearningData | None,
    callbacks: Callbacks,
) -> tuple[nn.Module, Model]:
    """The model under test: the original itself, a stored one, or the method's work, stored."""
    if spec.method == "original" or data is None or forget is None:
        return original, original_record
    if (found := session.load_model(spec)) is not None:
        return found
    if spec.method == "uploaded":
        return session.given_model(
            spec,
            spec.parameters["file"],
            session.run(spec, spec.unlearning_seed, callbacks),
        )
    if spec.method == "retrain":
        run = session.run(spec, spec.training_seed, callbacks)
        checkpoints = session.checkpoints(spec)
        model = training.retrain(
            spec, run, session.splits(spec), data.retain, checkpoints=checkpoints
        )
        record = session.save_model(spec, model, run, session.cost(run))
        checkpoints.discard()
        return model, record
    run = session.run(spec, spec.unlearning_seed, callbacks)
    model = unlearn_recorded(spec, session, original, forget, data, run, callbacks)
    return model, session.save_model(spec, model, run, session.cost(run))


def unlearn_recorded(
    spec: RunSpec,
    session: Session,
    original: nn.Module,
    forget: ForgetSet,
    data: UnlearningData,
    run: Run,
    callbacks: Callbacks = NO_CALLBACKS,
) -> nn.Module:
    """`unlearn` with the training records that the spec's method needs; those that are not stored
    are made first.
    """
    data = replace(
        data,
        record=data.record | training_records(session, spec, original, forget, run, callbacks),
    )
    return unlearn(spec, original, data, run)


def unlearn(spec: RunSpec, original: nn.Module, data: UnlearningData, run: Run) -> nn.Module:
    """Run a method on a copy of the original, under the clock. Non-finite weights give back the
    original with status "diverged".

    Raises `Refused` where the spec confines the method to the classifier and it does not keep to
    that.
    """
    start = copy.deepcopy(original).train().requires_grad_(True)
    if spec.scope == "classifier":
        run.diagnostics["trained_share"] = train_only(start, _classifier(start))
    run.noise = spec.noise
    given = complete(catalog.method(spec.method), spec.parameters)
    parameters = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    method = methods.load(spec.method, spec.method_hash)
    try:
        with run.clock():
            model = method(start, data, run, **parameters)
    except (KeyError, RuntimeError) as error:
        # the gradient or the importance of a layer that does not move
        fixed = "not require grad" in str(error) or any(
            str(each) in dict(start.named_parameters()) for each in error.args
        )
        if spec.scope == "classifier" and fixed:
            raise Refused(_NOT_CONFINED.format(spec.method)) from error
        raise
    if spec.scope == "classifier" and _moved_elsewhere(model, original):
        raise Refused(_NOT_CONFINED.format(spec.method))
    if spec.noise and "noisy_steps" not in run.diagnostics:
        run.note(
            f"{spec.method} takes no step along a gradient, so the noise of {spec.noise:g} "
            "changed nothing."
        )
    if not is_finite(model):
        model = copy.deepcopy(original)
        run.status = "diverged"
        run.stop_reason = (
            "the method returned weights that are not finite; the original's were restored"
        )
    return model.requires_grad_(True).eval()


_NOT_CONFINED = (
    "{0} changes layers by rules of its own, so it cannot be confined to the classifier. Leave it "
    "out where the scope is classifier."
)


def _classifier(model: nn.Module) -> dict[str, nn.Module]:
    head = classifier_layer(model)
    return {name: module for name, module in model.named_modules() if module is head}


def _moved_elsewhere(model: nn.Module, original: nn.Module) -> bool:
    """Whether anything but the classifier differs from the original, statistics of batch norms
    among it.
    """
    (head,) = _classifier(original)
    before, after = original.state_dict(), model.state_dict()
    fixed = [name for name in before if not name.startswith(f"{head}.")]
    return before.keys() != after.keys() or any(
        not torch.equal(before[name], after[name].to(before[name])) for name in fixed
    )


def _copies(splits: Splits, forget: ForgetSet | None) -> list[str]:
    """Flags of forgotten images that are in the retain or test set as exact copies."""
    if forget is None:
        return []
    ids = splits.train.ids.numpy()
    retained = ~np.isin(ids, np.union1d(forget.before, forget.ids))
    return copies_flags(
        splits.train, splits.test, forgotten=np.isin(ids, forget.ids), retained=retained
    )


def versions() -> dict[str, str]:
    """What a reader needs to repeat a run: versions of the code and of the libraries that decide
    numbers.
    """
    names = ("torch", "torchvision", "numpy", "scikit-learn", "pandas")
    return {
        "mucore": mucore.__version__,
        "python": platform.python_version(),
        **{name: _version(name) for name in names},
    }


def _version(name: str) -> str:
    return torch.__version__ if name == "torch" else version(name)
