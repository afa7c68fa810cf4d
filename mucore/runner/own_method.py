"""A user's own method in a process of its own: what it needs goes there, and weights and numbers
come back.

All travels as safetensors and JSON, never as code. Inside it finds what it would find here, so that
its result is the same bit for bit: `data`, `run` with its streams and its ledger, training records,
as many threads.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
import torch
from torch import Tensor, nn

from mucore import training
from mucore.datasets.files import FileImages
from mucore.engine import ensemble
from mucore.engine.data import Images, Samples, StreamedImages, TensorImages, UnlearningData
from mucore.engine.memory import keep_freed
from mucore.engine.run import Progress, Run
from mucore.runner import child
from mucore.runner.child import Limits, Say, log
from mucore.runner.method import apply as apply_here
from mucore.runner.method import kept_form
from mucore.runs import RunSpec

# The sets of a request and whose images they are of.
_IMAGES = {"forget": "forget", "retain": "forget", "validation": "validation"}
# Fields of `UnlearningData` that travel as they are.
_PLAIN = (
    *("classes", "forgotten_classes", "classes_before", "training_seed", "task"),
    *("true_labels", "trigger"),
)


def apply(
    spec: RunSpec, original: nn.Module, data: UnlearningData, run: Run, limits: Limits
) -> nn.Module:
    """`mucore.runner.method.apply` in a child process: a network with the weights that the method
    returned; `run` is then as the method left it.

    Raises `MethodFailed` where the method comes to no result or returns a network that its weights
    do not make, what it raises of `BadValue`, `Refused` and `BadFile`, and `Cancelled`.
    """

    def hear(message: dict[str, Any]) -> None:
        step, fraction, loss, epoch = message["progress"]
        run.progress(step, fraction, loss=loss, epoch=epoch, force=True)

    with child.folder() as folder:
        _write(folder / "request", _request(spec, original, data, run))
        run.progress(f"starting {spec.method}", 0.0, force=True)  # it takes seconds
        child.run(
            "mucore.runner.own_method:inside",
            folder,
            limits,
            who=spec.method,
            on_message=hear,
            on_print=partial(log.info, "%s printed:\n%s", spec.method),
            asked=run.check,
        )
        answer = _read(folder / "answer")
        _fill(run, answer)
        return _network(answer["weights"], spec, data).to(run.device)


def inside(folder: Path, say: Say) -> None:
    """In the child: run the method of the request in `folder`, and write the answer."""
    asked = _read(folder / "request")
    for part in folder.glob("request.*"):
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
    _fill(run, asked)
    data = _data(asked, spec, run.device)
    original = _network(asked["weights"], spec, data).to(run.device).eval()
    model = apply_here(spec, original, data, run)
    kept = kept_form(model, lambda: _fresh(spec, data).to(run.device), data, spec.method)
    _write(folder / "answer", {"weights": kept.state_dict(), **_ledger(run)})


# -- what goes there


def _request(spec: RunSpec, original: nn.Module, data: UnlearningData, run: Run) -> dict[str, Any]:
    return {
        "spec": spec.model_dump(mode="json"),
        "threads": torch.get_num_threads(),
        "seed": run.seed,
        "device": str(run.device),
        "precision": run.precision,
        **_ledger(run),
        "weights": original.state_dict(),
        "images": {name: _of_images(getattr(data, name).images) for name in set(_IMAGES.values())},
        "sets": {name: vars(getattr(data, name)) | {"images": None} for name in _IMAGES},
        "record": {name: parts for name, parts in data.record.items() if isinstance(parts, dict)},
        **{name: getattr(data, name) for name in _PLAIN},
    }


def _of_images(images: Images) -> dict[str, Any]:
    common = {"mean": images.mean.flatten(), "std": images.std.flatten()}
    if isinstance(images, TensorImages):
        return {**common, "pixels": images.pixels}
    assert isinstance(images, StreamedImages) and isinstance(images.files, FileImages)
    names = ("folder", "names", "size", "margin")
    files = {name: getattr(images.files, name) for name in names}
    return {**common, "files": files | {"folder": str(images.files.folder)}}


def _images(sent: Mapping[str, Any], device: torch.device) -> Images:
    scale = sent["mean"].tolist(), sent["std"].tolist()
    if "pixels" in sent:
        return TensorImages(sent["pixels"], *scale, device)
    files = sent["files"]
    return StreamedImages(FileImages(**files | {"folder": Path(files["folder"])}), *scale, device)


def _data(asked: Mapping[str, Any], spec: RunSpec, device: torch.device) -> UnlearningData:
    images = {name: _images(sent, device) for name, sent in asked["images"].items()}
    found: dict[str, Any] = {
        name: Samples(**asked["sets"][name] | {"images": images[whose]})
        for name, whose in _IMAGES.items()
    }
    for name in _PLAIN:
        value = asked[name]
        found[name] = tuple(value) if isinstance(value, list) else value
    form = training.Form(found["forget"].images.shape, asked["classes"])
    fresh, initial = training.networks(spec, form, device)
    record = {"initial": initial, **asked["record"]}
    return UnlearningData(**found, recipe=spec.recipe, fresh_model=fresh, record=record)


def _fresh(spec: RunSpec, data: UnlearningData) -> nn.Module:
    return training.fresh_model(spec, training.Form(data.forget.images.shape, data.classes), 0)


def _network(state: Mapping[str, Tensor], spec: RunSpec, data: UnlearningData) -> nn.Module:
    return ensemble.restore(state, lambda: _fresh(spec, data), data.task)


# -- what goes both ways


def _ledger(run: Run) -> dict[str, Any]:
    """What a run has counted, noted and drawn."""
    return {
        "ledger": {
            "status": run.status,
            "stop_reason": run.stop_reason,
            "notes": run.notes,
            "losses": run.losses,
            "diagnostics": {
                name: value if isinstance(value, int | float) else float(value)
                for name, value in run.diagnostics.items()
            },
        },
        "cost": vars(run.cost),
        "streams": run.rng_states(),
    }


def _fill(run: Run, sent: Mapping[str, Any]) -> None:
    """Bring a run to what it was on the other side."""
    vars(run).update(sent["ledger"])
    vars(run.cost).update(sent["cost"], reads=Counter(sent["cost"]["reads"]))
    run.restore_rng(sent["streams"])


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
    """What was written; arrays come as tensors."""
    content = json.loads(path.with_suffix(".json").read_bytes())
    arrays = safetensors.numpy.load_file(path.with_suffix(".safetensors"))

    def whole(value: Any) -> Any:
        if isinstance(value, dict):
            if value.keys() == {_TENSOR}:
                return torch.from_numpy(arrays[value[_TENSOR]])
            return {name: whole(each) for name, each in value.items()}
        if isinstance(value, list):
            return [whole(each) for each in value]
        return value

    return whole(content)
