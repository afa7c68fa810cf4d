"""Where settings of a method are looked for: the card's `search` under a task, and what a setting
costs before it is run.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mucore import catalog
from mucore.catalog.cards import Among, Between
from mucore.catalog.formulas import evaluate
from mucore.errors import BadValue, MucoreError, install
from mucore.rng import stream_seed
from mucore.runs import complete
from mucore.tuning.objective import WORST

if TYPE_CHECKING:
    import optuna

FORWARD = 1 / 3  # of a sample with a gradient is what one without costs
STARTUP = 8  # trials before the sampler learns from them, the authors' among them
DRAWS = 200  # that must all be tried or cost too much before nothing else is looked for
EDGE = 0.05  # of a range, at either end, counts as its edge
DIGITS = 3  # of a number that is tried: all that a few dozen trials know


def work(forward: float, backward: float) -> float:
    """Gradient samples: a sample that passes without a gradient counts a third."""
    return backward + FORWARD * forward


@dataclass(frozen=True)
class Space:
    """The space of `method`; `facts` are what formulas count with (`formulas.NAMES`), `usual` the
    authors' parameters under the task.
    """

    method: str
    facts: Mapping[str, Any]
    usual: Mapping[str, Any]

    @property
    def search(self) -> Mapping[str, Between | Among]:
        return catalog.method(self.method).search

    def bounds(self, name: str) -> tuple[float, float]:
        """The ends of a range, as numbers."""
        space = self.search[name]
        assert isinstance(space, Between)
        low, high = (
            evaluate(end, self.facts) if isinstance(end, str) else float(end)
            for end in (space.low, space.high)
        )
        if not low <= high or (space.log and low <= 0):
            raise BadValue(
                f"{self.method}: {name} is searched from {low:g} to {high:g}, which is no range "
                "here. Change `search` on its card."
            )
        return low, high

    def searched(self, name: str, values: Mapping[str, Any]) -> bool:
        """Whether a parameter is searched beside `values`, those that come before it."""
        when = self.search[name].when
        return not when or bool(evaluate(when, {**self.facts, **self.usual, **values}))

    def authors(self) -> dict[str, Any]:
        """The authors' values of what is searched."""
        usual = complete(catalog.method(self.method), self.usual)
        found: dict[str, Any] = {}
        for name in self.search:
            if self.searched(name, found):
                found[name] = usual[name]
        return found

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether a setting could have been drawn from this space."""
        asked: list[str] = []
        for name in self.search:
            if self.searched(name, {each: values[each] for each in asked}):
                if name not in values:
                    return False
                asked.append(name)
        return set(asked) == set(values) and all(
            self._contains(name, value) for name, value in values.items()
        )

    def _contains(self, name: str, value: Any) -> bool:
        space = self.search[name]
        if isinstance(space, Among):
            return value in space.values
        low, high = self.bounds(name)
        return isinstance(value, (int, float)) and low <= value <= high

    def predicted(self, values: Mapping[str, Any]) -> float:
        """Gradient samples that a setting takes at least, by the card's formulas; what a stop rule
        may end earlier has to be tried.
        """
        card = catalog.method(self.method)
        known = {**self.facts, **complete(card, {**self.usual, **values})}
        footprint = card.footprint
        return work(evaluate(footprint.forward, known), evaluate(footprint.backward, known))

    def edges(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The parameters whose value lies within `EDGE` of an end of its range, or at an end of
        three numbers or more, as "lr, upper end": there the space may be too narrow.

        An end beyond which the card allows nothing, or which a formula draws, is none.
        """
        cards = {p.name: p for p in catalog.method(self.method).parameters}
        found = []
        for name, value in values.items():
            if name not in self.search or not _is_number(value):
                continue
            low, high, place = self._range(name, float(value))
            for share, end, limit, word in (
                (place, low, cards[name].low, "lower"),
                (1 - place, high, cards[name].high, "upper"),
            ):
                last = isinstance(end, str) or (limit is not None and float(end) == limit)
                if share <= EDGE and not last:
                    found.append(f"{name}, {word} end")
        return tuple(found)

    def _range(self, name: str, value: float) -> tuple[float | str, float | str, float]:
        """The ends of what is searched, as the card has them, and where a value lies, 0 to 1."""
        space = self.search[name]
        if isinstance(space, Among):
            numbers = sorted(each for each in space.values if _is_number(each))
            low, high = (numbers[0], numbers[-1]) if len(numbers) > 2 else (-math.inf, math.inf)
            return low, high, 0.0 if value == low else 1.0 if value == high else 0.5
        low, high = self.bounds(name)
        if space.log:
            value, low, high = (math.log(max(each, 1e-300)) for each in (value, low, high))
        return space.low, space.high, 0.5 if low == high else (value - low) / (high - low)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def draw(
    space: Space, tried: Sequence[tuple[Mapping[str, Any], float]], *, seed: int, most: float
) -> dict[str, Any] | None:
    """The next setting: of the tree-structured Parzen estimator after `STARTUP` trials, at random
    before. Depends on `tried` (settings and their scores, in order), `seed` and nothing else.

    What is predicted to cost more than `most` gradient samples is drawn anew, and so is a setting
    that was tried, for it would teach nothing. For this draw the estimator takes both as bad: it
    would ask for the same again and again, for what never failed it holds to be promising. None
    where `DRAWS` in a row are no other.
    """
    optuna = optimiser()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(
            seed=stream_seed(seed, f"tuning/{space.method}/{len(tried)}") % 2**32,
            n_startup_trials=STARTUP,
            multivariate=True,
            group=True,
        )
    study = optuna.create_study(sampler=sampler)
    for values, score in tried:
        if space.holds(values):  # else from a space that was narrower or wider
            study.add_trial(_as_trial(space, values, score))
    known = [dict(values) for values, _ in tried]
    for _ in range(DRAWS):
        trial = study.ask()
        values: dict[str, Any] = {}
        for name in space.search:
            if space.searched(name, values):
                values[name] = _suggest(trial, space, name)
        if values not in known and space.predicted(values) <= most:
            return values
        if len(tried) < STARTUP:  # drawn at random, which is nothing to learn from
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, WORST)
    return None


def _suggest(trial: optuna.trial.BaseTrial, space: Space, name: str) -> Any:
    found = space.search[name]
    if isinstance(found, Among):
        return found.values[trial.suggest_categorical(name, range(len(found.values)))]
    low, high = space.bounds(name)
    if _whole(space.method, name):
        return trial.suggest_int(name, math.ceil(low), math.floor(high), log=found.log)
    value = trial.suggest_float(name, low, high, log=found.log)
    return min(max(float(f"{value:.{DIGITS}g}"), low), high)


def _as_trial(space: Space, values: Mapping[str, Any], score: float) -> optuna.trial.FrozenTrial:
    """A setting as optuna knows it: categories by their place, for it keeps none that are lists."""
    drawn = dict(values)
    for name, value in values.items():
        if isinstance(found := space.search[name], Among):
            drawn[name] = found.values.index(value)
    trial = optimiser().trial.FixedTrial(drawn)
    for name in values:
        _suggest(trial, space, name)
    return optimiser().trial.create_trial(
        params=drawn, distributions=trial.distributions, value=score
    )


def _whole(method: str, name: str) -> bool:
    return next(p.kind for p in catalog.method(method).parameters if p.name == name) == "int"


def optimiser() -> Any:
    """The package optuna, imported where it is first needed. Raises `MucoreError` without it."""
    try:
        import optuna
    except ImportError:
        raise MucoreError(
            "A search needs the package optuna, which is not installed. It comes with "
            f"{install('tune')}."
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
