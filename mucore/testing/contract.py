"""The contract test of a method: what every unlearning method must do, tried on two toy problems in
a few seconds.

`check_file` is behind `python -m mucore check FILE`, which calls it in a process of its own; each
broken rule comes with a sentence on how to mend it. mucore's own methods are held to more than this
(tests/methods/test_conformance.py), with the same toys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mucore import catalog, methods
from mucore.catalog import MethodCard, plugins
from mucore.engine.data import Images, Samples, UnlearningData
from mucore.engine.loop import is_finite
from mucore.engine.run import Run
from mucore.errors import BadFile, Cancelled, MucoreError
from mucore.runner.method import kept_form
from mucore.spec import method_parameters
from mucore.testing import toy

SETS = ("forget", "retain", "validation")
# It gives a sentence on what is wrong, or raises it, or finds nothing.
Rule = Callable[[], str | None]


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
    trial = _Trial(path.absolute())
    for rule, look in _first_rules(trial, replaces).items():
        problem = _problem(look, path)
        yield Check(rule, not problem, problem)
        if problem:
            return
    for rule, look in _further_rules(trial).items():
        problem = _problem(look, path)
        yield Check(rule, not problem, problem)


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


def _first_rules(trial: _Trial, replaces: Path | None) -> Mapping[str, Rule]:
    return {
        "the card can be read and holds together": trial.reads_card,
        "the name is free": partial(trial.clash, replaces),
        "the file can be imported": trial.imports,
        "the function takes model, data, run and the card's parameters": trial.signature,
        "it runs on small problems and gives a network of the original's form": trial.runs,
        "the weights are finite": trial.finite,
    }


def _further_rules(trial: _Trial) -> Mapping[str, Rule]:
    return {
        "the same seed gives the same weights, whatever else draws random numbers": trial.repeats,
        "sets that the card does not name stay unread": trial.reads,
        "it stops when it is cancelled": trial.stops,
        "a forget set of one sample works": trial.one_sample,
    }


def _problem(look: Rule, path: Path) -> str:
    try:
        return look() or ""
    except MucoreError as error:
        return str(error)
    except Exception as error:  # the boundary to somebody else's code
        said = f"{type(error).__name__}: {error}".rstrip(".: ")
        return f"It raised {said}{plugins.line_of(error, path.absolute())}."


class _Trial:
    """A method, run on the toys as the runner would run it."""

    card: MethodCard
    function: Callable[..., nn.Module]
    results: dict[toy.Name, nn.Module]

    def __init__(self, path: Path):
        self.path = path

    def reads_card(self) -> None:
        self.plugin = plugins.read(self.path)
        self.card = self.plugin.card

    def clash(self, replaces: Path | None) -> str | None:
        others = [each for each in plugins.found().plugins if each.path != replaces]
        return plugins.clash_of(self.plugin, others)

    def imports(self) -> None:
        self.function = plugins.function(self.plugin)

    def signature(self) -> str | None:
        return methods.signature_problem(self.function, self.card)

    def toys(self) -> tuple[toy.Name, ...]:
        samples = "attributes" in self.card.tasks and not self.served(class_wise=True, alone=True)
        return ("mlp", "conv", "attributes") if samples else ("mlp", "conv")

    def served(self, *, class_wise: bool, alone: bool = False) -> bool:
        """Whether the method serves some class-wise scenarios, or such alone."""
        kinds = {s.class_wise for s in catalog.scenarios() if catalog.serves(self.card, s.id)}
        return kinds == {class_wise} if alone else class_wise in kinds

    def data(self, name: toy.Name) -> UnlearningData:
        classes = self.served(class_wise=True) and name != "attributes"
        return toy.request(name, "class" if classes else "random", natural=True)

    def call(self, name: toy.Name, data: UnlearningData, run: Run | None = None) -> nn.Module:
        values = method_parameters(self.card, toy.RECIPE, {})
        parameters = {n: tuple(v) if isinstance(v, list) else v for n, v in values.items()}
        model = toy.original(name).train().requires_grad_(True)
        return self.function(model, data, run or Run(seed=0), **parameters)

    def runs(self) -> None:
        self.results = {
            name: kept_form(
                self.call(name, self.data(name)),
                partial(toy.original, name),
                self.data(name),
                self.card.id,
            )
            for name in self.toys()
        }

    def finite(self) -> str | None:
        if all(is_finite(each) for each in self.results.values()):
            return None
        return (
            "Some weights are infinite or not a number. Take smaller steps; fit goes back to the "
            "last finite weights on its own."
        )

    def repeats(self) -> str | None:
        torch.manual_seed(1)
        again = {name: self.call(name, self.data(name)) for name in self.toys()}
        if all(toy.same(self.results[name], again[name]) for name in again):
            return None
        return (
            "Two runs with the same seed differ. Draw from run.rng('a purpose') alone: "
            "torch.randn(..., generator=...)."
        )

    def reads(self) -> str | None:
        for name in self.toys():
            data = self.data(name)
            others = {role: forbid(getattr(data, role)) for role in {*SETS} - self.card.reads}
            try:
                self.call(name, replace(data, **others))
            except ForbiddenRead as error:
                where = plugins.line_of(error, self.path)
                return f"Here {error}{where}. Add it to the card's reads, or leave it alone."
        return None

    def stops(self) -> str | None:
        try:
            self.call("mlp", self.data("mlp"), Run(seed=0, cancelled=lambda: True))
        except Cancelled:
            return None
        return (
            "It ran to its end although it was cancelled. Train with fit, or call run.check() at "
            "every step, and let Cancelled pass."
        )

    def one_sample(self) -> str | None:
        if self.served(class_wise=True, alone=True):
            return None
        for name in self.toys():
            if not is_finite(self.call(name, toy.request(name, 1))):
                return f"On the toy {name!r} the weights were not finite."
        return None
