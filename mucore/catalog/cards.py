"""The frozen cards: everything a person or a form needs to know about a method, metric, scenario,
data set, model or preset.

Cards are data. They import nothing heavy, so the dashboard and `--help` read them without torch.
Default values live here and nowhere else: the functions behind the cards take keyword-only
parameters without defaults.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

# "budget" is a share (a float in (0, 1]) or a number of samples (an int); "ints" is a tuple of
# integers, "ids" one of sample ids, "pairs" one of texts such as "0-9", two classes each; "file" is
# a path, or the SHA-256 of a file that the store keeps; "" is none.
Kind = Literal["int", "float", "bool", "choice", "ints", "budget", "ids", "pairs", "file"]
Task = Literal["classes", "attributes"]  # one class an image, or several yes-or-no labels
Card = TypeVar("Card")
EVERY_TASK: frozenset[Task] = frozenset({"classes", "attributes"})


@dataclass(frozen=True)
class Parameter:
    """One setting of a method or scenario, with enough to check a value and to draw a form."""

    name: str
    kind: Kind
    default: Any
    help: str = field(kw_only=True)
    low: float | None = None  # inclusive
    high: float | None = None  # inclusive
    _: KW_ONLY
    log: bool = False  # search and slider on a logarithmic scale
    unit: str = ""
    choices: tuple[str, ...] = ()
    optional: bool = False  # None is a legal value ("off")
    # authors' epochs were chosen for the paper's long training; see spec.scaled_epochs
    scales_with_epochs: bool = False
    # Choices that only some scenarios serve, and why the others do not: value -> (scenarios,
    # reason).
    choice_scenarios: Mapping[str, tuple[frozenset[str], str]] = field(
        default_factory=dict, hash=False
    )
    # A spec leaves it out while it has its default: it came after results existed, whose keys stay.
    omitted_when_default: bool = False
    # How many classes go; a plan refuses as many as the data set has.
    counts_classes: bool = False


@dataclass(frozen=True)
class Between:
    """Where a tuned value is looked for: a number from low to high, both included; whole where the
    parameter is.

    A bound that the data decide is a formula (mucore/catalog/formulas.py), such as "train /
    forget". With `when`, a formula over the same names and the parameters searched before, the
    parameter is searched where that is true alone, and stays at the authors' value elsewhere.
    """

    low: float | str
    high: float | str
    log: bool = False
    when: str = ""


@dataclass(frozen=True)
class Among:
    """Where a tuned value is looked for: one of a few; `when` as for `Between`."""

    values: tuple[Any, ...]
    when: str = ""


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """The samples that go through a network, without and with a gradient, as formulas
    (mucore/catalog/formulas.py); of a method with a stop rule those before it can speak.
    """

    forward: str = "0"
    backward: str = "0"


@dataclass(frozen=True, kw_only=True)
class MethodCard:
    """One unlearning method. `parameters` carry the authors' values as defaults."""

    id: str
    title: str
    family: str  # a key of FAMILIES
    source: str  # paper: authors, venue, year
    code: str = ""  # official repository, if any
    summary: str = ""  # what it does, in at most five plain sentences
    how: str = ""  # how it works, in about five sentences that somebody can explain it from
    reads: frozenset[str]  # of {"retain", "forget", "validation", "training_record"}
    # which training records (mucore/training/records.py); one that is a choice of a parameter only
    # if chosen
    records: tuple[str, ...] = ()
    # Values under which it needs nothing of how the original was trained although it has `records`
    # of that, parameter -> values; empty: there are none.
    no_records_when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    # Where `mucore tune` looks: the ranges of papers and codes. A parameter that is not named stays
    # at the authors' value.
    search: Mapping[str, Between | Among] = field(default_factory=dict)
    # what the authors set otherwise under a scenario
    scenario_values: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # length of the training for which the authors chose their epochs
    paper_epochs: int | None = None
    scenarios: frozenset[str] | None = None  # None: every scenario; see catalog.serves
    scenarios_reason: str = ""  # why the others are refused
    tasks: frozenset[Task] = frozenset({"classes"})
    tasks_reason: str = ""  # why the other is refused
    # Why it cannot be confined to the classifier (RunSpec.scope), as "it ...": it changes layers by
    # rules of its own. "": it can.
    not_confinable: str = ""
    # values under which it can all the same, parameter -> values; empty: there are none
    confinable_when: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    # what the published method must keep between training and request, as a formula
    storage: str = "0"
    footprint: Footprint = Footprint()
    differs: str = ""  # how this implementation differs from the paper
    aliases: tuple[str, ...] = ()
    revision: int = 1  # raised when the results can change; part of the cache key

    @property
    def year(self) -> int:
        """Of the paper, the first that `source` names; 0 where there is none."""
        found = re.search(r"\b(?:19|20)\d\d\b", self.source)
        return int(found[0]) if found else 0

    @property
    def needs_file(self) -> bool:
        """Whether it runs only with a file that the user gives."""
        return any(p.kind == "file" for p in self.parameters)

    @property
    def cheats(self) -> bool:
        """Whether it is there to show what metrics overlook: it is compared, but it is no answer,
        whatever its numbers say.
        """
        return self.family == "baseline"


OURS = "This project"
WITHHELD = "Withheld: "  # opens the reason of a number that says nothing


@dataclass(frozen=True, kw_only=True)
class MetricCard:
    """One number of a result. Values are fractions, seconds, bytes or plain; percent exists only on
    screen.
    """

    id: str
    title: str
    short: str  # column head
    group: str  # the heading it stands under, such as "accuracy"
    meaning: str  # one sentence
    # what a good value is; "retrain": as near to Retrain's as possible
    ideal: Literal["retrain", "high", "low", "none"] = "retrain"
    low: float | None = 0.0
    high: float | None = 1.0
    unit: Literal["fraction", "ratio", "log10", "seconds", "bytes", "count", "distance"] = (
        "fraction"
    )
    source: str = OURS
    caveat: str = ""
    scenarios: Collection[str] | None = None  # None: every scenario
    downstream: str = ""  # the downstream set that it is about; "" for all others
    # a split, and the samples of it below which chance alone could make the number
    least: tuple[str, int] | None = None
    revision: int = 1

    def withheld(self, samples: int) -> str:
        """Why the number is not told of so many samples of its split; "" where it is."""
        if self.least is None or samples >= self.least[1]:
            return ""
        split, least = self.least
        return (
            f"{WITHHELD}it needs {least:,} samples of the {split} set, but there are {samples:,}, "
            "on which chance alone could make it. Choose a larger set."
        )


@dataclass(frozen=True, kw_only=True)
class ScenarioCard:
    """A rule that turns a training set into a forget set."""

    id: str
    title: str
    question: str  # the question it answers, in plain words
    meaning: str
    source: str
    parameters: tuple[Parameter, ...]
    # whole classes go: the test set then splits into forgotten and remaining classes
    class_wise: bool = False
    # changes the training data before the original is trained; those samples are to be forgotten
    poisons: bool = False
    needs: frozenset[str] = frozenset()  # of {"losses", "identities", "downstream"}
    tasks: frozenset[Task] = EVERY_TASK
    revision: int = 1


@dataclass(frozen=True, kw_only=True)
class DatasetCard:
    id: str
    loader: str  # in mucore/datasets, "digits:load" for `load` of digits.py
    title: str
    source: str
    licence: str
    classes: int | None = None  # of `class_names`; None without: known after loading
    shape: tuple[int, int, int] | None = None  # channels, height, width
    sizes: tuple[int, int, int] | None = None  # training, validation, test
    about: tuple[int, int, int] | None = None  # where the card cannot say exactly, for estimates
    embedded: bool = False  # works offline from a fresh clone
    # training classes of equal size: a budget within a class can be checked before anything runs
    balanced: bool = False
    augmentation: bool = False  # random crop and flip while training
    streamed: bool = False  # images stay in their files; else all lie on the device
    where: str  # what to fetch and where to put it
    class_names: tuple[str, ...] = ()
    takes_path: bool = False  # "npz:PATH", "folder:PATH"
    task: Task = "classes"
    identities: bool = False  # the loader says which person each image shows
    downstream: tuple[str, ...] = ()  # data sets that can serve as its downstream sets
    attribute: str = ""  # of a data set of attributes, the one that makes its two classes
    revision: int = 1

    def __post_init__(self) -> None:
        if self.class_names:
            object.__setattr__(self, "classes", len(self.class_names))

    def alone(self) -> tuple[DatasetCard, ...]:
        """A card for each attribute of a set of attributes: the same images in two classes, without
        it and with it ("mucac-smiling"); none for other sets.
        """
        return tuple(
            replace(
                self,
                id=f"{self.id}-{name}",
                title=f"{self.title.partition(',')[0]}, {name} or not",
                source=f"As {self.title}, with the label {name} alone. {self.source}",
                class_names=(f"not {name}", name),
                task="classes",
                attribute=name,
            )
            for name in self.class_names
            if self.task == "attributes"
        )


@dataclass(frozen=True, kw_only=True)
class TermCard:
    """A word for something that a run can do otherwise than usual, for what became of it, or for an
    idea behind it; for forms and the glossary.
    """

    id: str
    title: str
    meaning: str
    flag: str = ""  # as the command line has it
    synonyms: tuple[str, ...] = ()  # what people call it, too
    source: str = "Usual in the literature"


@dataclass(frozen=True, kw_only=True)
class ModelCard:
    id: str
    title: str
    source: str
    parameters_note: str  # e.g. "0.4 M parameters"
    # multiply-adds of a forward pass for each pixel of a colour image of 32 by 32, to estimate
    # times by
    macs: float
    min_image_size: int = 8
    revision: int = 1


@dataclass(frozen=True, kw_only=True)
class PresetCard:
    """A named recipe for training the original and the retrained model, and what a paper uses it
    for.
    """

    id: str
    title: str
    meaning: str
    source: str
    recipe: Mapping[str, Any]  # fields of runs.Recipe
    open_points: str = ""  # what the source leaves open
    dataset: str = ""  # taken where a person names none
    model: str = ""
    # parameters by scenario
    scenarios: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # What the source sets for a method in the place of its authors' values; under "METHOD/SCENARIO"
    # for one scenario alone.
    methods: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def read(kind: Callable[..., Card], path: Path) -> tuple[Card, ...]:
    """The cards of a TOML file in its order, each a table under its id.

    The table `shared.usual` has fields of every card, `shared.NAME` those of tables that are `like`
    it. Texts are folded into one line; inf and -inf stand for None, which TOML lacks.
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    shared = tables.pop("shared", {})
    usual = shared.get("usual", {})
    return tuple(
        kind(id=name, **_plain(usual, shared) | _plain(table, shared))
        for name, table in tables.items()
    )


def _plain(value: Any, shared: Mapping[str, Any]) -> Any:
    match value:
        case str():
            return " ".join(value.split())
        case list():
            return tuple(_plain(each, shared) for each in value)
        case dict():
            like = shared.get(value.get("like", ""), {})
            whole = {name: each for name, each in (like | value).items() if name != "like"}
            return {name: _plain(each, shared) for name, each in whole.items()}
        case float() if math.isinf(value):
            return None
    return value
