"""What the metrics look at: what a model and the original say of each split, their weights, and
gradients while the model is at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from mucore import training
from mucore.engine.chunks import chunk
from mucore.engine.collect import KEEP_LOGITS, collect, collect_elsewhere
from mucore.engine.data import UnlearningData
from mucore.engine.ensemble import Ensemble
from mucore.engine.run import Run
from mucore.errors import Cancelled
from mucore.metrics import MetricInputs
from mucore.metrics.inputs import GRADIENTS, GradientNorms
from mucore.outputs import KEEP_FEATURES, Outputs, with_common_scale
from mucore.probes.efficacy import squared_gradient_norms, squared_norm_of_mean_gradient
from mucore.rng import stream_seed
from mucore.runner.device_data import some_of
from mucore.runner.session import Session
from mucore.runs import RunSpec
from mucore.store.artifacts import MissingFile
from mucore.store.records import Result
from mucore.unforeseen import foreseen

GRADIENT_BATCH = 128  # of large networks less, see engine/chunks.py


def outputs_of(
    spec: RunSpec, session: Session, model: nn.Module, data: UnlearningData | None, run: Run
) -> Outputs:
    classes = session.splits(spec).classes
    views = {
        "validation": session.samples(spec, "validation"),
        "test": session.samples(spec, "test"),
    }
    if data is None:
        views["train"] = session.samples(spec, "train")
    else:
        views |= {"forget": data.forget, "retain": data.retain}
    for name in ("unseen", "triggered"):
        if name in session.splits(spec).names:
            views[name] = session.samples(spec, name)
    gathered = {}
    for name, samples in views.items():
        # every forgotten sample is looked at one by one
        keep = None if name == "forget" else KEEP_LOGITS
        gathered[name] = collect(model, samples, classes, run, keep=keep)
    if data is not None and data.true_labels is not None:
        gathered["forget_true"] = collect(
            model, data.forget.with_labels(data.true_labels), classes, run, keep=0, features=0
        )
    if data is not None:
        for name, samples in session.downstream(spec)[0].items():
            gathered[name] = collect_elsewhere(model, samples, classes, run)
    return with_common_scale(Outputs(gathered))


def original_outputs(
    spec: RunSpec,
    session: Session,
    original: nn.Module,
    data: UnlearningData | None,
    outputs: Outputs,
    run: Run,
) -> Outputs | None:
    """What the trained original says of its own splits and of the scenario's; of these it is asked
    now, where features need it. None for its own training.
    """
    if data is None:  # where it is made again, what is stored of it may be damaged
        return None
    trained = stored_outputs(session, session.store.get_result(spec.original().key))
    if spec.method == "original":
        return outputs
    untouched = session.store.get_result(spec.untouched().key)
    # else it is asked now, as it is where that run was never made
    if untouched is not None and not session.lacks_files(untouched):
        said = stored_outputs(session, untouched)
        if said is not None:
            return Outputs({**(trained or {}), **said})
    gathered = dict(trained or {})
    classes = session.splits(spec).classes
    for name, samples in (("forget", data.forget), ("retain", data.retain)):
        # what was stored is read-only
        chosen = torch.from_numpy(outputs[name].ids[:KEEP_FEATURES].copy())
        gathered[name] = collect(original, samples[torch.isin(samples.ids, chosen)], classes, run)
    for name, samples in session.downstream(spec)[0].items():
        gathered[name] = collect_elsewhere(original, samples, classes, run)
    return Outputs(gathered)


def gradient_norms_of(
    spec: RunSpec, session: Session, model: nn.Module, data: UnlearningData | None, run: Run
) -> GradientNorms | None:
    """Gradients of a network on part of the forget set, for an original those of its untrained
    network, too, beside what a network that never learned predicts there.

    Never raises but to stop: a network without gradients, such as one of a user's own, gets a
    sentence instead of numbers.
    """
    if data is None:
        return None
    splits, part = session.splits(spec), some_of(data.forget, GRADIENTS)

    def asked() -> Outputs:
        seed = stream_seed(spec.evaluation_seed, "incompetent")
        network = training.fresh_model(spec, splits, seed).to(session.device)
        return Outputs({"forget": collect(network, part, splits.classes, run, features=0)})

    # the same for all methods of a scenario
    same = spec.untouched().key, spec.evaluation_seed, run.precision, part.ids.numpy().tobytes()
    found = partial(GradientNorms, incompetent=session.kept.get(same, asked)["forget"])
    if isinstance(model, Ensemble):
        return found(missing="Efficacy is about one set of weights, but the model is an ensemble.")
    untrained = data.record["initial"]().to(session.device) if spec.method == "original" else None
    size = chunk(model, part.images.shape, GRADIENT_BATCH, times=2)
    try:
        return found(
            squared_norms=squared_gradient_norms(model, part, run, batch_size=size),
            squared_norm_of_mean=squared_norm_of_mean_gradient(model, part, run, batch_size=size),
            untrained_squared_norms=None
            if untrained is None
            else squared_gradient_norms(untrained, part, run, batch_size=size),
        )
    except Cancelled:
        raise
    except Exception as error:  # the other numbers of the run must not go with it
        why = foreseen(error) or f"{type(error).__name__}: {error}"
        return found(missing=f"The gradients of this network could not be had: {why}")


def metric_inputs(
    spec: RunSpec,
    session: Session,
    *,
    outputs: Outputs,
    original: Outputs | None,
    model: nn.Module | None,
    start: nn.Module | None,
    gradient_norms: GradientNorms | None,
    cost: Mapping[str, Any],
    forgotten_classes: tuple[int, ...],
) -> MetricInputs:
    """All that the metrics may look at. `original` are the original's predictions, `start` is what
    the method started from; weights are None where they were cleared away.
    """
    retrained = stored_retrained(spec, session)
    reference = session.load_model(spec.retrained()) if retrained is not None else None
    return MetricInputs(
        outputs=outputs,
        original=original,
        retrained=stored_outputs(session, retrained),
        classes=session.splits(spec).classes,
        forgotten_classes=forgotten_classes,
        weights=trainable(model) if model is not None else None,
        original_weights=trainable(start) if start is not None else None,
        retrained_weights=trainable(reference[0]) if reference else None,
        cost=cost,
        retrain_cost=retrained.cost if retrained is not None else None,
        retrain_metrics=retrained.metrics if retrained is not None else None,
        evaluation_seed=spec.evaluation_seed,
        mia_samples=spec.mia_samples,
        poison=spec.poison,
        gradient_norms=gradient_norms,
    )


def stored_retrained(spec: RunSpec, session: Session) -> Result | None:
    """The result of the Retrain that a run is compared with; None for that one itself and for the
    training of the original.
    """
    if spec.scenario is None or spec.key == spec.retrained().key:
        return None
    return session.store.get_result(spec.retrained().key)


def stored_outputs(session: Session, result: Result | None) -> Outputs | None:
    """The predictions of an earlier run; None where they were cleared away, which the metrics that
    need them then say. Raises where they are there and cannot be read now: numbers would be missing
    for good.
    """
    if result is None or (name := result.outputs) is None:
        return None
    try:
        return session.kept.get(name, lambda: session.store.artifacts.get_outputs(name))
    except MissingFile:
        return None


def trainable(model: nn.Module) -> dict[str, np.ndarray] | None:
    """The trainable parameters by name, as float arrays on the CPU; None for an ensemble, which has
    no single set of weights.
    """
    if isinstance(model, Ensemble):
        return None
    return {
        name: parameter.detach().float().cpu().numpy()
        for name, parameter in model.named_parameters()
    }
