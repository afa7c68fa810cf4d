"""What a user brings, checked for each door that takes it: networks in memory or in files, samples,
a forget list; and networks asked about them (`mucore.evaluate`).
"""

from __future__ import annotations

import contextlib
import copy
import runpy
import sys
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from torch import Tensor, nn
from torch.utils.data import TensorDataset, default_collate

from mucore import datasets, models
from mucore.datasets.splits import normalisation
from mucore.engine.collect import KEEP_FEATURES, collect
from mucore.engine.data import Inputs, Samples, TensorImages, on_device
from mucore.engine.device import resolve_device
from mucore.engine.features import last_linear, penultimate
from mucore.engine.predict import accuracy
from mucore.engine.run import Run
from mucore.errors import BadValue, need, said
from mucore.forget_sets import identity
from mucore.forget_sets.saved import is_reference
from mucore.judged import SHOWN, Asked
from mucore.models.checkpoint_pixels import batch_norms, recognised, refuse_other
from mucore.models.checkpoints import UNTOLD
from mucore.outputs import Outputs, check_logits, with_common_scale
from mucore.runner.evaluate import trainable
from mucore.runs.preprocess import NAMED, USUAL, canonical, moments

LOOKED_AT: Final = 8  # samples that are asked for twice
LEARNED, CLEARLY = 500, 0.2  # training samples that a reference is asked for, and by how much more


def need_module(name: str, model: Any) -> None:
    what = f"{name} must be an nn.Module with its weights loaded, not {said(model)}."
    need(isinstance(model, nn.Module), what)


def samples(name: str, given: Any, run: Run) -> Samples:
    """All that the user's data hold. Raises `BadValue` where that is no (x, y), or x is drawn anew
    each time.
    """
    need(given is not None, f"{name}= is missing. Give a Dataset of (x, y), or tensors or arrays.")
    try:
        data: Any = given
        if isinstance(given, tuple | list) and isinstance(given[0], Tensor | np.ndarray):
            parts = (x if isinstance(x, Tensor) else torch.tensor(x) for x in given)
            data = TensorDataset(*parts)
        few = range(min(len(data), LOOKED_AT))
        (some, _), (again, _) = (default_collate([data[each] for each in few]) for _ in range(2))
        if not torch.allclose(some, again, equal_nan=True):
            raise ValueError("two looks at x differ, as under a transform that draws")
        x, y = default_collate([data[each] for each in range(len(data))])
        if not y.ndim or y.shape != x.shape[:1] or y.is_floating_point():
            raise ValueError(f"y has shape {[*y.shape]} and {y.dtype}")
    except Exception as error:  # of any kind: the data are the user's
        raise BadValue(
            f"{name} must be a Dataset of (x, y), or tensors or arrays (x, y), x of one shape and "
            f"always the same, y a class from 0, but: {type(error).__name__}, "
            f"{said(str(error), 200)}."
        ) from error
    x = x[:, None] if x.dtype == torch.uint8 and x.ndim == 3 else x  # grey images
    every = torch.arange(len(y))
    return Samples(Inputs(x, run.device), every, y.long().cpu(), every, name)


def forgotten(given: Any, count: int) -> Tensor:
    """Which of the samples are forgotten, (n,) bool. Raises `BadValue` where a position is none or
    named twice, or all are named, `BadFile` for what is no list.
    """
    listed = identity.listed(_list_of(given, count))
    found = np.array([] if listed is None or listed.saved else listed.numbers, int)
    times = np.bincount(found[found < count], minlength=count)
    whole = listed is not None and listed.length in (None, count)
    odd = next((each for each in found if each >= count or times[each] > 1), len(found))
    need(
        whole and times.sum() == len(found) and times.max() == 1 > times.min(),
        f"forget names some of train's positions, 0 to {count - 1}, each once, is a mask of as "
        f"many or a file of these, but {said(given)} has {odd} or names none, or all.",
    )
    return torch.from_numpy(times == 1)


def _list_of(given: Any, count: int) -> Any:
    """A forget list of `count` samples at most as `identity` takes it."""
    if isinstance(given, range) or (isinstance(given, Tensor) and given.ndim):  # may be too long
        return torch.as_tensor(given[: count + 1]).cpu().numpy()
    return Path(given) if isinstance(given, str) and not is_reference(given) else given


@contextlib.contextmanager
def left_as_found(model: nn.Module, device: torch.device) -> Generator[None]:
    """Inside, a network is in eval mode on the device. Its modes and place, and torch's
    generators, are put back.
    """
    modes = [(module, module.training) for module in model.modules()]
    home = next((each.device for each in chain(model.parameters(), model.buffers())), device)
    with torch.random.fork_rng([device] if device.type == "cuda" else []), torch.no_grad():
        try:
            model.eval().to(device)
            yield
        finally:
            model.to(home)
            for module, training in modes:
                module.training = training


@contextlib.contextmanager
def answering(name: str, x: Tensor) -> Generator[None]:
    """Inside, whatever a network that is asked raises becomes a `BadValue` that names it."""
    try:
        yield
    except Exception as error:  # of any kind: the network is the user's
        raise BadValue(
            f"{name} must answer samples {[*x.shape]} with finite logits ({len(x)}, classes), but: "
            f"{said(str(error), 200)}. Give what it eats; a smaller batch_size takes less memory."
        ) from error


def asked(model: nn.Module, head: nn.Module | None, x: Tensor, labels: Tensor) -> tuple[int, bool]:
    """How many classes a network tells apart, and whether `head` gives the logits. Raises
    `ValueError` where its answers to `x` are no logits, or `labels` have no place among them.
    """
    looked = penultimate(model, head) if head else contextlib.nullcontext([])
    with looked as seen:
        logits = model(x)
    classes = check_logits(logits.float().cpu().numpy(), len(x), labels.numpy()).shape[1]
    return classes, len(seen) == 1 and getattr(head, "out_features", classes) == classes


def asked_of(train: Any, test: Any, forget: Any, run: Run) -> tuple[Asked, Samples, Samples]:
    """What is asked about, and the samples of training and of the test, by a name, Datasets or
    tensors. Raises `MucoreError`.
    """
    if isinstance(train, str):
        return _named(train, test, forget, run)
    known, unseen = samples("train", train, run), samples("test", test, run)
    images: Any = known.images, unseen.images
    x, y, tested = images[0].x, known.labels, images[1].x
    need(
        x.dtype == tested.dtype,
        "The samples of train and test must have one type. Prepare both alike.",
    )
    if x.dtype == torch.uint8 and x.ndim == 4:
        form: Any = *normalisation(x.cpu()), run.device
        known = replace(known, images=TensorImages(x, *form))
        unseen = replace(unseen, images=TensorImages(tested, *form))
    ids = forgotten(forget, len(y)).nonzero().flatten().numpy()
    classes = int(torch.cat([y, unseen.labels]).max()) + 1
    return Asked(ids, len(y), {"x": x, "y": y}, classes), known, unseen


def _named(name: str, test: Any, forget: Any, run: Run) -> tuple[Asked, Samples, Samples]:
    """Of a data set's name. None is held out of training: rows are those of who trained on every
    published sample.
    """
    need(test is None, f"{said(name)} has test data of its own. Leave out test=.")
    splits, whole = datasets.load(name, validation_from="test"), datasets.load(name)
    need(splits.task == "classes", f"{splits.name} has attributes, and only classes are judged.")
    rows = torch.from_numpy(splits.train.rows)
    known = replace(on_device(splits, "train", run.device), ids=rows)
    gone = identity.chosen(_list_of(forget, len(known)), name)
    need(isinstance(gone, list), f"forget names rows of {splits.name}, but got {said(forget)}.")
    count = len(identity.to_ids(splits, gone))
    need(count < len(known), "All training samples are forgotten. Keep some.")
    asked = Asked(np.sort(gone), len(known), splits.data_hash, splits.classes, short(name))
    return asked, known, on_device(whole, "test", run.device)


def short(name: str) -> str:
    """A name of data or of a network without its path: "mine.npz", "timm:vit"."""
    own = name.startswith(("npz:", "folder:"))
    return Path(name.partition(":")[2] if own else name).name


def built(model: Any, classes: int, shape: Sequence[int]) -> nn.Module:
    """A network that is not trained, for samples of a shape, by its name or by a function. Raises
    `BadValue`.
    """
    channels, side = [*shape, 0, 0][:2]
    kind, _, rest = model.partition(":") if isinstance(model, str) else ("", "", "")
    if kind and not rest:
        form = {"in_channels": channels, "classes": classes, "image_size": side}
        return models.build(model, **form, seed=0)
    try:
        if kind == "timm":
            import timm

            return timm.create_model(rest, num_classes=classes, in_chans=channels)
        if kind == "torchvision":
            from torchvision.models import get_model

            return get_model(rest, weights=None, num_classes=classes)
        if kind:
            file, _, function = model.rpartition(":")
            sys.path.insert(0, str(Path(file).resolve().parent))  # for what stands beside it
            model = runpy.run_path(file)[function]
        need_module("what it gives", found := model())
        return found
    except Exception as error:  # of any kind: the code is the user's, or of another library
        raise BadValue(
            f"model {said(model)} makes no network: {type(error).__name__}, "
            f"{said(str(error), 200)}. Name a function or class that takes no arguments."
        ) from error


def ask(networks: Sequence[Any], call: Mapping[str, Any]) -> Asked:
    """Let networks, references first, predict the forgotten, the retained and the test samples, as
    `mucore.api.evaluate` is called. Raises `MucoreError`.
    """
    head, model = call["head"], call["model"]
    run = Run(seed=0, device=resolve_device(call["device"]))
    asked, known, unseen = asked_of(call["train"], call["test"], call["forget"], run)
    for each in networks:
        _load(each, model, asked.classes, known.images.shape)
        layers = dict(each.model.named_modules()) | {"": last_linear(each.model)}
        need(head in layers, f"head names a layer, but {each.name} has no {said(head)}.")
        each.head = layers[head]
    if chosen := pixels(call["preprocess"], networks, known):
        own = known.images.mean, known.images.std
        usual: Any = tuple(tuple(each.flatten().tolist()) for each in own)
        known, unseen = (_preprocessed(each, moments(chosen, usual)) for each in (known, unseen))
        for each in networks:
            right = each.preprocess or _recognised(each, known, chosen)
            if each.method != "uploaded" and not batch_norms(each.model):
                right = right or _learned_on(each, known, chosen, usual, run)
            refuse_other(right, chosen, each.name)
    gone = torch.isin(known.ids, torch.from_numpy(asked.ids))
    parts = {"forget": known[gone], "retain": known[~gone], "test": unseen}
    screen = Console(stderr=True)
    off = not screen.is_terminal
    for each in track(networks, "asking", console=screen, transient=True, disable=off):
        _ask(each, parts, run, call["batch_size"])
    name = short(model) if isinstance(model, str) else type(networks[-1].model).__name__
    more = {"preprocess": chosen, "device": str(run.device), "pictures": _pictures(parts["forget"])}
    return replace(asked, name=name, **more)


def _pictures(forgotten: Samples) -> list[np.ndarray]:
    """The first forgotten, by id, as people see them; floats from the least of a channel to the
    largest. None of what is no image.
    """
    images: Any = forgotten.images
    x = images.take(forgotten.positions[forgotten.ids.argsort()[:SHOWN]])
    if x.ndim != 4 or x.shape[1] not in (1, 3):
        return []
    x = x if x.dtype == torch.uint8 else (x * images.std + images.mean) * 255 + 0.5
    return [each.squeeze() for each in x.byte().permute(0, 2, 3, 1).cpu().numpy()]


def _load(network: Any, model: Any, classes: int, shape: Sequence[int]) -> None:
    """Have a network in memory. Raises `MucoreError`."""
    network.model = network.given
    if isinstance(network.given, Path):
        what = f"{network.name} is a file of weights. Say model=, a name, FILE.py:NAME or a class."
        need(model is not None, what)
        network.model = built(model, classes, shape)
        found = models.load_checkpoint(network.given, network.model)
        network.preprocess, network.read = found.preprocess, found.notes
    need_module(network.name, network.model)


def pixels(asked: Any, networks: Sequence[Any], known: Samples) -> str:
    """What images become before networks see them, as a recipe names it: as was `asked`, by a layer
    in a file, or by the first batch norms; "" for what goes in as it is. Raises `BadValue`.
    """
    if isinstance(known.images, Inputs):
        what = "preprocess= is for uint8 images (n, c, h, w) and data by name. Leave it out."
        need(isinstance(asked, str) and not asked, what)
        return ""
    if not isinstance(asked, str) or asked not in ("", "inside"):
        try:
            return canonical(asked)
        except (TypeError, ValueError) as error:
            raise BadValue(f"preprocess {error}, or inside, but got {said(asked)}.") from error
    if (told := max(each.preprocess for each in networks)) or asked:
        return told or "0..1"
    tells = [each for each in networks if batch_norms(each.model)]
    need(tells, UNTOLD.format(networks[-1].name))
    return next(filter(None, (_recognised(each, known, USUAL) for each in tells)), USUAL)


def _recognised(network: Any, known: Samples, preprocess: str) -> str:
    few = known.images.take(known.positions[:1])
    with left_as_found(network.model, few.device), answering(network.name, few):
        return recognised(network.model, known, preprocess)


def _learned_on(network: Any, known: Samples, chosen: str, usual: Any, run: Run) -> str:
    """The known preprocessings with which a reference names its own training samples right clearly
    more often than with the `chosen` one, joined by "or" where several do, for nearly alike ones
    cannot be told apart; "" where none does.
    """
    few = known[torch.linspace(0, len(known) - 1, min(LEARNED, len(known))).long()]
    right, one = {}, known.images.take(known.positions[:1])
    with left_as_found(network.model, run.device), answering(network.name, one):
        for name in dict.fromkeys((chosen, USUAL, *NAMED)):
            right[name] = accuracy(network.model, _preprocessed(few, moments(name, usual)), run)
    return " or ".join(each for each in right if right[each] > right[chosen] + CLEARLY)


def _preprocessed(samples: Samples, found: Any) -> Samples:
    """Samples whose pixels are normalised by `found`, mean and deviation a channel."""
    images: Any = copy.copy(samples.images)
    images.mean, images.std = (torch.tensor(each).view(-1, 1, 1).to(images.mean) for each in found)
    return replace(samples, images=images)


def _ask(network: Any, parts: Mapping[str, Samples], run: Run, size: int) -> None:
    """Let a network predict each part. Raises `BadValue` where it does not answer with logits."""
    model = network.model
    network.weights = trainable(model)
    x = next(parts["test"].batches(run, size)).x
    labels = torch.cat([each.labels for each in parts.values()])
    found = {}
    with left_as_found(model, run.device), answering(network.name, x):
        classes, gives = asked(model, network.head, x, labels)
        more: dict[str, Any] = {"head": network.head if gives else None, "size": size}
        for name, part in parts.items():
            found[name] = collect(
                model, part, classes, run, keep=None, features=KEEP_FEATURES * gives, **more
            )
            check_logits(found[name].logits, len(part), found[name].labels)
    network.outputs = with_common_scale(Outputs(found))
