"""What happened to one method, in one word: a pure function of its numbers, those of the original
and of Retrain, and the noise of both.

The words: it `forgot`, `too little` or `too much`, it was `damaged`, or it `did nothing`; where
that cannot be said, there was `nothing to forget`, or one `cannot tell`. The rule is ours; its
limits stand here, each with its reason. Values are fractions in 0..1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal, get_args

import numpy as np
import scipy  # its parts load when they are named

Word = Literal[
    "forgot", "too little", "too much", "damaged", "did nothing", "nothing to forget", "cannot tell"
]
WORDS: Final[tuple[Word, ...]] = get_args(Word)
# What a method that forgot has before the last layer; "" where it was not measured.
Features = Literal["", "agree", "still know it"]
# what may be called best, nearest or cheapest
QUALIFIED: Final[frozenset[Word]] = frozenset({"forgot"})

# raised when the rule can give another word for the same numbers; verdicts are never stored
VERDICT_REVISION: Final = 2
# 0.2 points: where all Retrains agree (on training data, say), any difference at all would decide
SMALLEST_BAND: Final = 0.002
FEWEST_RETRAINS: Final = 3  # two say nothing about a spread: t would be 12.7
# bands between original and Retrain from which on a method in between can be placed
RESOLVABLE: Final = 2.0
# of the way from original to Retrain counts as arrived, for one decides on the other nine tenths
TOLERATED: Final = 0.1
UNMOVED: Final = 0.1  # of that way and less counts as not having moved
DAMAGE: Final = 0.03  # of what Retrain has above chance: a loss that a user would notice

# the forgetting metric that drops out where its attack only guesses
BLINDABLE: Final = "mia_confidence"
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


@dataclass(frozen=True, kw_only=True)
class Band:
    """How far apart two Retrains come out by chance, in 0..1; `seeds` Retrains say so, or, below
    three, the number of samples alone.
    """

    half: float
    seeds: int


@dataclass(frozen=True, kw_only=True)
class Check:
    """One forgetting metric of one line, as the rule saw it."""

    metric: str
    value: float
    original: float
    retrain: float
    band: float
    tolerance: float  # how far from Retrain still counts as there
    # whether original and Retrain are far enough apart to place anything between them
    resolvable: bool
    progress: float | None  # 0 is the original, 1 Retrain; None where the two are equal
    # signed distance to Retrain: above 0 on the original's side (short), below 0 beyond Retrain
    # (over)
    excess: float

    @property
    def share(self) -> float:
        """`excess` in tolerances: above 1 short of Retrain, below −1 beyond it."""
        return self.excess / self.tolerance


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One word with its reason. `metric` decided ("" where none did); `provisional` words may
    change with more seeds.
    """

    word: Word
    metric: str
    sentence: str
    provisional: bool
    checks: tuple[Check, ...] = ()
    retrains: int = 0  # training seeds of Retrain behind the band
    seeds: int = 1  # training seeds of the method
    agreeing: int = 1  # of these, how many have the same word by themselves
    other: Word | None = None  # a word that the interval over seeds allows as well
    features: Features = ""
    cheats: bool = False  # of a method that is there to show what metrics overlook

    @property
    def qualified(self) -> bool:
        """Whether the numbers let the line compete for "nearest", "best" or "cheapest";
        `Judged.qualified` asks its runs as well.
        """
        return self.word in QUALIFIED and not self.cheats

    @property
    def on_outputs(self) -> bool:
        """Whether its features still know what its outputs forgot."""
        return self.features == "still know it"

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
            "sentence": self.sentence,
            "metric": self.metric or None,
            "provisional": self.provisional,
        }


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


def seed_band(retrains: Sequence[float], *, value: float, samples: int) -> Band:
    """The band of a metric: t(0.975, m − 1) · √2 · s over m Retrains of different seeds, from three
    on.

    Below that 1.96 · √(2p(1 − p)/n) for two networks of accuracy p = `value` on n = `samples`
    samples, p kept 1/(2n) off 0 and 1.
    """
    m = len(retrains)
    if m >= FEWEST_RETRAINS:
        quantile = float(scipy.special.stdtrit(m - 1, 0.975))
        half = quantile * math.sqrt(2) * float(np.std(retrains, ddof=1))
    else:
        n = max(samples, 1)
        p = min(max(value, 1 / (2 * n)), 1 - 1 / (2 * n))
        half = 1.96 * math.sqrt(2 * p * (1 - p) / n)
    return Band(half=max(half, SMALLEST_BAND), seeds=m)


def verdict(line: Line, bands: Mapping[str, Band], rules: Rules) -> Verdict:
    """The word of the means over seeds, with how many seeds agree and what else their 95 % interval
    allows.
    """
    missing = _missing(line, bands, rules)
    if missing:
        return Verdict(
            word="cannot tell",
            metric="",
            sentence=missing,
            provisional=False,
            seeds=line.seeds,
            cheats=line.cheats,
        )
    known = _known(line, rules)
    case = _of_means(line, known, bands, rules)
    found = _decide(case)
    seeds, retrains = (
        line.seeds,
        # of those that decide: what is said beside the word makes it no less certain
        min(
            (bands[name].seeds for name in rules.metrics if name in known and name in bands),
            default=0,
        ),
    )
    alone = [
        _decide(
            replace(
                case,
                values={name: line.values[name][seed] for name in known},
                original={name: line.original[name][seed] for name in known},
                retrain={name: line.retrain[name][seed] for name in known},
            )
        ).word
        for seed in range(seeds)
    ]
    other = next((word for word in _within(case, _halves(line, known)) if word != found.word), None)
    few = retrains < FEWEST_RETRAINS or seeds < 2
    return replace(
        found,
        sentence=_with_seeds(
            found, seeds=seeds, agreeing=alone.count(found.word), other=other, few=few
        ),
        provisional=few or other is not None or (found.word == "forgot" and bool(case.unheard)),
        retrains=retrains,
        seeds=seeds,
        agreeing=alone.count(found.word),
        other=other,
        cheats=line.cheats,
    )


def word(line: Line, bands: Mapping[str, Band], rules: Rules) -> Word:
    """The word of `verdict` alone, in a tenth of its time."""
    if _missing(line, bands, rules):
        return "cannot tell"
    return _decide(_of_means(line, _known(line, rules), bands, rules)).word


def _known(line: Line, rules: Rules) -> list[str]:
    return [name for name in (*rules.metrics, *BESIDE) if _complete(line, name)]


@dataclass(frozen=True)
class _Case:
    values: Mapping[str, float]
    original: Mapping[str, float]
    retrain: Mapping[str, float]
    bands: Mapping[str, Band]
    rules: Rules
    blind: bool = False
    collapsed: bool = False
    checks: tuple[Check, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = [
            name
            for name in self.rules.forgetting
            if name in self.values and not (name == BLINDABLE and self.blind)
        ]
        object.__setattr__(self, "checks", tuple(self.check(name) for name in names))

    def check(self, metric: str) -> Check:
        value, original, retrain = self.values[metric], self.original[metric], self.retrain[metric]
        band, distance = self.bands[metric].half, abs(original - retrain)
        return Check(
            metric=metric,
            value=value,
            original=original,
            retrain=retrain,
            band=band,
            tolerance=max(band, TOLERATED * distance),
            resolvable=distance > RESOLVABLE * band,
            progress=(value - original) / (retrain - original) if distance else None,
            excess=math.copysign(1.0, original - retrain) * (value - retrain),
        )

    @property
    def unheard(self) -> list[Check]:
        """What would speak against "forgot" if more Retrains made its band narrower."""
        return [each for each in self.checks if not each.resolvable and abs(each.share) > 1]

    @property
    def astray(self) -> Check | None:
        """The first that the method moved though it should have left it as it is, where Original
        and Retrain agree.
        """
        return next((each for each in self.checks if abs(each.share) > RESOLVABLE), None)

    @property
    def useful(self) -> list[str]:
        return [name for name in self.rules.utility if name in self.values]

    def tolerated(self, metric: str) -> float:
        """How much utility may be lost against Retrain."""
        return max(self.bands[metric].half, DAMAGE * (self.retrain[metric] - self.rules.chance))


def _of_means(line: Line, known: Sequence[str], bands: Mapping[str, Band], rules: Rules) -> _Case:
    values, original, retrain = (
        {name: _mean(part[name]) for name in known}
        for part in (line.values, line.original, line.retrain)
    )
    return _Case(values, original, retrain, bands, rules, line.blind, line.collapsed)


def _missing(line: Line, bands: Mapping[str, Band], rules: Rules) -> str:
    """Why nothing can be said at all; "" if something can."""
    if not any(len(each) for each in line.retrain.values()):
        return "There is no Retrain of this training seed to compare with."
    if not any(len(each) for each in line.original.values()):
        return "The numbers of the original of this training seed are missing."
    for name in rules.metrics:
        compared = all(
            _finite(part.get(name, ())) == line.seeds for part in (line.original, line.retrain)
        )
        count = _finite(line.values.get(name, ()))
        if compared and 0 < count < line.seeds and not (name == BLINDABLE and line.blind):
            return (
                f"{_upper(rules.name(name))} has no finite number on {line.seeds - count} of the "
                f"method's {line.seeds} training seeds."
            )
    for names, what in ((rules.forgetting, "forgetting"), (rules.utility, "accuracy")):
        if not any(
            _complete(line, name) and name in bands and not (name == BLINDABLE and line.blind)
            for name in names
        ):
            return f"No number on {what} is finite for the method, the original and Retrain alike."
    return ""


def _finite(numbers: Sequence[float]) -> int:
    return sum(map(math.isfinite, numbers))


def _complete(line: Line, metric: str) -> bool:
    seeds = line.seeds
    for part in (line.values, line.original, line.retrain):
        numbers = part.get(metric, ())
        if len(numbers) != seeds or not all(map(math.isfinite, numbers)):
            return False
    return seeds > 0


def _mean(values: Sequence[float]) -> float:
    # as `np.mean`, to the last bit, which takes twice the time for a handful
    return float(np.add.reduce(values) / len(values))


def _decide(case: _Case) -> Verdict:
    """The first of the rule's steps that says something."""
    word, metric, sentence = _forgetting(case)
    if (damage := _damage(case)) is not None and not (
        word == "did nothing" and _kept_as_it_was(case)
    ):
        lost, reason = damage
        beside = (
            f" As for forgetting: {word}. {sentence}"
            if word not in ("nothing to forget", "cannot tell")
            else ""
        )
        return Verdict(
            word="damaged",
            metric=lost,
            sentence=reason + beside,
            provisional=False,
            checks=case.checks,
        )
    moved = word == "nothing to forget" and case.astray is not None
    kept = (
        f" Accuracy{' on other samples' * moved} is kept."
        if word in ("forgot", "nothing to forget")
        else ""
    )
    return Verdict(
        word=word,
        metric=metric,
        sentence=sentence + kept,
        provisional=False,
        checks=case.checks,
        features=_features(case)[0] if word == "forgot" else "",
    )


def _damage(case: _Case) -> tuple[str, str] | None:
    """The utility metric that lost most beyond what is tolerated, and a sentence."""
    losses = {
        name: (case.retrain[name] - case.values[name]) / case.tolerated(name)
        for name in case.useful
    }
    worst = max(losses, key=losses.__getitem__)
    if losses[worst] > 1:
        gap = case.retrain[worst] - case.values[worst]
        name = _upper(case.rules.name(worst))
        said = (
            f"{name} is {_percent(case.values[worst])}, {_points(gap)} below Retrain's "
            f"{_percent(case.retrain[worst])}"
        )
        if _kept_as_it_was(case):  # poison had made the original worse than Retrain
            said += f"; the original's is {_percent(case.original[worst])}"
        return worst, f"{said}."
    if case.collapsed:
        return worst, "The model collapsed: it gives nearly every sample the same class."
    return None


def _kept_as_it_was(case: _Case) -> bool:
    """A network that is as useful as the original was not damaged by the method; poison may have
    made the original worse than Retrain.
    """
    return not any(
        case.original[name] - case.values[name] > case.bands[name].half for name in case.useful
    )


def _forgetting(case: _Case) -> tuple[Word, str, str]:
    """The word on forgetting alone, the metric that decides, and a sentence."""
    checks = [each for each in case.checks if each.resolvable]
    first = case.checks[0]
    name = case.rules.name(first.metric)
    if not checks:
        if all(abs(each.original - each.retrain) <= each.band for each in case.checks):
            said = (
                f"{_upper(name)} is {_percent(first.original)} for the original and "
                f"{_percent(first.retrain)} for Retrain"
            )
            said += ", so forgetting these samples cannot be seen."
            if (far := case.astray) is not None:
                said += (
                    f" But the method moved away from both: {case.rules.name(far.metric)} is "
                    f"{_percent(far.value)} for it, {_percent(far.retrain)} for Retrain."
                )
            return "nothing to forget", "", said
        each = max(case.checks, key=lambda each: abs(each.original - each.retrain) / each.band)
        apart = (
            f"Original and Retrain are {_points(abs(each.original - each.retrain))} apart in "
            f"{case.rules.name(each.metric)}"
        )
        return (
            "cannot tell",
            each.metric,
            (
                f"{apart}, where two Retrains may differ by {_points(each.band)}: only more seeds "
                "of Retrain could tell."
            ),
        )
    if all(abs(each.progress or 0.0) < UNMOVED for each in checks):
        each = checks[0]
        before, after = _percent(each.original), _percent(each.value)
        moved = f"stayed at {after}" if before == after else f"went from {before} to {after}"
        return (
            "did nothing",
            each.metric,
            (
                f"{_upper(case.rules.name(each.metric))} {moved}; Retrain's is "
                f"{_percent(each.retrain)}."
            ),
        )
    off = {each.metric: each for each in checks if abs(each.share) > 1}
    if case.rules.poisoned and not any(each.share > 1 for each in off.values()):
        off = {}  # to follow the attacker even less than Retrain does is no fault
    if not off:
        return _forgot(case, checks)
    worst = max(off.values(), key=lambda each: abs(each.share))
    word: Word = "too little" if worst.excess > 0 else "too much"
    side = "above" if worst.value > worst.retrain else "below"
    said = (
        f"{_upper(case.rules.name(worst.metric))} is {_percent(worst.value)}, "
        f"{_points(abs(worst.excess))} {side} Retrain's {_percent(worst.retrain)}."
    )
    opposite = [each for each in off.values() if (each.excess > 0) != (worst.excess > 0)]
    if opposite:
        said += (
            f" Mixed: {case.rules.name(opposite[0].metric)} says "
            f"{'too little' if opposite[0].excess > 0 else 'too much'}."
        )
    return word, worst.metric, said


def _forgot(case: _Case, checks: Sequence[Check]) -> tuple[Word, str, str]:
    worst = max(checks, key=lambda each: abs(each.share))
    said = (
        f"{_upper(case.rules.name(worst.metric))} is {_percent(worst.value)}, Retrain's "
        f"{_percent(worst.retrain)}."
    )
    for each in case.unheard:
        said += (
            f" {_upper(case.rules.name(each.metric))}, {_percent(each.value)} where Retrain has "
            f"{_percent(each.retrain)}, does not count: the original is too near to Retrain in it."
        )
    said += _features(case)[1]
    if case.values.get("asr") == 0.0 and case.retrain.get("asr", 0.0) >= SIGNATURE:
        said += (
            " It never gives the attacker's class under the trigger, while Retrain does so by "
            f"chance in {_percent(case.retrain['asr'])} of cases: a signature of its own."
        )
    return "forgot", worst.metric, said


def _features(case: _Case) -> tuple[Features, str]:
    """What the features say of a line that forgot by its outputs, and a sentence."""
    still = " That goes by its outputs; its features still know it: "
    probe = case.check(PROBE) if PROBE in case.values and PROBE in case.bands else None
    # more than Retrain's do, whatever the original's did: a few test samples decide little
    if probe is not None and probe.value - probe.retrain > probe.tolerance:
        return "still know it", (
            f"{still}a linear probe on its features finds {_percent(probe.value)}, on Retrain's "
            f"{_percent(probe.retrain)}."
        )
    if KEPT in case.values:
        # both are measured against the original of one seed, so no band comes in: how far the
        # features went is asked, not how near to another Retrain's
        moved, retrain = 1 - case.values[KEPT], 1 - case.retrain[KEPT]
        if retrain > SMALLEST_BAND and moved < UNMOVED * retrain:
            return "still know it", (
                f"{still}they are the original's, with a CKA of {case.values[KEPT]:.2f} on the "
                f"forget set, where Retrain's have {case.retrain[KEPT]:.2f}."
            )
    if probe is not None:
        return "agree", " Its features agree."
    return "", " That goes by its outputs; no linear probe looked at its features."


def _halves(line: Line, known: Sequence[str]) -> dict[str, float]:
    """The half width of the 95 % t-interval of each metric's mean gap to Retrain; empty for one
    seed.
    """
    n = line.seeds
    if n < 2:
        return {}
    gaps = {name: np.subtract(line.values[name], line.retrain[name]) for name in known}
    return {
        name: float(scipy.special.stdtrit(n - 1, 0.975) * gap.std(ddof=1) / math.sqrt(n))
        for name, gap in gaps.items()
    }


def _within(case: _Case, halves: Mapping[str, float]) -> list[Word]:
    """The words at both ends of each metric's interval, metrics that decide first."""
    words = []
    for name in (*case.rules.forgetting, *case.useful):
        for end in (-1, 1) if halves.get(name) else ():
            moved = min(max(case.values[name] + end * halves[name], 0.0), 1.0)
            words.append(_decide(replace(case, values={**case.values, name: moved})).word)
    return words


def _with_seeds(found: Verdict, *, seeds: int, agreeing: int, other: Word | None, few: bool) -> str:
    said = found.sentence
    if seeds > 1 and agreeing < seeds and found.word not in ("nothing to forget", "cannot tell"):
        alone = "none" if not agreeing else str(agreeing)
        said += f" Taken alone, {alone} of the {seeds} seeds say{'s' * (agreeing < 2)} so."
    if other is not None:
        said += f" Chance between seeds leaves room for “{other}”."
    if few:
        count = min(seeds, FEWEST_RETRAINS - 1)
        said = f"{said.removesuffix('.')} ({'one seed' if count < 2 else 'two seeds'})."
    return said


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _points(value: float) -> str:
    return f"{100 * value:.1f} points"
