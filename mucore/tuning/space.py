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
from mucore.spec import complete
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
    authors' parameters under the task. `recorded` is the card's `search` as a study wrote it down;
    without it, that of the card as it is now counts.
    """

    method: str
    facts: Mapping[str, Any]
    usual: Mapping[str, Any]
    recorded: Mapping[str, Between | Among] | None = None

    @property
    def search(self) -> Mapping[str, Between | Among]:
        return catalog.method(self.method).search if self.recorded is None else self.recorded

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
        seen: dict[str, Any] = {}
        for name, space in self.search.items():
            if self.searched(name, seen) != (name in values):
                return False
            if name not in values:
                continue
            value = seen[name] = values[name]
            if isinstance(space, Among):
                if value not in space.values:
                    return False
            elif not isinstance(value, (int, float)):
                return False
            else:
                low, high = self.bounds(name)
                if not low <= value <= high:
                    return False
        return len(seen) == len(values)

    def predicted(self, values: Mapping[str, Any]) -> float:
        """Gradient samples of a setting by the card's formulas; a bound where the method has a stop
        rule.
        """
        footprint = catalog.method(self.method).footprint
        return work(*self._evaluated(values, footprint.forward, footprint.backward))

    def fits(self, values: Mapping[str, Any], most: float) -> bool:
        """Whether a setting may cost no more than `most` gradient samples. What a stop rule may end
        earlier is not judged by its bound but by what it takes at least: it has to be tried.
        """
        footprint = catalog.method(self.method).footprint
        if footprint.stops:
            (takes,) = self._evaluated(values, footprint.least)
        else:
            takes = self.predicted(values)
        return takes <= most

    def _evaluated(self, values: Mapping[str, Any], *formulas: str) -> list[float]:
        card = catalog.method(self.method)
        known = {**self.facts, **complete(card, {**self.usual, **values})}
        return [evaluate(text, known) for text in formulas]

    def edges(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """The parameters whose value lies within `EDGE` of an end of its range, or at an end of
        three numbers or more, as "lr, upper end": there the space may be too narrow.

        An end beyond which the card allows nothing, or which a formula draws, is none, and what is
        not searched, or was of an earlier card, has none.
        """
        cards = {p.name: p for p in catalog.method(self.method).parameters}
        found = []
        for name, value in values.items():
            space = self.search.get(name)
            if space is None or name not in cards:
                continue
            if not _is_number(value):  # the authors' "none" where numbers are searched
                continue
            if isinstance(space, Among):
                numbers = [each for each in space.values if _is_number(each)]
                if len(numbers) < 3:
                    continue
                low, high, at = min(numbers), max(numbers), float(value)
                place = 0.0 if at == low else 1.0 if at == high else 0.5
                ends: Sequence[float | str] = (low, high)
            else:
                low, high = self.bounds(name)
                ends = (space.low, space.high)
                place = _place(float(value), low, high, space.log)
            for share, end, limit, word in (
                (place, ends[0], cards[name].low, "lower"),
                (1 - place, ends[1], cards[name].high, "upper"),
            ):
                last = isinstance(end, str) or (limit is not None and float(end) == limit)
                if share <= EDGE and not last:
                    found.append(f"{name}, {word} end")
        return tuple(found)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _place(value: float, low: float, high: float, log: bool) -> float:
    """Where a value lies in its range, 0 to 1, the authors' perhaps outside."""
    if low == high:
        return 0.5
    if log and value <= 0:
        return 0.0
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    return (value - low) / (high - low)


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
        if not space.holds(values):  # from a space that was narrower or wider
            continue
        study.add_trial(
            optuna.trial.create_trial(
                params=_as_drawn(space, values),
                distributions={name: _distribution(space, name) for name in values},
                value=score,
            )
        )
    known = [dict(values) for values, _ in tried]
    for _ in range(DRAWS):
        trial = study.ask()
        values: dict[str, Any] = {}
        for name in space.search:
            if space.searched(name, values):
                values[name] = _suggest(trial, space, name)
        if values not in known and space.fits(values, most):
            return values
        if len(tried) < STARTUP:  # drawn at random, which is nothing to learn from
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, WORST)
    return None


def _suggest(trial: optuna.Trial, space: Space, name: str) -> Any:
    found = space.search[name]
    if isinstance(found, Among):
        return found.values[trial.suggest_categorical(name, range(len(found.values)))]
    low, high = space.bounds(name)
    if _whole(space.method, name):
        return trial.suggest_int(name, math.ceil(low), math.floor(high), log=found.log)
    value = trial.suggest_float(name, low, high, log=found.log)
    return min(max(float(f"{value:.{DIGITS}g}"), low), high)


def _distribution(space: Space, name: str) -> Any:
    optuna, found = optimiser(), space.search[name]
    if isinstance(found, Among):
        return optuna.distributions.CategoricalDistribution(range(len(found.values)))
    low, high = space.bounds(name)
    if _whole(space.method, name):
        return optuna.distributions.IntDistribution(math.ceil(low), math.floor(high), log=found.log)
    return optuna.distributions.FloatDistribution(low, high, log=found.log)


def _as_drawn(space: Space, values: Mapping[str, Any]) -> dict[str, Any]:
    """Categories by their place, for optuna keeps none that are lists."""
    drawn = {}
    for name, value in values.items():
        found = space.search[name]
        drawn[name] = found.values.index(value) if isinstance(found, Among) else value
    return drawn


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
