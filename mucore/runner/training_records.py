"""Training records of an original: what some methods need beside its weights, loaded from the store
or made and kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator

import torch
from torch import nn

from mucore import catalog, training
from mucore.blocks import pruning, shards
from mucore.blocks.layer_moments import moments_to_keep
from mucore.catalog import MethodCard
from mucore.engine.collect import collect
from mucore.engine.data import Samples
from mucore.engine.run import NO_CALLBACKS, Callbacks, Run, state_bytes
from mucore.metrics.accuracy import accuracy
from mucore.metrics.cost import taken
from mucore.runner.forget_set import ForgetSet
from mucore.runner.session import Session
from mucore.runs import RunSpec, complete
from mucore.store.records import Model
from mucore.training import records
from mucore.training.records import Record


def training_records(
    session: Session,
    spec: RunSpec,
    original: nn.Module,
    forget: ForgetSet,
    run: Run,
    callbacks: Callbacks = NO_CALLBACKS,
) -> dict[str, Record]:
    """The records that the spec's method needs: loaded, or made and stored, in no method's time.

    `run` gets a note of what they are, and what it took to make them, now or at an earlier time.
    """
    found = {}
    card = catalog.method(spec.method)
    for name in records.needed(card, complete(card, spec.parameters)):
        found[name], made = _record(session, spec, name, original, forget, callbacks)
        seconds = taken(made.cost) or 0.0
        run.note(
            f"Training record {name}: {state_bytes(found[name].values()) / 1e6:.3g} MB, made in "
            f"{seconds:.3g} s outside this run's clock and kept."
        )
        if name in records.PER_REQUEST:
            run.cost.prepared_for_request_seconds += seconds
        else:
            run.cost.prepared_seconds += seconds
        splits = session.splits(spec)
        if name.startswith("shards/"):
            sharded, vote = _sharded(session, spec), spec.parameters["vote"]
            before, what = sharded.ensemble(found[name], vote, splits.task), "this ensemble"
        elif name.partition("/")[0] in pruning.KINDS:
            before, what = training.fresh_model(spec, splits, 0).eval(), "this sparse network"
            before.load_state_dict(records.named(found[name], "model"))
        else:
            continue
        _tell_before(session, spec, before.to(session.device), what, forget, run)
    return found


def records_of(
    session: Session, spec: RunSpec, card: MethodCard, original: nn.Module, forget: ForgetSet
) -> dict[str, Record]:
    """Those of a card that is in no catalogue, for the request of `spec`."""
    return {
        name: _record(session, spec, name, original, forget, NO_CALLBACKS)[0]
        for name in records.needed(card, spec.parameters)
    }


def _record(
    session: Session,
    spec: RunSpec,
    name: str,
    original: nn.Module,
    forget: ForgetSet,
    callbacks: Callbacks,
) -> tuple[Record, Model]:
    base = spec.original()
    key = records.key(base.model_key, name, forget.hash)
    kept = session.store.get_model(key)
    if kept is not None and (stored := session.tensors(kept)) is not None:
        return stored, kept
    run = session.run(base, base.training_seed, callbacks)
    if name == "layer_moments":
        record = moments(original, session.samples(spec, "train"), run)
    elif name.startswith("shards/"):
        with run.clock():
            record = _sharded(session, spec).train_all(session.samples(spec, "train"), run)
    elif name.partition("/")[0] in pruning.KINDS:
        initial = training.initial_model(base, session.splits(base), training.init_seed(base)).to(
            session.device
        )
        with run.clock():
            record = pruning.SparseTraining.of(name, spec.recipe).train(
                initial, original, session.samples(spec, "train"), run
            )
    else:
        trained = session.store.get_model(base.model_key)
        recorder = records.REPLAYED[name](torch.from_numpy(forget.ids), spec.parameters)
        with threads(trained.cost.get("threads") if trained else None):
            replayed, record = training.train_original(
                base, run, session.splits(base), recorder=recorder
            )
        training.check_replay(replayed, original)
    row: dict = {"status": "ok", "stop_reason": None, "losses": (), "diagnostics": {}}
    row["notes"] = (f"training record {name}",)
    kept = session.keep(key, base, record, run, session.cost(run), **row)
    return {part: t.cpu() for part, t in record.items()}, kept


def moments(original: nn.Module, train: Samples, run: Run) -> Record:
    """`layer_moments`, which the original and its training set are enough for."""
    with run.clock():
        return moments_to_keep(original, train, run)


def _sharded(session: Session, spec: RunSpec) -> shards.Sharded:
    """How the shards of a spec's method are trained."""
    splits = session.splits(spec)
    return shards.Sharded.of(
        spec.parameters,
        splits.train.ids,
        spec.recipe,
        lambda seed: training.initial_model(spec, splits, seed).to(session.device),
        spec.training_seed,
    )


def _tell_before(
    session: Session, spec: RunSpec, before: nn.Module, what: str, forget: ForgetSet, run: Run
) -> None:
    """Note how a network did before the request that is the original of its method, and not the one
    of the other rows.
    """
    train = session.samples(spec, "train")
    asked = {
        "ta": session.samples(spec, "test"),
        "fa": train[torch.isin(train.ids, torch.from_numpy(forget.ids))],
    }
    quiet = Run(seed=0, device=session.device)  # counted for nobody: the method does not look
    classes = session.splits(spec).classes
    found = {
        name: accuracy(confusion=collect(before, samples, classes, quiet).confusion)
        for name, samples in asked.items()
    }
    run.diagnostics |= {f"own_original_{name}": value for name, value in found.items()}
    run.note(
        f"Before the request {what}, its own original, had a test accuracy of "
        f"{100 * found['ta']:.1f} % and {100 * found['fa']:.1f} % on the forget set."
    )


@contextlib.contextmanager
def threads(count: int | None) -> Generator[None]:
    """Sums of another number of threads round otherwise, so a training is replayed with as many as
    it had.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
