"""What happened to one method, in one word: a pure function of its numbers, those of the original
and of Retrain on the same training seeds.

The words: it `forgot`, `too little` or `too much`, it was `damaged`, or it `did nothing`; or there
was `nothing to forget`, and where numbers are missing one `cannot tell`. A word follows from the
means over seeds. It is *shown* where the interval of the mean lies wholly on the word's side of its
boundary (two one-sided tests at 5 %, Schuirmann 1987), and an indication elsewhere. The rule is
ours; its limits stand here, each with its reason. Values are fractions in 0..1.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import Final, Literal, NamedTuple, Protocol, TypeVar, get_args

import numpy as np
import scipy  # its parts load when they are named

from mucore.metrics.sanity import unfit

Word = Literal[
    "forgot", "too little", "too much", "damaged", "did nothing", "nothing to forget", "cannot tell"
]
WORDS: Final[tuple[Word, ...]] = get_args(Word)
# the words that may be shown; the other two say why there is none of these
JUDGED: Final[frozenset[Word]] = frozenset(WORDS[:5])
# What a method that forgot has before the last layer; "" where it was not measured.
Features = Literal["", "agree", "still know it"]

# raised when the rule can give another word for the same numbers; verdicts are never stored
VERDICT_REVISION: Final = 3
# results that finished before were read by another revision
VERDICT_SINCE: Final = datetime(2026, 11, 28, 16, tzinfo=UTC)
# The margin of a metric: so much of the way from Original to Retrain is close enough, for one
# decides on the other four fifths ...
MARGIN: Final = 0.2
# ... but never more than a careful reader lets pass: a fifth of a whole class is 20 points.
# Attacks scatter more than accuracies do.
WIDEST_ACCURACY: Final = 0.03
WIDEST_ATTACK: Final = 0.05
# ... nor less than 0.2 points, where Original and Retrain all but agree
NARROWEST: Final = 0.002
UNMOVED: Final = 0.1  # of that way and less counts as not having moved
DAMAGE: Final = 0.03  # of what Retrain has above chance: a loss that a user would notice
FEWEST: Final = 3  # seeds that say something about their spread: of two, t would be 6.3
LEVEL: Final = 0.95  # of each of the two one-sided tests
MOST_SEEDS: Final = 50  # more than these are not promised to decide anything

# the forgetting metric that drops out where its attack only guesses
BLINDABLE: Final = "mia_confidence"
ATTACKS: Final = frozenset({BLINDABLE, "forgetting_score"})
PROBE: Final = "linear_probe"  # what the features still know, asked where a method forgot
# 1 where the features of the forget set are still the original's: a probe is good at many classes
# that a network has never seen, so it often finds no fault with these
KEPT: Final = "cka_original_forget"
BESIDE: Final = (PROBE, KEPT, "asr")  # said beside a verdict, never decide one
SIGNATURE: Final = 0.05  # attack success of Retrain from which a rate of exactly 0 stands out

NAMES: Final = {
    "fa": "forget accuracy",
    "tfa": "test accuracy on the forgotten classes",
    "ra": "retain accuracy",
    "ta": "test accuracy",
    "tra": "test accuracy on the remaining classes",
    "fa_true": "accuracy on the true labels of the poisoned samples",
    "mia_confidence": "the share of the forget set that the membership attack calls unseen",
    "forgetting_score": "the forgetting score",
    "linear_probe": "the linear probe",
    "cka_original_forget": "the likeness of its features to the original's",
}
_ATTACKED: Final = {"fa": "agreement with the attacker's labels"}


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Which numbers decide under a scenario. `chance` is the accuracy of guessing, in 0..1."""

    forgetting: tuple[str, ...]
    utility: tuple[str, ...]
    chance: float = 0.0
    poisoned: bool = False

    @property
    def metrics(self) -> tuple[str, ...]:
        return (*self.utility, *self.forgetting)

    def name(self, metric: str) -> str:
        return (_ATTACKED if self.poisoned else {}).get(metric) or NAMES[metric]


class Chance(NamedTuple):
    """What chance leaves open in a mean of differences, one a training seed: half its 90 %
    interval, and the standard deviation over seeds.
    """

    half: float
    deviation: float


@dataclass(frozen=True, kw_only=True)
class Spread:
    """How far one Retrain lies from another by chance in one metric: the standard deviation over
    `seeds` training seeds, of fewer than three the standard error of an accuracy.
    """

    deviation: float
    seeds: int

    @classmethod
    def of(cls, retrains: Sequence[float], *, samples: int) -> Spread:
        m, n = len(retrains), max(samples, 1)
        if m >= FEWEST:
            return cls(deviation=float(np.std(retrains, ddof=1)), seeds=m)
        # kept 1/(2n) off 0 and 1, where the formula would promise certainty
        p = min(max(statistics.fmean(retrains), 1 / (2 * n)), 1 - 1 / (2 * n))
        return cls(deviation=math.sqrt(p * (1 - p) / n), seeds=m)

    def quantile(self, level: float) -> float:
        """Student's, or the normal one where no seeds say the deviation."""
        return _quantile(level, self.seeds - 1 if self.seeds >= FEWEST else math.inf)

    @property
    def band(self) -> float:
        """Two Retrains lie nearer to each other in 95 % of cases; at least 0.2 points."""
        return max(self.quantile(0.975) * math.sqrt(2) * self.deviation, NARROWEST)

    def chance(self, differences: Sequence[float]) -> Chance:
        """By three or more seeds themselves, of fewer by how far two Retrains lie apart."""
        if (n := len(differences)) >= FEWEST:
            s = statistics.stdev(differences)
            return Chance(_quantile(LEVEL, n - 1) * s / math.sqrt(n), s)
        half = self.quantile(LEVEL) * math.sqrt(1 + 1 / n) * self.deviation
        return Chance(half, math.sqrt(2) * self.deviation)


@dataclass(frozen=True, kw_only=True)
class Check:
    """One metric of one line, as the rule saw it: means over the line's seeds, and what chance
    leaves open in their differences.
    """

    metric: str
    value: float
    original: float
    retrain: float
    margin: float  # how far from Retrain is close enough
    gap: Chance  # in value − retrain
    way: Chance  # in original − retrain
    moved: Chance  # in value − original
    one_sided: bool = False  # to go beyond Retrain is no fault

    @property
    def resolvable(self) -> bool:
        """Whether Original and Retrain differ at all, as far as these seeds tell."""
        return abs(self.original - self.retrain) > self.way.half

    @property
    def excess(self) -> float:
        """Signed distance to Retrain: above 0 on the original's side (short), below 0 beyond
        Retrain, or away from both where these do not differ.
        """
        gap = self.value - self.retrain
        return (
            math.copysign(1.0, self.original - self.retrain) * gap if self.resolvable else -abs(gap)
        )

    @property
    def share(self) -> float:
        """How much of the margin is used up; more than 1 is too far."""
        return (self.excess if self.one_sided else abs(self.excess)) / self.margin

    @property
    def progress(self) -> float | None:
        """0 is the original, 1 Retrain; None where the two are equal."""
        way = self.retrain - self.original
        return (self.value - self.original) / way if way else None

    @property
    def unmoved(self) -> float:
        """How much nearer the original is than where moving begins."""
        return UNMOVED * abs(self.original - self.retrain) - abs(self.value - self.original)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One word with its reason. `metric` decided ("" where none did); `shown` words are what the
    seeds show, the others an indication that `needed` seeds would decide at the present spread
    (None: more than fifty, or nobody knows).
    """

    word: Word
    metric: str
    shown: bool
    sentence: str = ""
    checks: tuple[Check, ...] = ()
    retrains: int = 0  # training seeds of Retrain behind the spread
    seeds: int = 1  # training seeds of the method
    needed: int | None = None
    features: Features = ""
    cheats: bool = False  # of a method that is there to show what metrics overlook

    @property
    def provisional(self) -> bool:
        """Whether the word is an indication: more seeds may change it."""
        return self.word in JUDGED and not self.shown

    @property
    def qualified(self) -> bool:
        """Whether the numbers let the line compete for "nearest", "best" or "cheapest", behind all
        that are shown to have forgotten; `Judged.qualified` asks its runs as well.
        """
        return self.word == "forgot" and not self.cheats

    @property
    def on_outputs(self) -> bool:
        """Whether its features still know what its outputs forgot."""
        return self.features == "still know it"

    @property
    def order(self) -> int:
        """Among those that qualify: shown ones first, of each those whose features agree."""
        return 2 * (not self.shown) + self.on_outputs

    @property
    def said(self) -> str:
        """The word as people read it, with what it must not be read without: "forgot on outputs"
        where the features still know it.
        """
        return f"{self.word} on outputs" if self.on_outputs else self.word

    def content(self) -> dict[str, object]:
        """As JSON has it."""
        return {
            "word": self.word,
            "shown": self.shown,
            "provisional": self.provisional,
            "sentence": self.sentence,
            "metric": self.metric or None,
            "seeds_needed": self.needed,
        }


class Judgement(Protocol):
    """What has a verdict, or none."""

    @property
    def verdict(self) -> Verdict | None: ...


T = TypeVar("T", bound=Judgement)


def leading(forgot: Iterable[T]) -> list[T]:
    """Which of those that qualify compete for "nearest", "best" and "cheapest": those that are
    shown to have forgotten, where none is all of them; and of these the ones whose features do not
    know it still, where any do not.
    """
    found = [(each, each.verdict.order) for each in forgot if each.verdict is not None]
    first = min((place for _, place in found), default=0)
    return [each for each, place in found if place == first]


def nearest(forgot: Iterable[T], away: Callable[[T], float | None]) -> list[T]:
    """Those of `leading` by their distance to Retrain, `away`, the least first: the one order by
    which a method is called nearest. Without one that has no distance.
    """
    found = [(distance, each) for each in leading(forgot) if (distance := away(each)) is not None]
    return [each for _, each in sorted(found, key=lambda pair: pair[0])]


@dataclass(frozen=True, kw_only=True)
class Line:
    """What is judged: the numbers of a method, of the original and of Retrain, by metric, one a
    training seed and in the same order.

    A metric that is missing or not finite somewhere counts as missing, and one that decides and
    that the method lacks on some seeds alone leaves the line without a word. `blind` says that the
    membership attack only guessed, `collapsed` that a network gives nearly everything one class
    where Retrain does not, `cheats` that the method is a baseline that hides what it should forget.
    """

    values: Mapping[str, Sequence[float]]
    original: Mapping[str, Sequence[float]]
    retrain: Mapping[str, Sequence[float]]
    blind: bool = False
    collapsed: bool = False
    cheats: bool = False

    @cached_property
    def seeds(self) -> int:
        return max((len(each) for each in self.values.values()), default=0)

    def has(self, metric: str) -> bool:
        """Whether each seed has a finite number of it, of all three."""
        parts = (self.values, self.original, self.retrain)
        return self.seeds > 0 and all(
            len(part.get(metric, ())) == self.seeds and all(map(math.isfinite, part[metric]))
            for part in parts
        )

    def heard(self, metric: str) -> bool:
        return self.has(metric) and not (metric == BLINDABLE and self.blind)


def verdict(line: Line, spreads: Mapping[str, Spread], rules: Rules) -> Verdict:
    """`decide` with its sentence."""
    found = decide(line, spreads, rules)
    said = missing(line, rules) if found.word == "cannot tell" else say(found, line, rules)
    return replace(found, sentence=said)


def decide(line: Line, spreads: Mapping[str, Spread], rules: Rules) -> Verdict:
    """The word of a line's means over seeds, and whether it is shown."""
    if missing(line, rules):
        return Verdict(
            word="cannot tell", metric="", shown=False, seeds=line.seeds, cheats=line.cheats
        )
    forgetting, utility = (
        [check(name, line, spreads[name], rules) for name in names if line.heard(name)]
        for names in (rules.forgetting, rules.utility)
    )
    word, decisive, rooms = _word(forgetting, utility, line.collapsed)
    shown = word in JUDGED and all(room > chance.half for room, chance in rooms)
    return Verdict(
        word=word,
        metric=decisive.metric if word in JUDGED else "",
        shown=shown,
        checks=tuple(forgetting),
        retrains=min(spreads[each.metric].seeds for each in (*forgetting, *utility)),
        seeds=line.seeds,
        needed=None if shown else _needed(rooms),
        features=_features(line, spreads) if word == "forgot" else "",
        cheats=line.cheats,
    )


def check(metric: str, line: Line, spread: Spread, rules: Rules) -> Check:
    """One metric of a line, with its margin: that of searches, too (mucore/tuning/objective.py)."""
    mine, original, retrain = (part[metric] for part in (line.values, line.original, line.retrain))
    gap, way, moved = (
        spread.chance([one - other for one, other in zip(*pair, strict=True)])
        for pair in ((mine, retrain), (original, retrain), (mine, original))
    )
    distance = abs(_mean(original) - _mean(retrain))
    if metric in rules.utility:
        margin = max(DAMAGE * (_mean(retrain) - rules.chance), NARROWEST)
    else:
        margin = WIDEST_ATTACK if metric in ATTACKS else WIDEST_ACCURACY
        if distance > way.half:  # else there is no way to take a fifth of
            margin = min(max(MARGIN * distance, NARROWEST), margin)
    return Check(
        metric=metric,
        value=_mean(mine),
        original=_mean(original),
        retrain=_mean(retrain),
        margin=margin,
        gap=gap,
        way=way,
        moved=moved,
        one_sided=rules.poisoned,
    )


def _word(
    forgetting: Sequence[Check], utility: Sequence[Check], collapsed: bool
) -> tuple[Word, Check, list[tuple[float, Chance]]]:
    """The first of the rule's steps that says something, the metric that decides, and how far each
    mean that counts lies on the word's side of its boundary.
    """
    placed = [each for each in forgetting if each.resolvable]
    still = bool(placed) and all(each.unmoved > 0 for each in placed)
    lost = max(utility, key=lambda each: (each.retrain - each.value) / each.margin)
    beyond = lost.retrain - lost.value - lost.margin
    # a network as useful as its original was not damaged by the method: poison did that before
    kept = all(each.original - each.value <= each.margin for each in utility)
    if (collapsed or beyond > 0) and not (still and kept):
        # a collapse is seen, not estimated
        return "damaged", lost, [] if collapsed else [(beyond, lost.gap)]
    if not placed:
        return "nothing to forget", forgetting[0], []
    if still:
        return "did nothing", placed[0], [(each.unmoved, each.moved) for each in placed]
    worst = max(forgetting, key=lambda each: each.share)
    room = (1 - worst.share) * worst.margin
    if room < 0:
        return "too little" if worst.excess > 0 else "too much", worst, [(-room, worst.gap)]
    rooms = [((1 - each.share) * each.margin, each.gap) for each in forgetting]
    rooms += [(each.margin + each.value - each.retrain, each.gap) for each in utility]
    return "forgot", worst, rooms


def _needed(rooms: Sequence[tuple[float, Chance]]) -> int | None:
    """The fewest seeds at which each interval would end before its boundary."""
    for n in range(FEWEST, MOST_SEEDS + 1) if rooms else ():
        part = _quantile(LEVEL, n - 1) / math.sqrt(n)
        if all(room > part * chance.deviation for room, chance in rooms):
            return n
    return None


def _features(line: Line, spreads: Mapping[str, Spread]) -> Features:
    """What the features say of a line that forgot by its outputs."""
    probe: Features = ""
    if line.has(PROBE):
        mine, original, retrain = (
            _mean(part[PROBE]) for part in (line.values, line.original, line.retrain)
        )
        # more than Retrain's do, whatever the original's did: a few test samples decide little
        allowed = max(spreads[PROBE].band, 0.1 * abs(original - retrain))
        probe = "still know it" if mine - retrain > allowed else "agree"
    if probe != "still know it" and line.has(KEPT):
        # both are measured against the original of one seed, so no spread comes in: how far the
        # features went is asked, not how near to another Retrain's
        moved, retrain = (1 - _mean(part[KEPT]) for part in (line.values, line.retrain))
        if retrain > NARROWEST and moved < UNMOVED * retrain:
            return "still know it"
    return probe


def missing(line: Line, rules: Rules) -> str:
    """Why nothing can be said at all; "" if something can."""
    if not any(map(len, line.retrain.values())):
        return "There is no Retrain of this training seed to compare with."
    if not any(map(len, line.original.values())):
        return "The numbers of the original of this training seed are missing."
    parts = (line.original, line.retrain)
    if said := unfit(*(_mean([*part.get("ra", ())] or [math.nan]) for part in parts)):
        return said
    for name in rules.metrics:
        compared = all(
            _finite(part.get(name, ())) == line.seeds for part in (line.original, line.retrain)
        )
        count = _finite(line.values.get(name, ()))
        if compared and 0 < count < line.seeds and not (name == BLINDABLE and line.blind):
            return f"{_upper(rules.name(name))} has no finite number on some training seeds."
    for names, what in ((rules.forgetting, "forgetting"), (rules.utility, "accuracy")):
        if not any(map(line.heard, names)):
            return f"No number on {what} is finite for the method, the original and Retrain alike."
    return ""


def say(found: Verdict, line: Line, rules: Rules) -> str:
    """The numbers behind the word, and what it must not be read without."""
    if not found.metric:  # nothing to forget
        name = found.checks[0].metric
        before, after = (_percent(_mean(part[name])) for part in (line.original, line.retrain))
        told = f"{_upper(rules.name(name))}: {before} for the original, {after} for Retrain"
        return f"{told}, no further apart than by chance."
    value, retrain = (_percent(_mean(part[found.metric])) for part in (line.values, line.retrain))
    said = [f"{_upper(rules.name(found.metric))}: {value}, Retrain's is {retrain}."]
    if found.word == "damaged" and line.collapsed:
        said.append("The model gives nearly every sample the same class.")
    if found.on_outputs:
        said.append("Its features still know what its outputs forgot.")
    elif found.word == "forgot" and not found.features:
        said.append("No linear probe looked at its features.")
    if found.word == "forgot" and _signature(line):
        said.append("It never gives the attacker's class, which Retrain does by chance.")
    if found.word in JUDGED and found.seeds < FEWEST:
        source = "how far two Retrains lie apart" if found.retrains >= FEWEST else "samples alone"
        said.append(f"Chance is judged by {source}, for want of seeds.")
    if found.provisional:
        seeds = f"more than {MOST_SEEDS}" if found.needed is None else str(found.needed)
        said.append(f"At this spread {seeds} seeds would decide.")
    return " ".join(said)


def _signature(line: Line) -> bool:
    """A triggered rate of exactly 0 where Retrain's is not: that, too, tells the network apart."""
    mine, retrain = (part.get("asr", ()) for part in (line.values, line.retrain))
    return bool(len(mine) and len(retrain)) and _mean(mine) == 0 and _mean(retrain) >= SIGNATURE


@cache
def _quantile(level: float, freedom: float) -> float:
    return float(scipy.special.stdtrit(freedom, level))


def _finite(numbers: Iterable[float]) -> int:
    return sum(map(math.isfinite, numbers))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
