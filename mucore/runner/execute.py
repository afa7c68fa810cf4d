"""One spec to one stored result: references, method under the clock, one pass for the outputs,
metrics, record.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from torch import nn

import mucore
from mucore import methods, training
from mucore.datasets.splits import Splits, copies_flags
from mucore.engine.data import UnlearningData
from mucore.engine.run import NO_CALLBACKS, Callbacks, Run
from mucore.metrics import MetricInputs, measure
from mucore.metrics.sanity import cautions, flags
from mucore.outputs import DOWNSTREAM
from mucore.runner import child, own_method
from mucore.runner.evaluate import gradient_norms_of, metric_inputs, original_outputs, outputs_of
from mucore.runner.forget_set import ForgetSet
from mucore.runner.method import apply, classifier, finite, not_confined
from mucore.runner.models import Trained
from mucore.runner.session import Session
from mucore.runner.training_records import training_records
from mucore.runs import REFERENCES, RunSpec
from mucore.store.records import Measured, Model, Result


def execute(spec: RunSpec, session: Session, callbacks: Callbacks = NO_CALLBACKS) -> Result:
    """Compute a spec and store its result; return the stored one if there is one. Missing
    references are made first.

    Raises `Cancelled`, and `MucoreError` for what the user can mend. Everything finished before
    stays in the store.
    """
    if (done := session.store.get_result(spec.key)) is not None:
        return done
    _prepare(spec, session, callbacks)
    result = _computed(spec, session, callbacks)
    session.store.put_result(result)
    return result


def _prepare(spec: RunSpec, session: Session, callbacks: Callbacks) -> None:
    """Make the references that are missing, and anew those files of references that were lost,
    whose numbers stay.
    """
    for needed in spec.needs():
        stored = session.store.get_result(needed.key)
        if stored is None:
            execute(needed, session, callbacks)
        elif session.lacks_files(stored):
            _prepare(needed, session, callbacks)
            again = _computed(needed, session, callbacks)
            session.store.put_result(replace(stored, outputs=again.outputs, weights=again.weights))


def _computed(spec: RunSpec, session: Session, callbacks: Callbacks) -> Result:
    """The result of a spec whose references are stored; its files are stored, its row is not."""
    began, clock = datetime.now(UTC), time.perf_counter()
    original = session.original(spec, callbacks)
    evaluation = session.run(spec, spec.evaluation_seed, callbacks)
    forget, data = _forgetting(spec, session, original, evaluation)
    start = _start(spec, session, original, callbacks)
    model, record = model_of(spec, session, start, forget, data, callbacks)

    evaluation.progress("predicting", 0.0, force=True)
    evaluating, processor = time.perf_counter(), time.process_time()
    outputs = outputs_of(spec, session, model, data, evaluation)
    evaluation.progress("measuring", 0.5, force=True)
    of_original = original_outputs(spec, session, original[0], data, outputs, evaluation)
    norms = gradient_norms_of(spec, session, model, data, evaluation)
    inputs = metric_inputs(
        spec,
        session,
        outputs=outputs,
        original=of_original,
        model=model,
        start=start[0],
        gradient_norms=norms,
        cost=record.cost,
        forgotten_classes=forget.gone if forget else (),
    )
    metrics = measure(inputs, scenario=spec.scenario, method=spec.method)
    finished = time.perf_counter()
    cost = {
        **record.cost,
        "evaluation_seconds": finished - evaluating,
        # as with a run's own: nobody else's work is in it, and a GPU's neither
        "evaluation_processor_seconds": time.process_time() - processor
        if session.device.type == "cpu"
        else None,
        "wall_seconds": finished - clock,
    }
    return _result(spec, session, record, forget, data, inputs, metrics, cost, began)


def _forgetting(
    spec: RunSpec, session: Session, original: Trained, run: Run
) -> tuple[ForgetSet, UnlearningData] | tuple[None, None]:
    """The scenario applied; nothing for the training of an original."""
    if spec.scenario is None:
        return None, None
    forget = session.forget_set(spec, original[0], run)
    return forget, session.unlearning_data(spec, forget)


def _start(spec: RunSpec, session: Session, original: Trained, callbacks: Callbacks) -> Trained:
    """What a method starts from: the original or, in a sequence, what the request before ended in,
    loaded or made again from the original on where it was cleared away.
    """
    before = spec.after
    if before is None or spec.from_original:
        return original
    if before.method != "original" and (found := session.load_model(before)) is not None:
        return found
    start = _start(before, session, original, callbacks)
    run = session.run(before, 0, callbacks)
    return model_of(before, session, start, *_forgetting(before, session, original, run), callbacks)


def model_of(
    spec: RunSpec,
    session: Session,
    start: Trained,
    forget: ForgetSet | None,
    data: UnlearningData | None,
    callbacks: Callbacks,
) -> Trained:
    """The model under test: the original itself, a stored one, or the method's work, stored."""
    if spec.method == "original" or data is None or forget is None:
        return start
    if (found := session.load_model(spec)) is not None:
        return found
    if spec.method == "uploaded":
        run = session.run(spec, spec.unlearning_seed, callbacks)
        return session.uploaded_model(spec, spec.parameters["file"], run)
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
    model = unlearn_recorded(spec, session, start[0], forget, data, run, callbacks)
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
        data, record=data.record | training_records(session, spec, original, forget, run, callbacks)
    )
    retrain = session.store.get_model(spec.retrained().model_key)
    return unlearn(
        spec, original, data, run, retrain.cost.get("seconds") if retrain is not None else None
    )


def unlearn(
    spec: RunSpec,
    original: nn.Module,
    data: UnlearningData,
    run: Run,
    retrain_seconds: float | None = None,
) -> nn.Module:
    """Run a method on a copy of the original, under the clock; a user's own in a process of its
    own, whose limits follow Retrain's time. Non-finite weights give back the original with status
    "diverged".

    Raises `Refused` where the spec confines the method to the classifier and it does not keep to
    that, and `MethodFailed` where a user's own comes to no result.
    """
    own = methods.own(spec.method, spec.method_hash) is not None
    if own and run.observer is None:  # a replay has a process of its own already
        model = own_method.apply(spec, original, data, run, child.limits(retrain_seconds))
    else:
        model = apply(spec, original, data, run)
    if spec.scope == "classifier" and _moved_elsewhere(model, original):
        raise not_confined(spec)
    if spec.noise and "noisy_steps" not in run.diagnostics:
        run.note(
            f"{spec.method} takes no step along a gradient, so the noise of {spec.noise:g} "
            "changed nothing."
        )
    return finite(model, original, run)


def _moved_elsewhere(model: nn.Module, original: nn.Module) -> bool:
    """Whether anything but the classifier differs from the original, statistics of batch norms
    among it.
    """
    (head,) = classifier(original)
    before, after = original.state_dict(), model.state_dict()
    fixed = [name for name in before if not name.startswith(f"{head}.")]
    return before.keys() != after.keys() or any(
        not torch.equal(before[name], after[name].to(before[name])) for name in fixed
    )


def _result(
    spec: RunSpec,
    session: Session,
    record: Model,
    forget: ForgetSet | None,
    data: UnlearningData | None,
    inputs: MetricInputs,
    metrics: Mapping[str, Measured],
    cost: Mapping[str, Any],
    started: datetime,
) -> Result:
    """The row of a run, with its predictions stored."""
    splits = session.splits(spec)
    return Result(
        key=spec.key,
        model_key=spec.model_key,
        spec=spec.model_dump(mode="json"),
        status=record.status,
        stop_reason=record.stop_reason,
        metrics=metrics,
        cost=cost,
        losses=record.losses,
        diagnostics=record.diagnostics,
        notes=(
            *record.notes,
            *splits.notes,
            *(session.downstream(spec)[1] if data is not None else ()),
            *cautions(inputs, metrics),
        ),
        flags=(
            *flags(inputs, metrics, method=spec.method),
            *_copies(splits, forget),
            *_of_a_reference(spec, session, record),
        ),
        confusion={
            name: split.confusion.tolist()
            for name, split in inputs.outputs.items()
            if not name.startswith(DOWNSTREAM)
        },
        forget_hash=forget.hash if forget else None,
        forget_count=len(data.forget) if data else 0,
        retain_count=len(data.retain) if data else 0,
        data_hash=splits.data_hash,
        versions=versions(),
        device=record.device,
        precision=record.precision,
        outputs=session.store.artifacts.put_outputs(inputs.outputs),
        weights=record.weights,
        started=started,
        finished=datetime.now(UTC),
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


def _of_a_reference(spec: RunSpec, session: Session, record: Model) -> list[str]:
    """A flag of a method whose weights are a reference's bit by bit; a status says why they may
    be.
    """
    if spec.scenario is None or spec.method in REFERENCES or record.status != "ok":
        return []
    references = {"Retrain": spec.retrained(), "the original": spec.original()}
    found = {name: session.store.get_model(each.model_key) for name, each in references.items()}
    return [
        f"Its weights are those of {name}, bit by bit."
        for name, each in found.items()
        if each is not None and each.weights is not None and each.weights == record.weights
    ]


def versions() -> dict[str, str]:
    """What a reader needs to repeat a run: versions of the code and of the libraries that decide
    numbers.
    """
    names = ("torchvision", "numpy", "scikit-learn", "pandas")
    return {
        "mucore": mucore.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        **{name: version(name) for name in names},
        **({"cuda": f"{cuda} (TF32 in convolutions)"} if (cuda := torch.version.cuda) else {}),
    }
