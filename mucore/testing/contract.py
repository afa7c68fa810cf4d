"""The contract test of a method: what every unlearning method must do, tried on two toy problems in
a few seconds.

`check_file` is behind `python -m mucore check FILE`, which calls it in a process of its own; each
broken rule comes with a sentence on how to mend it. mucore's own methods are held to more than this
(tests/methods/test_conformance.py), with the same toys and the same watchers.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mucore import catalog, methods
from mucore.catalog import MethodCard, plugins
from mucore.engine.data import Images, Samples, UnlearningData
from mucore.engine.features import classifier_layer
from mucore.engine.loop import is_finite
from mucore.engine.run import Run
from mucore.errors import BadFile, BadValue, Cancelled, MucoreError
from mucore.spec import method_parameters
from mucore.testing import toy

TOYS: tuple[toy.Name, ...] = ("mlp", "conv")
SETS = ("forget", "retain", "validation")


@dataclass(frozen=True)
class Check:
    """One rule: what it says, whether it is kept, and a sentence on what is wrong and how to mend
    it ("" where it is kept).
    """

    rule: str
    passed: bool
    message: str = ""


class ForbiddenRead(AssertionError):
    """A method looked at a set that its card does not name."""


@dataclass(frozen=True)
class ForbiddenImages:
    """The images of a set at which nobody may look."""

    inner: Images
    role: str
    shape: tuple[int, int, int] = field(init=False)
    mean: Tensor = field(init=False)
    std: Tensor = field(init=False)

    def __post_init__(self) -> None:
        for name in ("shape", "mean", "std"):
            object.__setattr__(self, name, getattr(self.inner, name))

    def take(self, positions: Tensor) -> Tensor:
        raise ForbiddenRead(f"the {self.role} set was read")


def forbid(samples: Samples) -> Samples:
    """The same set with images that raise `ForbiddenRead` when they are taken."""
    return replace(samples, images=ForbiddenImages(samples.images, samples.role))


def hooks(model: nn.Module) -> Iterator[Any]:
    """All hooks that hang on a network."""
    for module in model.modules():
        for kind in (
            "_forward_hooks",
            "_forward_pre_hooks",
            "_backward_hooks",
            "_backward_pre_hooks",
        ):
            yield from getattr(module, kind).values()


# -- the rules


def check_file(path: Path, *, replaces: Path | None = None) -> Iterator[Check]:
    """Try a user's own method in this process; it may have the name of the one in the file that it
    `replaces`. Raises `BadFile` if there is no such file; everything else is a failed check.

    Later checks are left out where an earlier failure makes them meaningless.
    """
    if not path.is_file():
        raise BadFile(
            f"There is no file {path}. Give the path of a Python file with one method, such as "
            "docs/examples/gaussian_noise.py."
        )
    try:
        plugin = plugins.read(path.absolute())
    except MucoreError as error:
        yield Check("the card can be read and holds together", False, str(error))
        return
    yield Check("the card can be read and holds together", True)
    others = tuple(each for each in plugins.found().plugins if each.path != replaces)
    clash = plugins.clash_of(plugin, others)
    yield Check("the name is free", clash is None, clash or "")
    try:
        function = plugins.function(plugin)
    except MucoreError as error:
        yield Check("the file can be imported", False, str(error))
        return
    yield Check("the file can be imported", True)
    wrong = methods.signature_problem(function, plugin.card)
    yield Check(
        "the function takes model, data, run and the card's parameters",
        wrong is None,
        _sentence(wrong or ""),
    )
    if wrong is None:
        yield from _Trial(plugin.card, function, plugin.path).checks()


def inside(folder: Path, say: Callable[[dict[str, Any]], None]) -> None:
    """In a child process: `check_file` of the paths that the files `path` and, where it is there,
    `replaces` in `folder` hold.
    """
    path, replaces = (
        Path(each.read_text(encoding="utf-8")) if (each := folder / name).exists() else None
        for name in ("path", "replaces")
    )
    assert path is not None
    for check in check_file(path, replaces=replaces):
        say(asdict(check))


class _Trial:
    """A method, run on the toys as the runner would run it."""

    def __init__(self, card: MethodCard, function: Callable[..., nn.Module], path: Path):
        self.card, self.function, self.path = card, function, path
        values = method_parameters(card, toy.RECIPE, {})
        self.parameters = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        served = [scenario for scenario in catalog.scenarios() if catalog.serves(card, scenario.id)]
        self.classes_only = all(scenario.class_wise for scenario in served)
        self.classes_allowed = any(scenario.class_wise for scenario in served)
        self.toys: tuple[toy.Name, ...] = (
            (*TOYS, "attributes") if "attributes" in card.tasks and not self.classes_only else TOYS
        )

    def data(self, name: toy.Name) -> UnlearningData:
        return toy.request(
            name,
            "class" if self.classes_allowed and name != "attributes" else "random",
            natural=True,
        )

    def call(self, name: toy.Name, data: UnlearningData, run: Run | None = None) -> nn.Module:
        model = toy.original(name).train().requires_grad_(True)
        return self.function(model, data, run or Run(seed=0), **self.parameters)

    def checks(self) -> Iterator[Check]:
        rule = "it runs on a perceptron and on a convolutional network"
        results: dict[toy.Name, nn.Module] = {}
        before = {name: _fingerprint(name) for name in self.toys}
        for name in self.toys:
            try:
                result = self.call(name, self.data(name))
            except Exception as error:  # the boundary to somebody else's code
                yield Check(rule, False, f"On the toy {name!r} it raised {self._said(error)}.")
                return
            if not isinstance(result, nn.Module):
                yield Check(
                    rule,
                    False,
                    f"It returned {type(result).__name__}, not a network. End the function with: "
                    "return model.eval()",
                )
                return
            results[name] = result
        yield Check(rule, True)
        for rule, look in (
            ("the head, and every other tensor, keeps its name, shape and type", _same_shapes),
            ("the weights are finite", _finite),
            ("the network comes back in eval mode, trainable, without hooks", _clean),
        ):
            check = _first(rule, (look(results[name], toy.trained(name)) for name in self.toys))
            yield check
            if not check.passed and look is not _clean:  # nothing to compare another run with
                return
        touched = [name for name in self.toys if _fingerprint(name) != before[name]]
        yield Check(
            "the original and the data are left as they are",
            not touched,
            "The original network, the images or the labels were changed in place. Work on "
            "`model`; relabel by samples.with_labels(...)."
            if touched
            else "",
        )
        yield self._try(
            "the same seed gives the same weights, whatever else draws random numbers",
            self._repeats(results),
        )
        yield self._try("sets that the card does not name stay unread", self._reads)
        yield self._try("it stops when it is cancelled", self._stops)
        if not self.classes_only:
            yield self._try("a forget set of one sample works", self._one_sample)

    def _try(self, rule: str, look: Callable[[], str | None]) -> Check:
        try:
            problem = look()
        except Exception as error:  # the boundary to somebody else's code
            problem = f"It raised {self._said(error)}."
        return Check(rule, problem is None, problem or "")

    def _said(self, error: Exception) -> str:
        return f"{type(error).__name__}: {error}".rstrip(".: ") + plugins.line_of(error, self.path)

    def _repeats(self, results: dict[toy.Name, nn.Module]) -> Callable[[], str | None]:
        def look() -> str | None:
            for name in self.toys:
                with torch.random.fork_rng(devices=[]), _KeptGenerators():
                    torch.manual_seed(1)
                    random.seed(1)
                    np.random.seed(1)
                    state = _global_states()
                    again = self.call(name, self.data(name))
                    drawn = _global_states() != state
                if not toy.same(results[name], again):
                    return (
                        "Two runs with the same seed differ. Draw from run.rng('a purpose') "
                        "alone: torch.randn(..., generator=...)."
                    )
                if drawn:
                    return (
                        "It draws from or seeds a global random generator, which others share. "
                        "Draw from run.rng('a purpose') alone."
                    )
            return None

        return look

    def _reads(self) -> str | None:
        for name in self.toys:
            data = self.data(name)
            others = {
                role: forbid(getattr(data, role)) for role in SETS if role not in self.card.reads
            }
            if not others:
                return None
            try:
                self.call(name, replace(data, **others))
            except ForbiddenRead as error:
                said = ", ".join(sorted(self.card.reads)) or "nothing"
                where = plugins.line_of(error, self.path)
                return _sentence(
                    f"{error}{where}, but the card reads {said}. Add it to the card's reads, or "
                    "leave it alone."
                )
        return None

    def _stops(self) -> str | None:
        try:
            self.call("mlp", self.data("mlp"), Run(seed=0, cancelled=lambda: True))
        except Cancelled:
            return None
        return (
            "It ran to its end although it was cancelled. Train with fit, or call run.check() at "
            "every step, and let Cancelled pass."
        )

    def _one_sample(self) -> str | None:
        for name in self.toys:
            if not is_finite(self.call(name, toy.request(name, 1))):
                return f"On the toy {name!r} the weights were not finite."
        return None


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _first(rule: str, problems: Iterator[str | None]) -> Check:
    problem = next(filter(None, problems), None)
    return Check(rule, problem is None, problem or "")


def _same_shapes(result: nn.Module, start: nn.Module) -> str | None:
    before, after = (
        {key: (tuple(t.shape), t.dtype) for key, t in each.state_dict().items()}
        for each in (start, result)
    )
    if classes := _head_size(result, start):
        return (
            f"The head has {classes[1]} outputs instead of {classes[0]}. Forgotten classes keep "
            "theirs: every metric counts on it."
        )
    for key in [*before, *after]:
        if before.get(key) != after.get(key):
            return (
                f"{key} was {_shape(before.get(key))} and is {_shape(after.get(key))}. Give back "
                "a network of the original's form."
            )
    return None


def _head_size(result: nn.Module, start: nn.Module) -> tuple[int, int] | None:
    try:
        sizes = classifier_layer(start).out_features, classifier_layer(result).out_features
    except BadValue:
        return None  # no linear layer at all: the comparison of tensors says so
    return sizes if sizes[0] != sizes[1] else None


def _shape(tensor: tuple[tuple[int, ...], torch.dtype] | None) -> str:
    return "not there" if tensor is None else f"{tensor[0]} {str(tensor[1]).removeprefix('torch.')}"


def _finite(result: nn.Module, start: nn.Module) -> str | None:
    if is_finite(result):
        return None
    return (
        "Some weights are infinite or not a number. Take smaller steps; fit goes back to the last "
        "finite weights on its own."
    )


def _clean(result: nn.Module, start: nn.Module) -> str | None:
    if any(module.training for module in result.modules()):
        return "Some layers are still in training mode. End the function with: return model.eval()"
    if not all(p.requires_grad for p in result.parameters()):
        return (
            "Some weights are still frozen. Call model.requires_grad_(True) before you return it."
        )
    if list(hooks(result)):
        return (
            "Hooks are left on the network. Keep the handles that register_..._hook gives, and "
            "remove() them."
        )
    return None


def _fingerprint(name: toy.Name) -> tuple[Any, ...]:
    """Everything that a method could spoil for others: the original's tensors, images and
    labels.
    """
    problem = toy.problem(name)
    tensors = (problem.pixels, problem.labels, problem.validation_pixels, problem.validation_labels)
    return toy.fingerprint(toy.trained(name)), *(t.numpy().tobytes() for t in tensors)


def _global_states() -> tuple[bytes, Any, bytes]:
    return (
        torch.get_rng_state().numpy().tobytes(),
        random.getstate(),
        np.random.get_state(legacy=False)["state"]["key"].tobytes(),
    )


class _KeptGenerators:
    """Puts the global generators of Python and NumPy back at the end."""

    def __enter__(self) -> None:
        self._python, self._numpy = random.getstate(), copy.deepcopy(np.random.get_state())

    def __exit__(self, *exception: object) -> None:
        random.setstate(self._python)
        np.random.set_state(self._numpy)
