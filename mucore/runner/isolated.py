"""A user's own method in a process of its own: what it needs goes there, and weights and numbers
come back.

All travels as safetensors and JSON, never as code. What the method does to its data, to PyTorch or
to its process ends there. Inside it finds what it would find here, so that its result is the same
bit for bit: `data`, `run` with its streams and its ledger, training records, PyTorch's settings,
and whoever watches a replay.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
import safetensors.numpy
import torch
from pydantic import BaseModel, ConfigDict, model_validator
from safetensors import SafetensorError
from torch import Tensor, nn

from mucore import training
from mucore.datasets.files import FileImages
from mucore.engine import ensemble
from mucore.engine.data import Images, Samples, StreamedImages, TensorImages, UnlearningData
from mucore.engine.memory import keep_freed
from mucore.engine.run import Cost, Progress, Run, Status
from mucore.errors import MethodFailed, StoreError
from mucore.outputs import SplitOutputs
from mucore.probes.trajectory import Look, Watcher
from mucore.runner import children
from mucore.runner.children import Limits, log
from mucore.runner.inside import Say
from mucore.runner.method import apply as apply_here
from mucore.spec import RunSpec

_MOST_JSON = 100_000_000  # bytes of numbers and notes that a method may send back


def apply(
    spec: RunSpec, original: nn.Module, data: UnlearningData, run: Run, limits: Limits
) -> nn.Module:
    """`mucore.runner.method.apply` in a child process: a network with the weights that the method
    returned; `run` is then as the method left it.

    Raises `MethodFailed` where the method comes to no result or returns weights of another form,
    what it raises of `BadValue`, `Refused` and `BadFile`, and `Cancelled`.
    """

    def hear(message: dict[str, Any]) -> float:
        if "progress" in message:
            step, fraction, loss, epoch = message["progress"]
            run.progress(step, fraction, loss=loss, epoch=epoch, force=True)
        return float(message.get("looked", 0.0))

    with tempfile.TemporaryDirectory(prefix="mucore-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        try:
            _write(folder / "request", _request(spec, original, data, run))
        except OSError as error:
            raise StoreError(
                f"{spec.method} could not be started: {error.strerror or error} in {folder}. Free "
                "some space there, or set TMPDIR."
            ) from error
        run.progress(f"starting {spec.method}", 0.0, force=True)  # it takes seconds
        children.run(
            "mucore.runner.isolated:inside",
            folder,
            limits,
            who=spec.method,
            on_message=hear,
            on_print=partial(log.info, "%s printed:\n%s", spec.method),
            asked=run.check,
            on_device=run.device.type != "cpu",
        )
        return _received(folder / "answer", spec, data, run)


def inside(folder: Path, say: Say) -> None:
    """In the child: run the method of the request in `folder`, and write the answer."""
    asked = _read(folder / "request")
    for part in folder.iterdir():
        part.unlink()  # nobody would, were both processes killed, and it holds the data
    torch.set_num_threads(asked["threads"])
    spec = RunSpec.model_validate(asked["spec"])

    def report(progress: Progress) -> None:
        say({"progress": [progress.step, progress.fraction, progress.loss, progress.epoch]})

    run = Run(
        seed=asked["seed"], device=asked["device"], precision=asked["precision"], on_progress=report
    )
    if run.device.type == "cpu":
        keep_freed()  # as a worker does
    _Ledger.model_validate(asked["ledger"]).fill(run)
    run.restore_rng(asked["streams"])
    images = [_images(each, run.device) for each in asked["images"]]
    data = _data(asked, images, spec, run.device)
    original = _network(asked["original"], spec, data).to(run.device).eval()
    watcher = None
    if asked["watched"] is not None:
        watched = {name: _samples(each, images) for name, each in asked["watched"].items()}
        watcher = run.observer = _Told(run, watched, asked["marks"], say)
    model = apply_here(spec, original, data, run)
    if not isinstance(model, nn.Module):
        raise TypeError(f"it returned {type(model).__name__}, not a network")
    answer = {
        "weights": model.state_dict(),
        "ledger": _ledger(run),
        "streams": run.rng_states(),
        "looks": watcher.seen(model) if watcher is not None else [],
    }
    _write(folder / "answer", answer)


class _Told(Watcher):
    """A watcher in the child, which tells what its looks take: that is no time of the method."""

    def __init__(self, run: Run, sets: Mapping[str, Samples], marks: Sequence[int], say: Say):
        super().__init__(run, sets, marks)
        self._say = say

    def __call__(self, model: nn.Module) -> None:
        before, began = len(self.taken), time.monotonic()
        super().__call__(model)
        if len(self.taken) > before:
            self._say({"looked": time.monotonic() - began})

    def seen(self, returned: nn.Module) -> list[dict[str, Any]]:
        return [
            {
                **vars(look),
                "sets": look.sets and {name: vars(each) for name, each in look.sets.items()},
                "returned": model is returned,
            }
            for model, look in self.taken
        ]


# -- what goes there


def _request(spec: RunSpec, original: nn.Module, data: UnlearningData, run: Run) -> dict[str, Any]:
    watcher = run.observer
    if watcher is not None and not isinstance(watcher, Watcher):
        raise TypeError("only a Watcher can look at a run in another process")
    images: list[Images] = []

    def sent(sets: Mapping[str, Samples]) -> dict[str, Any]:
        for samples in sets.values():
            if not any(samples.images is each for each in images):
                images.append(samples.images)  # once, however many sets are made of them
        number = {id(each): place for place, each in enumerate(images)}
        return {name: {**vars(s), "images": number[id(s.images)]} for name, s in sets.items()}

    return {
        "spec": spec.model_dump(mode="json"),
        "threads": torch.get_num_threads(),
        "seed": run.seed,
        "device": str(run.device),
        "precision": run.precision,
        "ledger": _ledger(run),
        "streams": run.rng_states(),
        "original": original.state_dict(),
        "sets": sent({name: getattr(data, name) for name in ("forget", "retain", "validation")}),
        "watched": None if watcher is None else sent(watcher.sets),
        "marks": [] if watcher is None else watcher.marks,
        "images": [_of_images(each) for each in images],
        "classes": data.classes,
        "forgotten_classes": data.forgotten_classes,
        "classes_before": data.classes_before,
        "training_seed": data.training_seed,
        "task": data.task,
        "true_labels": data.true_labels,
        "trigger": data.trigger,
        "record": {name: parts for name, parts in data.record.items() if isinstance(parts, dict)},
    }


def _of_images(images: Images) -> dict[str, Any]:
    common = {"mean": images.mean.flatten(), "std": images.std.flatten()}
    if isinstance(images, TensorImages):
        return {**common, "pixels": images.pixels}
    if isinstance(images, StreamedImages) and isinstance(images.files, FileImages):
        files = images.files
        return {
            **common,
            "folder": str(files.folder),
            "names": files.names,
            "size": files.size,
            "margin": files.margin,
        }
    raise TypeError(f"{type(images).__name__} cannot be sent to another process")


def _images(sent: Mapping[str, Any], device: torch.device) -> Images:
    scale = sent["mean"].tolist(), sent["std"].tolist()
    if "pixels" in sent:
        return TensorImages(sent["pixels"], *scale, device)
    files = FileImages(
        Path(sent["folder"]), sent["names"], size=sent["size"], margin=sent["margin"]
    )
    return StreamedImages(files, *scale, device)


def _samples(sent: Mapping[str, Any], images: Sequence[Images]) -> Samples:
    return Samples(**{**sent, "images": images[sent["images"]]})


def _data(
    asked: Mapping[str, Any], images: Sequence[Images], spec: RunSpec, device: torch.device
) -> UnlearningData:
    sets = {name: _samples(each, images) for name, each in asked["sets"].items()}
    form = training.Form(sets["forget"].images.shape, asked["classes"])
    fresh, initial = training.networks(spec, form, device)
    return UnlearningData(
        **sets,
        classes=asked["classes"],
        forgotten_classes=tuple(asked["forgotten_classes"]),
        recipe=spec.recipe,
        fresh_model=fresh,
        training_seed=asked["training_seed"],
        record={"initial": initial, **asked["record"]},
        task=asked["task"],
        true_labels=asked["true_labels"],
        trigger=asked["trigger"],
        classes_before=tuple(asked["classes_before"]),
    )


def _network(state: Mapping[str, Tensor], spec: RunSpec, data: UnlearningData) -> nn.Module:
    form = training.Form(data.forget.images.shape, data.classes)
    return ensemble.restore(state, lambda: training.fresh_model(spec, form, 0), data.task)


# -- what comes back


def _ledger(run: Run) -> dict[str, Any]:
    """What a run has counted and noted."""
    numbers = {
        name: value if isinstance(value, int | float) else float(value)
        for name, value in run.diagnostics.items()
    }
    return {
        "status": run.status,
        "stop_reason": run.stop_reason,
        "notes": run.notes,
        "losses": run.losses,
        "diagnostics": numbers,
        "cost": vars(run.cost),
    }


class _Ledger(BaseModel):
    """The same, checked."""

    model_config = ConfigDict(extra="forbid")

    status: Status
    stop_reason: str | None
    notes: list[str]
    losses: list[float]
    diagnostics: dict[str, bool | int | float]
    cost: Cost

    @model_validator(mode="after")
    def _counts(self) -> Self:
        for name, value in {**vars(self.cost), "reads": 0, **self.cost.reads}.items():
            if value is not None and not 0 <= value < math.inf:
                raise ValueError(f"{name} is {value}, and no count")
        return self

    def fill(self, run: Run) -> None:
        """Bring a run to what it was."""
        run.status, run.stop_reason = self.status, self.stop_reason
        run.notes[:], run.losses[:] = self.notes, self.losses
        run.diagnostics.clear()
        run.diagnostics.update(self.diagnostics)
        vars(run.cost).update(vars(self.cost))


def _received(path: Path, spec: RunSpec, data: UnlearningData, run: Run) -> nn.Module:
    """The network of an answer, checked, with `run` and its watcher brought to where they were
    there.
    """
    try:
        answer = _read(path)
        _check_form(answer["weights"], spec, data)
        model = _network(answer["weights"], spec, data)
        ledger = _Ledger.model_validate(answer["ledger"])
        looks = [_look(each) for each in answer["looks"]]
        run.restore_rng(answer["streams"])
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, AttributeError) as error:
        # what else ran in that process may have left anything here
        raise MethodFailed(
            f"{spec.method} came to an end, but what it left cannot be read "
            f"({type(error).__name__}: {' '.join(str(error).split())[:200]})."
        ) from error
    ledger.fill(run)
    model = model.to(run.device)
    if isinstance(run.observer, Watcher):
        run.observer.taken = [
            (model if returned else nn.Identity(), look) for returned, look in looks
        ]
    return model


def _check_form(weights: Mapping[str, Tensor], spec: RunSpec, data: UnlearningData) -> None:
    """Raise `MethodFailed` where a network is not of the original's form, or an ensemble of
    such.
    """
    form = training.Form(data.forget.images.shape, data.classes)
    one = {
        name: (tuple(t.shape), t.dtype)
        for name, t in training.fresh_model(spec, form, 0).state_dict().items()
    }
    wanted = one
    if "sizes" in weights and "sizes" not in one:
        count = len(weights["sizes"])
        if count > len(weights):
            raise ValueError("an ensemble has too few members")
        wanted = {f"members.{n}.{name}": what for n in range(count) for name, what in one.items()}
        wanted |= {"sizes": ((count,), torch.float32), "rule": ((1,), torch.int64)}
    found = {name: (tuple(t.shape), t.dtype) for name, t in weights.items()}
    for name in [*wanted, *found]:
        if wanted.get(name) != found.get(name):
            raise MethodFailed(
                f"{spec.method} returned a network of another form: {name} was "
                f"{_told(wanted.get(name))} and is {_told(found.get(name))}. Return one of the "
                "original's."
            )


def _told(tensor: tuple[tuple[int, ...], torch.dtype] | None) -> str:
    return "not there" if tensor is None else f"{tensor[0]} {str(tensor[1]).removeprefix('torch.')}"


def _look(sent: Mapping[str, Any]) -> tuple[bool, Look]:
    sets = sent["sets"]
    if sets is not None:
        sets = {
            name: SplitOutputs(**{part: t if t is None else t.numpy() for part, t in parts.items()})
            for name, parts in sets.items()
        }
    return bool(sent["returned"]), Look(int(sent["steps"]), int(sent["work"]), sets)


# -- on the way: the tensors of nested dictionaries and lists in one file, the rest in another

_TENSOR = "tensor"  # {"tensor": "3"} stands for the third


def _write(path: Path, content: dict[str, Any]) -> None:
    arrays: dict[str, np.ndarray] = {}

    def plain(value: Any) -> Any:
        if isinstance(value, Tensor | np.ndarray):
            array = value.detach().cpu().numpy() if isinstance(value, Tensor) else value
            name = str(len(arrays))
            arrays[name] = np.asarray(array, order="C")  # only such are written as they are
            return {_TENSOR: name}
        if isinstance(value, Mapping):
            return {str(name): plain(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [plain(each) for each in value]
        return value

    path.with_suffix(".json").write_text(json.dumps(plain(content)), encoding="utf-8")
    safetensors.numpy.save_file(arrays, path.with_suffix(".safetensors"))


def _read(path: Path) -> dict[str, Any]:
    """What was written; arrays come as tensors. Raises `OSError`, `ValueError`, `KeyError`."""
    text = path.with_suffix(".json")
    if (size := text.stat().st_size) > _MOST_JSON:
        raise ValueError(f"{size:,} bytes of numbers and notes")
    content = json.loads(text.read_bytes())
    try:
        arrays = safetensors.numpy.load_file(path.with_suffix(".safetensors"))
    except SafetensorError as error:
        raise ValueError(str(error)) from error

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            if value.keys() == {_TENSOR}:
                return torch.from_numpy(arrays[value[_TENSOR]])
            return {name: whole(each) for name, each in value.items()}
        if isinstance(value, list):
            return [whole(each) for each in value]
        return value

    return whole(content)
