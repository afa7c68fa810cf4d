"""The contract test of a method: what every unlearning method must do, tried on two small networks
that know `digits`, in a few seconds.

`check_file` is behind `python -m mucore check FILE`, which calls it in a process of its own; each
broken rule comes with a sentence on how to mend it. mucore's own methods are held to more than this
(tests/methods/test_conformance.py).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
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
from mucore.runner.session import Session
from mucore.runner.training_records import records_of
from mucore.runs import make_recipe, make_spec, method_parameters
from mucore.store import open_store

FIRST = 6  # rules without which the others mean nothing
SETS = ("forget", "retain", "validation")
MODELS = ("mlp", "resnet9-small")
RECIPE = make_recipe("quick", {"epochs": 3, "batch_size": 64})
# Scenarios with their parameters.
Scenario = tuple[str, dict[str, Any]]
CLASS: Scenario = ("class_wise", {"class_ids": (0,)})
SAMPLES: Scenario = ("all_classes", {"budget": 0.1})
ONE: Scenario = ("ids", {"ids": (0,)})
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


class ForbiddenImages:
    """The images of a set at which nobody may look."""

    def __init__(self, inner: Images, role: str):
        self.role = role
        self.shape, self.mean, self.std = inner.shape, inner.mean, inner.std

    def take(self, positions: Tensor) -> Tensor:
        raise ForbiddenRead(f"the {self.role} set was read")


def forbid(samples: Samples) -> Samples:
    """The same set with images that raise `ForbiddenRead` when they are taken."""
    return replace(samples, images=ForbiddenImages(samples.images, samples.role))


# -- the rules


def check_file(path: Path, home: Path, *, replaces: Path | None = None) -> Iterator[Check]:
    """Try a user's own method in this process; it may have the name of the one in the file that it
    `replaces`. In the folder `home` is a store, whose originals are taken or which they go to.
    Raises `BadFile` if there is no such file; everything else is a failed check.

    Later checks are left out where an earlier failure makes them meaningless.
    """
    if not path.is_file():
        raise BadFile(
            f"There is no file {path}. Give the path of a Python file with one method, such as "
            "docs/examples/gaussian_noise.py."
        )
    with open_store(home) as store:
        trial = _Trial(path.absolute(), Session(store, "cpu"))
        for number, (rule, look) in enumerate(_rules(trial, replaces).items()):
            problem = _problem(look, path)
            yield Check(rule, not problem, problem)
            if problem and number < FIRST:
                return


def inside(folder: Path, say: Callable[[dict[str, Any]], None]) -> None:
    """In a child process: `check_file` of the paths that the files `path` and, where it is there,
    `replaces` in `folder` hold.
    """
    path, replaces = (
        Path(each.read_text(encoding="utf-8")) if (each := folder / name).exists() else None
        for name in ("path", "replaces")
    )
    assert path is not None
    torch.set_num_threads(1)  # networks so small gain nothing by more
    for check in check_file(path, folder / "home", replaces=replaces):
        say(asdict(check))


def _rules(trial: _Trial, replaces: Path | None) -> Mapping[str, Rule]:
    return {
        "the card can be read and holds together": trial.reads_card,
        "the name is free": partial(trial.clash, replaces),
        "the file can be imported": trial.imports,
        "the function takes model, data, run and the card's parameters": trial.signature,
        "it runs on small problems and gives a network of the original's form": trial.runs,
        "the weights are finite": trial.finite,
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
    """A method, run on small problems as the runner would run it."""

    card: MethodCard
    function: Callable[..., nn.Module]
    results: dict[str, nn.Module]

    def __init__(self, path: Path, session: Session):
        self.path, self.session = path, session

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

    def class_wise(self) -> set[bool]:
        """Of the scenarios that the method serves, whether whole classes go."""
        return {s.class_wise for s in catalog.scenarios() if catalog.serves(self.card, s.id)}

    def request(
        self, model: str, scenario: Scenario | None = None
    ) -> tuple[nn.Module, UnlearningData]:
        """The original, and what the method sees: class 0 or a tenth of the samples is forgotten,
        unless `scenario` says otherwise.
        """
        name, parameters = scenario or (CLASS if True in self.class_wise() else SAMPLES)
        spec = make_spec(
            dataset="digits",
            model=model,
            recipe=RECIPE,
            method="finetune",
            scenario=name,
            scenario_parameters=parameters,
        )
        spec = spec.model_copy(update={"parameters": self.values()})
        original, _ = self.session.original(spec)
        forget = self.session.forget_set(spec, original, self.session.run(spec, 0))
        data = self.session.unlearning_data(spec, forget)
        made = records_of(self.session, spec, self.card, original, forget)
        return original, replace(data, record=data.record | made)

    def values(self) -> dict[str, Any]:
        return method_parameters(self.card, RECIPE, {})

    def call(
        self,
        model: str,
        run: Run | None = None,
        *,
        forbidden: Iterable[str] = (),
        scenario: Scenario | None = None,
    ) -> nn.Module:
        original, data = self.request(model, scenario)
        data = replace(data, **{role: forbid(getattr(data, role)) for role in forbidden})
        values = {n: tuple(v) if isinstance(v, list) else v for n, v in self.values().items()}
        start = copy.deepcopy(original).train().requires_grad_(True)
        return self.function(start, data, run or Run(seed=0), **values)

    def runs(self) -> None:
        self.results = {}
        for model in MODELS:
            original, data = self.request(model)
            fresh = partial(copy.deepcopy, original)
            self.results[model] = kept_form(self.call(model), fresh, data, self.card.id)

    def finite(self) -> str | None:
        if all(is_finite(each) for each in self.results.values()):
            return None
        return (
            "Some weights are infinite or not a number. Take smaller steps; fit goes back to the "
            "last finite weights on its own."
        )

    def repeats(self) -> str | None:
        torch.manual_seed(1)
        for model in MODELS:
            before, after = self.results[model].state_dict(), self.call(model).state_dict()
            if not all(torch.equal(before[name], after[name]) for name in before):
                return (
                    "Two runs with the same seed differ. Draw from run.rng('a purpose') alone: "
                    "torch.randn(..., generator=...)."
                )
        return None

    def reads(self) -> str | None:
        try:
            for model in MODELS:
                self.call(model, forbidden={*SETS} - self.card.reads)
        except ForbiddenRead as error:
            where = plugins.line_of(error, self.path)
            return f"Here {error}{where}. Add it to the card's reads, or leave it alone."
        return None

    def stops(self) -> str | None:
        try:
            self.call(MODELS[0], Run(seed=0, cancelled=lambda: True))
        except Cancelled:
            return None
        return (
            "It ran to its end although it was cancelled. Train with fit, or call run.check() at "
            "every step, and let Cancelled pass."
        )

    def one_sample(self) -> str | None:
        if False not in self.class_wise():
            return None
        if all(is_finite(self.call(model, scenario=ONE)) for model in MODELS):
            return None
        return "The weights were not finite."
