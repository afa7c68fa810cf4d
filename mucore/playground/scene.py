"""`Scene`: which points there are, which of them are to be forgotten, and by which methods.

Nothing here needs torch. Scenes are JSON both ways: `Scene.read(value)`, `scene.model_dump(mode=
"json")`. Training points are counted from 0 in the order of `points_of`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mucore import catalog
from mucore.errors import BadValue, Refused
from mucore.points import COUNTS, MOST_NOISE, NOISE, Points, around, draw, from_bytes, to_bytes
from mucore.runs import make_recipe, method_parameters
from mucore.runs.recipe import first_problem
from mucore.runs.values import resolve

DATASET, MODEL, PRESET = "points-moons", "mlp-2d", "points"  # of cards that scenes go by
OWN_POINTS, OWN_CLASSES, MOST_METHODS = (4, 400), (2, 4), 3
FEW = 8  # points at most that count as few
FILE = Path(__file__).with_name("settings.json")

Shape = Literal["moons", "blobs", "spiral", "xor", "own"]
Coordinate = Annotated[float, Field(ge=-1, le=1)]


class Pick(BaseModel):
    """A method of the roster, with settings other than those that the playground takes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    parameters: dict[str, Any] = {}


class Scene(BaseModel):
    """`seed` draws points, networks and methods; `noise` is the standard deviation around the
    shape, and for own points the one by which validation and test points lie beside them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    points: Shape = "moons"
    seed: int = Field(default=0, ge=0, le=2**31)
    noise: float = Field(default=NOISE, ge=0, le=MOST_NOISE, allow_inf_nan=False)
    own: tuple[tuple[Coordinate, Coordinate, Annotated[int, Field(ge=0, lt=4)]], ...] = ()
    forget: tuple[Annotated[int, Field(ge=0)], ...] = ()
    methods: tuple[Pick, ...] = ()

    @classmethod
    def read(cls, value: Any) -> Scene:
        """A checked scene from JSON. Raises `BadValue`, `UnknownName`, `Refused`."""
        try:
            scene = cls.model_validate(value)
        except ValidationError as error:
            raise BadValue(first_problem("scene: ", error)) from None
        for pick in scene.methods:
            card = catalog.method(pick.id)
            if (reason := _unplayable(card)) is not None:
                raise Refused(reason)
            resolve(card.parameters, pick.parameters, owner=card.id)
        for rule, kept in scene._rules():
            if not kept:
                raise BadValue(f"{rule}. Change the scene.")
        return scene

    def _rules(self) -> Iterator[tuple[str, bool]]:
        """Each rule of a scene, and whether this one keeps it."""
        (least, most), own = OWN_POINTS, self.points == "own"
        yield "Points of one's own go with the shape own, and with no other", own or not self.own
        classes = {each for _, _, each in self.own}
        numbered = len(classes) >= OWN_CLASSES[0] and classes == set(range(len(classes)))
        yield (
            f"A scene has {least} to {most} points of one's own, of 2 to 4 classes from 0 on",
            not own or (least <= len(self.own) <= most and numbered),
        )
        count, chosen = len(self.train.labels), set(self.forget)
        yield (
            f"Forgotten points are different ones of the {count} training points, from 0 on",
            len(chosen) == len(self.forget) and max(chosen, default=0) < count,
        )
        yield "Two training points at least stay", not chosen or len(chosen) <= count - 2
        ids = [catalog.method(pick.id).id for pick in self.methods]
        yield (
            f"A scene has at most {MOST_METHODS} methods, each once",
            len(set(ids)) == len(ids) <= MOST_METHODS,
        )

    @cached_property
    def drawn(self) -> tuple[Points, Points, Points]:
        """Training, validation and test points. Raises `BadValue`."""
        if self.points != "own":
            return draw(self.points, seed=self.seed, noise=self.noise)
        table = np.array(self.own, np.float64).reshape(-1, 3)
        placed = from_bytes(to_bytes(table[:, :2]))
        train = Points(placed, table[:, 2].astype(np.int64))
        validation, test = (
            around(train, count=count, seed=self.seed, noise=self.noise, purpose=purpose)
            for count, purpose in zip(COUNTS[1:], ("validation", "test"), strict=True)
        )
        return train, validation, test

    @property
    def train(self) -> Points:
        return self.drawn[0]

    @property
    def bare(self) -> Scene:
        """The same points with nothing to forget: Original alone."""
        return self.model_copy(update={"forget": (), "methods": ()})

    @property
    def kind(self) -> Literal["few", "many"]:
        """Which of a method's settings are for this request."""
        return "few" if len(self.forget) <= FEW else "many"

    @property
    def classes(self) -> int:
        return int(self.train.labels.max()) + 1

    def usual(self, method: str) -> dict[str, Any]:
        """What a method is played with here where the scene does not say otherwise: the
        playground's own settings, and the authors' values for what these leave open.
        """
        card, setting = catalog.method(method), SETTINGS.get(method, {}).get(self.kind)
        return method_parameters(
            card,
            make_recipe(PRESET),
            setting.parameters if setting else {},
            scenario="class_wise" if self.gone else "ids",
        )

    @property
    def gone(self) -> tuple[int, ...]:
        """The classes that are forgotten whole, where nothing but whole classes is; else empty."""
        if not self.forget:
            return ()
        labels = self.train.labels
        chosen = np.zeros(len(labels), bool)
        chosen[list(self.forget)] = True
        whole = [each for each in range(self.classes) if chosen[labels == each].all()]
        return tuple(whole) if np.isin(labels[chosen], whole).all() else ()


def points_of(scene: Scene) -> list[list[float]]:
    """The training points as [x, y, class], before anything was trained."""
    return table(scene.train)


def table(drawn: Points) -> list[list[float]]:
    """Points as [x, y, class]."""
    return [
        [round(float(x), 4), round(float(y), 4), int(label)]
        for (x, y), label in zip(drawn.xy, drawn.labels, strict=True)
    ]


def _unplayable(card: catalog.MethodCard) -> str | None:
    """Why a method is not played; None where it is."""
    if card.family == "reference":
        return f"{card.id} is in every scene, or comes from a file. Choose another method."
    if card.family == "own":
        return f"{card.id} is a method of one's own, which runs from Launch only. Choose another."
    if "shards" in card.records:
        return (
            f"{card.id} trains an ensemble of several networks, which cannot be shown as one. "
            "Choose another method."
        )
    return None


METHODS: tuple[str, ...] = tuple(card.id for card in catalog.METHODS if _unplayable(card) is None)


@dataclass(frozen=True)
class Setting:
    """What a method is played with where a scene does not say otherwise.

    scripts/make_playground.py chose it, on the presets of one seed. `left` is the share of the way
    from Original to Retrain that is then left in each of them, on each of the seeds 1, 2, …, which
    had no part in the choice: 0 at Retrain, 1 at Original or as far away.
    """

    parameters: Mapping[str, Any]
    left: Mapping[str, Sequence[float]]


# By method, and by `Scene.kind`: what undoes one point is not what undoes a class.
SETTINGS: Mapping[str, Mapping[str, Setting]] = {
    name: {kind: Setting(**each) for kind, each in kinds.items()}
    for name, kinds in json.loads(FILE.read_text(encoding="utf-8")).items()
}


@dataclass(frozen=True)
class Preset:
    """A scene with a name, and the sentence that it teaches."""

    id: str
    title: str
    sentence: str
    shape: Shape
    choose: Callable[[Points], Sequence[int]]
    methods: tuple[str, ...]

    @property
    def scene(self) -> Scene:
        return self.at(0)

    def at(self, seed: int) -> Scene:
        """The same idea on other points, with other networks."""
        bare = Scene(points=self.shape, seed=seed)
        forget = tuple(int(each) for each in self.choose(bare.train))
        picks = tuple(Pick(id=each) for each in self.methods)
        return bare.model_copy(update={"forget": forget, "methods": picks})


def _twin(train: Points) -> Sequence[int]:
    """One of the two nearest points of a class."""
    apart = np.square(train.xy[:, None] - train.xy).sum(axis=2)
    apart[train.labels[:, None] != train.labels] = np.inf
    np.fill_diagonal(apart, np.inf)
    return [int(apart.argmin()) // len(apart)]


def _lower_left(train: Points) -> Sequence[int]:
    return np.flatnonzero((train.labels == 0) & (train.xy < 0).all(axis=1)).tolist()


PRESETS: tuple[Preset, ...] = (
    Preset(
        "outlier",
        "An outlier",
        "Forgetting an outlier undoes what the model learned from that point alone.",
        "moons",
        lambda train: [1],  # the outlier of class 1
        ("finetune", "neggrad_plus", "ssd"),
    ),
    Preset(
        "cluster",
        "A cluster",
        "Retrain extends its neighbours' colour into the gap.",
        "xor",
        _lower_left,
        ("finetune", "neggrad_plus", "random_labels"),
    ),
    Preset(
        "twin",
        "A twin",
        "The twin that stays teaches the model the same, so the boundary need not move.",
        "moons",
        _twin,
        ("finetune", "neggrad_plus", "ssd"),
    ),
    Preset(
        "class",
        "A class",
        "Retrain never predicts the forgotten class; the others share its region.",
        "blobs",
        lambda train: np.flatnonzero(train.labels == 0).tolist(),
        ("finetune", "neggrad_plus", "boundary_shrink"),
    ),
)
