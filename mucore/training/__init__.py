"""The original model and the retrained reference, under one recipe (MUBox).

Training survives a kill. Retrain starts from the original's initial weights (`same_init`), sees the
retain set alone, and runs the same number of epochs; the schedule follows its own steps. The last
checkpoint is the result, never the best one on test data.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from mucore import catalog, models
from mucore.datasets import Splits
from mucore.engine.data import Samples, on_device
from mucore.engine.loop import Checkpoints, Optimizer, Phase, fit, recipe_loss
from mucore.engine.run import Run
from mucore.errors import MucoreError
from mucore.files import whole_file
from mucore.rng import stream_seed
from mucore.runs import Recipe, RunSpec
from mucore.training.records import Record, Recorder

log = logging.getLogger("mucore")


def train_original(
    spec: RunSpec,
    run: Run,
    splits: Splits,
    *,
    checkpoints: Checkpoints | None = None,
    recorder: Recorder | None = None,
) -> tuple[nn.Module, Record]:
    """Train the original on the whole training split.

    Returns the model and what `recorder` recorded, which changes no bit of it.
    """
    model = initial_model(spec, splits, init_seed(spec), run).to(run.device)
    what = "training the original" if recorder is None else "replaying the training of the original"
    with run.clock():
        train(
            model,
            on_device(splits, "train", run.device),
            spec.recipe,
            run,
            what=what,
            checkpoints=checkpoints,
            recorder=recorder,
        )
    return model, {} if recorder is None else recorder.record()


def check_replay(replayed: nn.Module, original: nn.Module) -> None:
    """Raise `MucoreError` unless a replay ended in the original's weights, bit for bit."""
    wanted = original.state_dict()
    if not all(torch.equal(t, wanted[name]) for name, t in replayed.state_dict().items()):
        raise MucoreError(
            "The training of the original was replayed to record it, but ended in other weights: "
            "it was trained on another device, with other library versions, or on a device that "
            "does not repeat its sums. Train it again here, in a new home (--home), on the CPU."
        )


def retrain_start(spec: RunSpec, run: Run, splits: Splits) -> nn.Module:
    """What Retrain starts from: the original's initial weights or fresh ones, as
    `spec.parameters["init_policy"]` chooses.
    """
    fresh = spec.parameters["init_policy"] == "fresh"
    return initial_model(
        spec, splits, init_seed(spec, "retrain_init") if fresh else init_seed(spec), run
    ).to(run.device)


def retrain(
    spec: RunSpec,
    run: Run,
    splits: Splits,
    retain: Samples,
    *,
    checkpoints: Checkpoints | None = None,
) -> nn.Module:
    """Train on the retain set alone, from `retrain_start`."""
    model = retrain_start(spec, run, splits)
    with run.clock():
        train(model, retain, spec.recipe, run, what="retraining", checkpoints=checkpoints)
    return model


def train(
    model: nn.Module,
    samples: Samples,
    recipe: Recipe,
    run: Run,
    *,
    what: str = "training",
    checkpoints: Checkpoints | None = None,
    recorder: Recorder | None = None,
) -> nn.Module:
    """Train `model` in place on `samples` by a recipe, watched by `recorder`.

    A recorded training has no checkpoints: it starts over.
    """
    watching = recorder is not None
    recorder = recorder or Recorder()
    recorder.start(
        model,
        epochs=recipe.epochs,
        steps=recipe.epochs * samples.steps(recipe.batch_size, skip_single=True),
    )
    phase = Phase(
        data=samples,
        batch_size=recipe.batch_size,
        loss=recorder.watch(recipe_loss(samples, recipe)),
        augment=recipe.augment,
    )
    return fit(
        model,
        [phase],
        run,
        epochs=recipe.epochs,
        optimizer=Optimizer.of(recipe),
        edit_grads=recorder.before_step if watching else None,
        after_step=recorder.after_step,
        stop=recorder.after_epoch,
        what=what,
        checkpoints=checkpoints,
    )


def init_seed(spec: RunSpec, purpose: str = "init") -> int:
    return stream_seed(spec.training_seed, purpose)


@dataclass(frozen=True)
class Form:
    """What a network has to fit, where the data set is not at hand: the shape of an image
    (channels, height, width), and how many outputs there are.
    """

    shape: tuple[int, int, int]
    classes: int


def fresh_model(spec: RunSpec, splits: Splits | Form, seed: int) -> nn.Module:
    """A network of the spec's architecture for the data set, from `seed`, on the CPU, its weights
    in memory as the recipe's revision has them.
    """
    channels, height, _ = splits.shape
    model = models.build(
        spec.model, in_channels=channels, classes=splits.classes, image_size=height, seed=seed
    )
    return models.channels_last(model) if spec.recipe.revision >= 2 else model


def initial_model(
    spec: RunSpec, splits: Splits | Form, seed: int, run: Run | None = None
) -> nn.Module:
    """What a training by the spec's recipe starts from: a fresh network, or one with pretrained
    weights, of which `run` gets a note.
    """
    model = fresh_model(spec, splits, seed)
    if spec.recipe.pretrained:
        from mucore.models import pretrained  # imports timm, which takes a second

        note = pretrained.load_pretrained(model, spec.model, file_hash=spec.pretrained_hash)
        if run is not None:
            run.note(note)
    return model


def networks(
    spec: RunSpec, splits: Splits | Form, device: torch.device
) -> tuple[Callable[[int], nn.Module], Callable[[], nn.Module]]:
    """What a method may make: a network from a seed, on the device, and the network that the
    original's training started from (`fresh_model` and `record["initial"]` of its data).

    Shards are trained again from where they started; students and incompetent teachers know
    nothing.
    """
    make = initial_model if "shards" in catalog.method(spec.method).records else fresh_model
    return (
        lambda seed: make(spec, splits, seed).to(device),
        lambda: initial_model(spec, splits, init_seed(spec)),
    )


class DiskCheckpoints:
    """The state of an unfinished training in one file, replaced atomically.

    Written after every `every`-th epoch; `written` is called then. What cannot be is logged and
    skipped. A file that cannot be read (a kill while the disk was full, another version) is
    ignored: training then starts over.
    """

    def __init__(self, path: Path, *, every: int = 1, written: Callable[[], None] = lambda: None):
        self.path, self.every, self.written = path, every, written

    def save(self, state: dict) -> None:
        try:
            with whole_file(self.path) as temporary:
                torch.save(state, temporary)
        except (OSError, RuntimeError) as problem:
            # a full disk costs the way back, not the training
            log.warning("no checkpoint could be written to %s: %s", self.path, problem)
        else:
            self.written()

    def load(self) -> dict | None:
        try:
            # tensors, numbers and texts alone
            return torch.load(self.path, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, ValueError, EOFError, pickle.UnpicklingError):
            return None

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
