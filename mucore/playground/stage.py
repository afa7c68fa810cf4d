"""A scene played: Original, Retrain and the methods of the roster at work on points, as events.

Trainings and methods are those of the runner, with its seeds and its code; only what is asked of
them on the way is the playground's.
"""

from __future__ import annotations

import base64
import logging
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from mucore import catalog, points, training
from mucore.datasets import Splits
from mucore.datasets.points import as_splits
from mucore.engine.data import Images, UnlearningData, on_device
from mucore.engine.run import Callbacks, Run
from mucore.errors import BadValue, Cancelled, MucoreError
from mucore.metrics.mia import attack_is_blind, run_attack
from mucore.playground.film import Film, Shot
from mucore.playground.scene import DATASET, MODEL, PRESET, SETTINGS, Pick, Scene, Setting, table
from mucore.runner.cache import Kept
from mucore.runner.execute import unlearn_recorded
from mucore.runner.session import Session
from mucore.runs import RunSpec, make_recipe, make_spec
from mucore.store import Store

log = logging.getLogger("mucore")

Event = dict[str, Any]
GRID = 48  # probabilities a side
FRAMES = 20  # at most, of each model
LIMIT = 20.0  # seconds of the processor that a scene may take
KEPT = 24  # trainings of earlier scenes, of Originals and Retrains; the examples have seven


@dataclass(frozen=True, eq=False)
class Trained:
    """A network that came out of a training, how it came about, and the seconds that took."""

    network: nn.Module
    shots: list[Shot]
    seconds: float


class Table(Session):
    """A session whose data set is the points of one scene."""

    def __init__(self, store: Store, splits: Splits):
        super().__init__(store, "cpu")
        self._splits = splits
        self._samples = {name: on_device(splits, name, self.device) for name in splits.names}

    def splits(self, spec: RunSpec) -> Splits:
        assert self._splits is not None
        return self._splits


class Stage:
    """Plays scenes one after the other; what trainings record for some methods lies under `home`
    until its scene has ended.

    Originals and Retrains of the latest scenes are kept: another method or another selection on
    the same points trains no more than it has to.
    """

    def __init__(self, home: Path):
        self.home = home
        self.trained = Kept(KEPT)

    def play(
        self, scene: Scene, *, cancelled: Callable[[], bool] = lambda: False, limit: float = LIMIT
    ) -> Generator[Event]:
        """The events of a scene, the last of kind "end".

        scene: `train` and `test` points [x, y, class], `forget`, `classes`. frame: of `who`
        ("original", "retrain" or a method's id) at optimiser step `step` of `of`, `share` 0..1 of
        the run's work done; `grid` is base64 of uint8 [G, G, C], 255 times the probability of each
        class, the first row at y = 1, the first column at x = -1; `numbers` are fractions, see
        `Look`. done: `seconds` that training or unlearning took, and `difference` from Retrain: the
        mean total variation (half the sum over classes of |p - q|) over the grid, and over the
        forgotten points; of Retrain itself, its difference from Original. error: a sentence; the
        others of a scene go on. Raises `Cancelled` where `cancelled` says so.
        """
        until = time.process_time() + limit
        late = False

        def ended() -> bool:
            nonlocal late
            late = late or time.process_time() > until
            return late or cancelled()

        who = "original"
        try:
            with self.records() as store:
                played = Playing(self, store, scene, ended)
                yield played.opening()
                yield from played.original()
                if scene.forget:
                    who = "retrain"
                    yield from played.retrain()
                    for pick in scene.methods:
                        who = pick.id
                        try:
                            yield from played.told(pick.id, played.unlearned(pick))
                        except MucoreError as error:
                            yield {"kind": "error", "who": who, "sentence": str(error)}
                        except Exception as error:  # a defect of one method must not end the others
                            log.exception("%s", pick.id)
                            sentence = f"{catalog.method(pick.id).title} failed: {error}"
                            yield {"kind": "error", "who": who, "sentence": sentence}
                elif scene.methods:
                    raise BadValue(
                        "Nothing is selected, so there is nothing to forget. Select points."
                    )
        except Cancelled:
            if not late:
                raise
            sentence = (
                f"This scene took more than {limit:g} seconds of computing and was ended. Choose "
                "fewer or quicker methods."
            )
            yield {"kind": "error", "who": who, "sentence": sentence}
        except MucoreError as error:
            yield {"kind": "error", "who": "", "sentence": str(error)}
        yield {"kind": "end"}

    @contextmanager
    def records(self) -> Generator[Store]:
        """A store for what trainings record, which goes with the block: some record megabytes a
        scene, and whoever may play could fill the disk with them. It is this folder's own, whatever
        MUCORE_STORE_URL and MUCORE_ARTIFACTS say.
        """
        with (
            tempfile.TemporaryDirectory(dir=self.home) as folder,
            Store(Path(folder), url="sqlite://") as store,
        ):
            yield store


def play(scene: Scene) -> Iterator[Event]:
    """The events of one scene, on a stage of its own (`Stage.play`)."""
    with tempfile.TemporaryDirectory(prefix="mucore-playground-") as home:
        yield from Stage(Path(home)).play(scene)


class Playing:
    """One scene being played: its references, and methods between them."""

    def __init__(self, stage: Stage, store: Store, scene: Scene, cancelled: Callable[[], bool]):
        self.stage, self.scene = stage, scene
        self.callbacks = Callbacks(cancelled=cancelled)
        classes = scene.classes
        names = points.HUES[:classes]
        self.splits = as_splits(f"points-{scene.points}", *scene.drawn, class_names=names)
        self.session = Table(store, self.splits)
        self.spec = self.spec_of("original", {})
        self.data = self._data()
        train = self.session.samples(self.spec, "train")
        self.views = {
            "forget": train[torch.arange(0)] if self.data is None else self.data.forget,
            "retain": train if self.data is None else self.data.retain,
            "test": self.session.samples(self.spec, "test"),
        }
        grid = torch.from_numpy(_grid())[:, :, None, None]
        asked = [each.images.take(each.positions) for each in self.views.values()]
        # all that is asked of a network, in one pass: the grid and then the views
        self.asked = _inputs(train.images, torch.cat([grid, *asked]))
        self.references: dict[str, Look] = {}

    def spec_of(self, method: str, parameters: Mapping[str, Any]) -> RunSpec:
        scene = self.scene
        wanted: dict[str, Any] = {"scenario": None}
        if scene.gone:
            wanted = {"scenario": "class_wise", "scenario_parameters": {"class_ids": scene.gone}}
        elif scene.forget:
            wanted = {"scenario": "ids", "scenario_parameters": {"ids": scene.forget}}
        spec = make_spec(
            dataset=DATASET,
            model=MODEL,
            recipe=make_recipe(PRESET),
            method=method,
            parameters=parameters,
            training_seed=scene.seed,
            unlearning_seed=scene.seed,
            **wanted,
        )
        # the points of a scene are not those of the card: records go by what they are
        return spec.model_copy(update={"data_hash": self.splits.data_hash})

    def _data(self) -> UnlearningData | None:
        if self.spec.scenario is None:
            return None
        self.forget = self.session.forget_set(self.spec, None, self._run(0))
        return self.session.unlearning_data(self.spec, self.forget)

    def _run(self, seed: int) -> Run:
        return self.session.run(self.spec, seed, self.callbacks)

    def opening(self) -> Event:
        train, _, test = self.scene.drawn
        return {
            "kind": "scene",
            "train": table(train),
            "test": table(test),
            "forget": list(self.scene.forget),
            "classes": self.scene.classes,
        }

    def original(self) -> Iterator[Event]:
        spec = self.spec.original()

        def make() -> Trained:
            run = self._run(spec.training_seed)
            run.observer = film = Film(run, FRAMES)
            first = training.initial_model(spec, self.splits, training.init_seed(spec))
            network, _ = training.train_original(spec, run, self.splits)
            return _seen(run, film, first, network)

        self.start = self.stage.trained.get((self.splits.data_hash, self.scene.seed), make)
        yield from self.told("original", self.start)

    def retrain(self) -> Iterator[Event]:
        spec, data = self.spec.retrained(), self.data
        assert data is not None

        def make() -> Trained:
            run = self._run(spec.training_seed)
            first = training.retrain_start(spec, self._run(0), self.splits)
            run.observer = film = Film(run, FRAMES)
            return _seen(run, film, first, training.retrain(spec, run, self.splits, data.retain))

        key = (self.splits.data_hash, self.scene.seed, self.forget.hash)
        yield from self.told("retrain", self.stage.trained.get(key, make))

    def unlearned(
        self, pick: Pick, settings: Mapping[str, Mapping[str, Setting]] = SETTINGS
    ) -> Trained:
        """What a method makes of Original. Raises `BadValue` where it came to nothing."""
        card, data, start = catalog.method(pick.id), self.data, self.start.network
        assert data is not None
        setting = settings.get(card.id, {}).get(self.scene.kind)
        spec = self.spec_of(card.id, {**(setting.parameters if setting else {}), **pick.parameters})
        run = self._run(spec.unlearning_seed)
        run.observer = film = Film(run, FRAMES)
        network = unlearn_recorded(
            spec, self.session, start, self.forget, data, run, self.callbacks
        )
        if run.status == "diverged":
            raise BadValue(f"{card.id} came to nothing here: {run.stop_reason}.")
        return _seen(run, film, start, network)

    def told(self, who: str, trained: Trained) -> Iterator[Event]:
        """The frames of a model, and what became of it."""
        look = None
        for shot in trained.shots:
            if self.callbacks.cancelled is not None and self.callbacks.cancelled():
                raise Cancelled
            look = self.look(shot.network)
            yield {
                "kind": "frame",
                "who": who,
                "step": shot.step,
                "of": trained.shots[-1].step,
                "share": round(shot.share, 4),
                "grid": look.encoded(),
                "numbers": look.numbers,
            }
        assert look is not None
        self.references[who] = look
        other = self.references.get("original" if who == "retrain" else "retrain")
        yield {
            "kind": "done",
            "who": who,
            "seconds": round(trained.seconds, 4),
            "numbers": look.numbers,
            "difference": None if other is None else look.difference(other),
        }

    @torch.no_grad()
    def look(self, network: nn.Module) -> Look:
        said = network.eval()(self.asked).softmax(dim=1).double().numpy()
        grid, *parts = np.split(said, np.cumsum([GRID * GRID, *map(len, self.views.values())])[:-1])
        rows = {
            name: (part, samples.labels.numpy())
            for (name, samples), part in zip(self.views.items(), parts, strict=True)
        }
        return Look(grid, rows["forget"][0], _numbers(rows, self.scene.seed))


@dataclass(frozen=True, eq=False)
class Look:
    """What a network says of the grid (G², C) and of the forgotten points (n, C): probabilities.

    `numbers` are fractions: accuracy on the forget (`fa`), retain (`ra`) and test set (`ta`), and
    `mia`, the share of the forgotten points that the attack on confidence calls unseen; None where
    there is no such set, or the attack only guesses.
    """

    grid: np.ndarray
    forgotten: np.ndarray
    numbers: dict[str, float | None]

    def encoded(self) -> str:
        return base64.b64encode(np.rint(self.grid * 255).astype(np.uint8).tobytes()).decode()

    def difference(self, other: Look) -> dict[str, float]:
        return {
            "mean": _variation(self.grid, other.grid),
            "at_forget": _variation(self.forgotten, other.forgotten),
        }


def _variation(p: np.ndarray, q: np.ndarray) -> float:
    """Mean total variation between rows of probabilities (n, C)."""
    return round(float(np.abs(p - q).sum(axis=1).mean() / 2), 5)


def _numbers(
    rows: Mapping[str, tuple[np.ndarray, np.ndarray]], seed: int
) -> dict[str, float | None]:
    """Of (probabilities, labels) of the forget, retain and test set."""
    found: dict[str, float | None] = {
        number: float(np.mean(said.argmax(axis=1) == labels)) if len(labels) else None
        for number, name in (("fa", "forget"), ("ra", "retain"), ("ta", "test"))
        for said, labels in [rows[name]]
    }
    found["mia"] = None
    if len(rows["forget"][1]):
        attack = run_attack(
            "confidence",
            forget=rows["forget"],
            members=rows["retain"],
            nonmembers=rows["test"],
            cap=len(rows["test"][1]),
            evaluation_seed=seed,
        )
        if not attack_is_blind(attack.attack_accuracy, attack.held_out):
            found["mia"] = attack.efficacy
    return {name: None if value is None else round(value, 4) for name, value in found.items()}


def _grid() -> np.ndarray:
    """The places of a frame, (G², 2) uint8: rows from y = 1 down, columns from x = -1 on."""
    places = np.rint(np.linspace(0, points.PLACES, GRID)).astype(np.uint8)
    x, y = np.meshgrid(places, places[::-1])
    return np.stack([x.ravel(), y.ravel()], axis=1)


def _inputs(images: Images, places: torch.Tensor) -> torch.Tensor:
    """uint8 pixels (n, 2, 1, 1) as a network gets them."""
    return (places.float() / 255 - images.mean) / images.std


def _seen(run: Run, film: Film, first: nn.Module, network: nn.Module) -> Trained:
    return Trained(network, film.shots(first, network), run.cost.seconds)
