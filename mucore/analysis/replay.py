"""A run made once more while somebody watches: what its network says of the same samples, and where
it puts them, at moments on the way.

The method runs as the runner ran it, from the stored original and with the same seeds, so that on
the same machine the last frame is the stored result bit by bit; `notes` says where it is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from mucore import catalog
from mucore.analysis import tsne
from mucore.analysis.features import result_of
from mucore.errors import BadValue
from mucore.metrics.representation import directions, nearest
from mucore.outputs import softmax
from mucore.rng import numpy_rng
from mucore.store import Store
from mucore.store.records import Result

if TYPE_CHECKING:
    from torch import nn

    from mucore.analysis.models import Loaded
    from mucore.engine.run import Run
    from mucore.probes.trajectory import Look

SETS = ("forget", "retain", "test")
MAPPED = {"forget": 120, "retain": 240}  # at most so many samples of a set are in the map
_RUNNING = 0.7  # share of the time until the map is drawn


class Parameters(BaseModel):
    """`key`: a run whose original's weights are stored; `frames`: how many looks, start and end
    among them; `samples`: of each set.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    frames: int = Field(default=12, ge=2, le=40)
    samples: int = Field(default=300, ge=20, le=2000)
    seed: int = Field(default=0, ge=0, le=2**31)


def compute(
    results: Store, parameters: Parameters, progress: Callable[[float, str], None]
) -> dict[str, Any]:
    """`steps` (f,) int32: optimiser steps done at each frame, the first before any; `work` (f,)
    float32: share of the work done by then.

    For each set of `SETS`: `<set>/ids` and `<set>/labels` (n,), `<set>/predicted` (f, n), the
    predicted class, and `<set>/probability` (f, n) float16 of the true class. `map/points` (f, m,
    2) float16: positions in one t-SNE map of all frames together, so that a way through it means
    something; `map/ids`, `map/labels` and `map/forgotten` (m,) say of what. `stayed` (f,) float32:
    mean cosine of the features of a forgotten sample with its own at the first frame; `nearest`: of
    those with the most alike of another sample there, which says how little a cosine has to fall
    before a sample is elsewhere. `classes` and `gone`: how many there are and which went whole;
    `totals`: samples of each set by name; `between`: whether there are frames between the ends;
    `same`: whether the run ended as the stored one did, None where that could not be checked;
    `notes`: sentences.

    Work is counted in samples read, those with a gradient three times: shares of seconds would
    differ at every replay.
    """
    result = _checked(results, parameters.key)
    from mucore.analysis.models import Loaded

    progress(0.0, "loading models")
    loaded = Loaded(results, parameters.key)
    if loaded.session.splits(loaded.spec).task == "attributes":
        raise BadValue(
            "A replay shows the one class that a network gives an image, but here images have "
            "attributes. Choose another data set."
        )
    run, model, looks = _replayed(loaded, result, parameters, progress)
    same, notes = _compared(loaded, model)
    if run.status != "ok":
        notes.append(f"Status {run.status}: {run.stop_reason}")
    seen = [look for look in looks if look.sets is not None]
    if len(seen) < len(looks):
        notes.append(
            f"{len(looks) - len(seen)} frames are left out: the network's outputs were not finite "
            "then."
        )
    if len(seen) < 2:
        raise BadValue(
            "The network's outputs were not finite at any moment but one, so there is nothing to "
            "look at. Choose another run."
        )
    progress(_RUNNING, "drawing the map")
    return {
        **_frames(seen),
        **_moved(seen),
        **_map(seen, parameters),
        "key": parameters.key,
        "classes": loaded.classes,
        "gone": list(loaded.forget.gone),
        "totals": {
            "forget": len(loaded.data.forget),
            "retain": len(loaded.data.retain),
            "test": len(loaded.session.samples(loaded.spec, "test")),
        },
        "between": len(looks) > 2,
        "same": same,
        "notes": notes,
    }


def _checked(results: Store, key: str) -> Result:
    """The stored run. Raises `BadValue` where it is of a kind that cannot be replayed."""
    result = result_of(results, key)
    method = str(result.spec["method"])
    if method in ("original", "uploaded") or "shards" in catalog.method(method).records:
        raise BadValue(
            "A replay shows the steps of one network that a method changes, and a run of "
            f"{method} has none. Choose another run."
        )
    return result


def _replayed(
    loaded: Loaded, result: Result, parameters: Parameters, progress: Callable[[float, str], None]
) -> tuple[Run, nn.Module, list[Look]]:
    """The run, the network that it returned, and what was seen of that on the way."""
    from mucore import training
    from mucore.engine.run import Callbacks
    from mucore.probes.trajectory import Watcher
    from mucore.runner.execute import unlearn_recorded
    from mucore.runner.training_records import threads

    spec, session = loaded.spec, loaded.session
    method = spec.method

    def report(update: Any) -> None:
        progress(_RUNNING * update.fraction, f"{method}: {update.step}")

    retrain = method == "retrain"
    run = session.run(
        spec, spec.training_seed if retrain else spec.unlearning_seed, Callbacks(report)
    )
    total, gaps = int(result.cost.get("steps") or 0), parameters.frames - 1
    marks = sorted({round(total * number / gaps) for number in range(1, gaps)} - {0, total})
    sets = {name: loaded.samples(name, parameters.samples, parameters.seed) for name in SETS}
    watcher = Watcher(run, sets, marks)
    with threads(result.cost.get("threads")):  # sums of another number of threads round otherwise
        if retrain:
            quiet = session.run(spec, spec.training_seed)
            first = watcher.look(training.retrain_start(spec, quiet, session.splits(spec)))
            run.observer = watcher
            model = training.retrain(spec, run, session.splits(spec), loaded.data.retain)
        else:
            earlier = (
                spec.after if spec.after is not None and spec.after.method != "original" else None
            )
            start = loaded.original if earlier is None else loaded.model(earlier)
            first = watcher.look(start)
            run.observer = watcher
            model = unlearn_recorded(
                spec, session, start, loaded.forget, loaded.data, run, Callbacks(report)
            )
        run.observer = None
        return run, model, watcher.looks(model, first)


def _compared(loaded: Loaded, model: nn.Module) -> tuple[bool | None, list[str]]:
    """Whether the replay ended where the stored run did, and what a reader must know of that."""
    import torch

    found = loaded.session.load_model(loaded.spec)
    if found is None:
        return None, [
            "The stored run's weights are gone, so nobody can say whether it is the same."
        ]
    before, after = found[0].state_dict(), model.state_dict()
    if all(torch.equal(t, after[name]) for name, t in before.items()):
        return True, []
    far = max(
        float((t.double() - after[name].double()).abs().max())
        for name, t in before.items()
        if t.is_floating_point()
    )
    return False, [
        f"This replay ended in other weights than the stored run, by {far:.2g} at most. It was "
        "computed with another device, other library versions or another number of threads."
    ]


def _frames(looks: list[Look]) -> dict[str, np.ndarray]:
    """What the frames say of each sample, and how far the run was."""
    steps = np.array([look.steps for look in looks], np.int32)
    work = np.array([look.work for look in looks], np.float64)
    work = work if work[-1] else steps.astype(np.float64)  # a method that reads no data
    value = {
        "steps": steps,
        "work": (work / work[-1] if work[-1] else np.linspace(0, 1, len(looks))).astype(np.float32),
    }
    for name in SETS:
        sets = [look.sets[name] for look in looks if look.sets is not None]
        labels = sets[0].labels
        logits = [each.logits for each in sets]
        kind = np.uint8 if max(each.shape[1] for each in logits) <= 256 else np.uint16
        value |= {
            f"{name}/ids": sets[0].ids.astype(np.int32),
            f"{name}/labels": labels.astype(kind),
            f"{name}/predicted": np.array([each.argmax(axis=1) for each in logits], kind),
            f"{name}/probability": np.array(
                [softmax(each)[np.arange(len(labels)), labels] for each in logits], np.float16
            ),
        }
    return value


def _moved(looks: list[Look]) -> dict[str, Any]:
    """How far the features of forgotten samples went, beside how near others were to begin with."""
    sets = [look.sets for look in looks if look.sets is not None]
    frames = [directions(np.asarray(each["forget"].features)) for each in sets]
    first = frames[0]
    others = np.concatenate([first, directions(np.asarray(sets[0]["retain"].features))])
    _, cosines = nearest(first, others, k=1, own=np.arange(len(first)))
    stayed = [float((each * first).sum(axis=1).mean()) for each in frames]
    return {"stayed": np.array(stayed, np.float32), "nearest": round(float(cosines.mean()), 6)}


def _map(looks: list[Look], parameters: Parameters) -> dict[str, np.ndarray]:
    """One map of the features of all frames."""
    draw = numpy_rng(parameters.seed, "subset")
    first = looks[0].sets
    assert first is not None
    rows = {
        name: np.sort(draw.permutation(len(first[name].ids))[:most])
        for name, most in MAPPED.items()
    }
    features = [
        np.asarray(look.sets[name].features)[rows[name]]
        for look in looks
        if look.sets is not None
        for name in MAPPED
    ]
    every = np.concatenate(features)
    # most neighbours of a sample are itself in other frames
    perplexity = tsne.PERPLEXITY * np.sqrt(len(looks))
    start = tsne.principal(every)
    points = tsne.embed(every, start, parameters.seed, perplexity=float(perplexity))
    joined = {
        part: np.concatenate([getattr(first[name], part)[rows[name]] for name in MAPPED])
        for part in ("ids", "labels")
    }
    return {
        "map/points": points.reshape(len(looks), -1, 2).astype(np.float16),
        "map/ids": joined["ids"].astype(np.int32),
        "map/labels": joined["labels"].astype(np.int32),
        "map/forgotten": np.repeat(
            [name == "forget" for name in MAPPED], [len(rows[name]) for name in MAPPED]
        ),
    }
