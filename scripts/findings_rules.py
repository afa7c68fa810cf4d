"""The rules by which the runs decide claims of papers: functions of the tasks, each with a word and
what the runs say, or None where they cannot say anything.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from docs_text import listed
from findings_data import IMAGES, Line, Task
from findings_numbers import sign_p, t_mean, tau_interval
from findings_words import number, p_text, percent, span

from mucore import catalog

HOLDS, PARTLY, FAILS, OPEN = "yes", "in part", "no", "open"
Answer = tuple[str, str]
SCENARIOS = ("one_class", "all_classes", "class_wise")
DIVISIONS = ("authors", "tuned")


def word_of(parts: Sequence[bool]) -> str:
    """The word of a claim that has these parts."""
    return HOLDS if all(parts) else PARTLY if any(parts) else FAILS


def _task(tasks: Sequence[Task], scenario: str, division: str = "authors") -> Task | None:
    """Of the demo's data, since the papers' claims are on images and a convolutional network."""
    wanted = (IMAGES, scenario, division)
    return next((t for t in tasks if (t.dataset, t.scenario, t.division) == wanted), None)


def _divided(tasks: Sequence[Task], scenario: str) -> list[Task]:
    """With authors' settings, and with tuned ones where there are any; none without the former."""
    found = [_task(tasks, scenario, division) for division in DIVISIONS]
    return [task for task in found if task is not None] if found[0] is not None else []


def _titles(methods: Sequence[str]) -> str:
    return listed([catalog.method(name).title for name in methods]) or "none"


@dataclass(frozen=True)
class Named:
    """Those of the named methods that ran, and those of them that forgot."""

    there: list[str]
    forgot: list[str]

    @classmethod
    def of(cls, task: Task, methods: Sequence[str]) -> Named:
        there = [name for name in methods if name in task.methods]
        return cls(there, [name for name in there if task.methods[name].qualified])

    @property
    def most(self) -> bool:
        return 2 * len(self.forgot) > len(self.there)

    @property
    def counted(self) -> str:
        return f"{len(self.forgot)} of {len(self.there)}"


def _settings(task: Task) -> str:
    return "with authors' settings" if task.division == "authors" else "with tuned ones"


def _mean(part: Mapping[str, Mapping[int, float]], metric: str) -> float | None:
    values = part.get(metric, {}).values()
    return fmean(values) if values else None


# -- MUBox

ALIKE = 0.01  # of Retrain's norm: methods so near share a distance of weights
UTTERLY = 10.0  # times as far from Retrain
FLAT = 0.3  # a τ that is surely no further from 0 says next to nothing


def weights_say_nothing(tasks: Sequence[Task]) -> Answer | None:
    """Whether methods that share a distance of weights lie at distances from Retrain that differ
    utterly, and whether τ is surely near zero: that it is not surely another is no proof.
    """
    ratios, taus, utterly, flat = [], [], [], []
    for scenario in (*SCENARIOS, "best_case"):
        task = _task(tasks, scenario)
        if task is None or task.unclear:
            continue
        away = {
            name: norm
            for name, line in task.methods.items()
            if (norm := _mean(line.values, "l2_normalised")) is not None
        }
        if len(away) < 4:
            continue
        scores = {name: task.methods[name].score for name in away}
        value, low, high = tau_interval(
            [*away.values()], [*scores.values()], name=f"weights/{scenario}"
        )
        most = max(
            (
                max(scores[a], scores[b]) / max(min(scores[a], scores[b]), 1e-9)
                for a, b in itertools.combinations(away, 2)
                if abs(away[a] - away[b]) < ALIKE
            ),
            default=1.0,
        )
        utterly.append(most >= UTTERLY)
        flat.append(-FLAT <= low and high <= FLAT)
        ratios.append(f"{most:.0f} ({scenario})")
        taus.append(f"{number(value)} ({span(low, high)}) in {scenario}")
    if not taus:
        return None
    return word_of(utterly + flat), (
        f"Of two methods whose weights are equally far from Retrain's (within {ALIKE:g} of its "
        f"norm) one lies up to {listed(ratios)} times as far by the distance of this page: utterly "
        f"would be {UTTERLY:g}. τ of the two distances: {listed(taus)}; to say nothing, intervals "
        f"would lie within ±{FLAT:g}."
    )


STEP = 0.1  # of the way from the original to Retrain: less is not counted as another way


def all_classes_is_harder(tasks: Sequence[Task]) -> Answer | None:
    one, every = _task(tasks, "one_class"), _task(tasks, "all_classes")
    if one is None or every is None:
        return None
    pairs = []
    for name in one.methods:
        lines = [task.methods.get(name) for task in (one, every)]
        if any(line is None or line.word == "damaged" for line in lines):
            continue
        ways = [_way(task, task.methods[name]) for task in (one, every)]
        if None not in ways:
            pairs.append([min(way, 1.0) for way in ways if way is not None])
    less, more = sum(b <= a - STEP for a, b in pairs), sum(b >= a + STEP for a, b in pairs)
    p = sign_p(less, more)
    word = OPEN if p >= 0.05 else HOLDS if less > more else FAILS
    return word, (
        f"Of {len(pairs)} methods that damage neither network {less} go less far towards Retrain's "
        f"forget accuracy than in one_class, and {more} further, by a tenth of the way or more "
        f"(sign test: p {p_text(p)})."
    )


def _way(task: Task, line: Line) -> float | None:
    """How far the forget accuracy went from the original (0) to Retrain (1), mean over seeds."""
    found = []
    for seed, value in line.values.get("fa", {}).items():
        before, after = (part.get("fa", {}).get(seed) for part in (task.original, task.retrain))
        if before is not None and after is not None and before != after:
            found.append((value - before) / (after - before))
    return fmean(found) if found else None


EASY = ("unrolling", "scrub", "first_order", "ssd", "bad_teacher", "salun", "fcs", "niu")
HARD = ("pgu", "l1_sparse", "second_order", "ntk", "unsir")


def whole_class_is_easy(tasks: Sequence[Task]) -> Answer | None:
    """Most of those that the paper names as near Retrain forget, and none of its exceptions."""
    parts, told = [], []
    for task in _divided(tasks, "class_wise"):
        easy, hard = Named.of(task, EASY), Named.of(task, HARD)
        if not easy.there or not hard.there:
            continue
        parts += [easy.most, not hard.forgot]
        told.append(
            f"{_settings(task)} {easy.counted} that the paper finds near Retrain forget, and "
            f"{hard.counted} exceptions ({_titles(hard.forgot)}); of all methods "
            f"{len(task.forgot())} of {len(task.methods)}"
        )
    return (word_of(parts), _capital("; ".join(told))) if parts else None


ATTACKS = ("mia_correctness", "mia_confidence", "mia_entropy", "mia_m_entropy", "mia_prob")


def retrain_orders(tasks: Sequence[Task]) -> Answer | None:
    """The order of Retrain's forget accuracy; and whether most attacks take most of the samples of
    high loss for unseen before anything is unlearned.
    """
    worst, every, best = (_task(tasks, n) for n in ("worst_case", "all_classes", "best_case"))
    if worst is None or every is None or best is None:
        return None
    values = [case.retrain.get("fa", {}) for case in (worst, every, best)]
    shared = sorted(set.intersection(*(set(each) for each in values)))
    unseen = {n: it for n in ATTACKS if (it := _mean(best.original, n)) is not None}
    if len(shared) < 2 or not unseen:
        return None
    steps = [
        t_mean([100 * (high[seed] - low[seed]) for seed in shared])
        for high, low in zip(values, values[1:], strict=False)
    ]
    ordered = all(low > 0 for _, low, _ in steps)
    reversed_ = any(high < 0 for _, _, high in steps)
    most = 2 * sum(it > 0.5 for it in unseen.values()) > len(unseen)
    word = word_of([ordered, most]) if ordered or reversed_ else OPEN
    lost = listed([f"{number(mean, 0)} points ({span(a, b, 0)})" for mean, a, b in steps])
    shares = listed([f"{percent(it)} by `{name}`" for name, it in unseen.items()])
    return word, (
        f"From worst to all classes and on to best case Retrain loses {lost}. Of the samples of "
        f"high loss attacks take for unseen before unlearning: {shares}."
    )


WELL = ("unrolling", "scrub", "salun", "fcs", "niu")
KEEPING = ("pgu", "l1_sparse", "first_order", "second_order")


def flips(tasks: Sequence[Task]) -> Answer | None:
    """All that do well by the paper forget; and of those that keep the wrong labels most neither
    lose accuracy nor forget.
    """
    parts, told = [], []
    for task in _divided(tasks, "label_flip"):
        well, others = Named.of(task, WELL), Named.of(task, KEEPING)
        if not well.there or not others.there:
            continue
        keep = [n for n in others.there if task.methods[n].word in ("too little", "did nothing")]
        parts += [len(well.forgot) == len(well.there), 2 * len(keep) > len(others.there)]
        told.append(
            f"{_settings(task)} {well.counted} forgot ({_titles(well.forgot)}), and "
            f"{len(keep)} of {len(others.there)} others have their accuracy and the wrong labels "
            f"({_titles(keep)})"
        )
    return (word_of(parts), _capital("; ".join(told))) if parts else None


LEFT = ("l_codec", "fcs", "msg", "ct", "niu")


def backdoors(tasks: Sequence[Task]) -> Answer | None:
    """Nine of ten methods remove it and keep their accuracy, L-CODEC is damaged, and FCS does not
    remove it. Where not even half remove it, with either settings, the claim fails.
    """
    told, shares, beside = [], [], []
    for task in _divided(tasks, "backdoor"):
        others = {name: line for name, line in task.methods.items() if name not in LEFT}
        gone = [line for line in others.values() if _removed(task, line)]
        kept = [line for line in gone if line.word != "damaged"]
        if not others:
            continue
        shares.append(len(kept) / len(others))
        told.append(
            f"{_settings(task)} {len(gone)} of {len(others)} other methods bring attack success to "
            f"Retrain's or below (within a tenth of the way from the original), "
            f"{len(kept)} of them without damage"
        )
        for name in ("l_codec", "fcs"):
            line = task.methods.get(name)
            success = None if line is None else _mean(line.values, "asr")
            if line is None or success is None:
                continue
            beside.append(line.word == "damaged" if name == "l_codec" else not _removed(task, line))
            title = catalog.method(name).title
            told.append(f"{title}: “{line.word}”, attack success {percent(success)}")
    if not shares:
        return None
    if max(shares) < 0.5:
        return FAILS, _capital("; ".join(told))
    return word_of([*(each >= 0.9 for each in shares), *beside]), _capital("; ".join(told))


def _removed(task: Task, line: Line) -> bool:
    parts = [part.get("asr", {}) for part in (line.values, task.retrain, task.original)]
    seeds = sorted(set.intersection(*map(set, parts)))
    if not seeds:
        return False
    mine, base, before = (fmean(part[seed] for seed in seeds) for part in parts)
    return mine <= base + 0.1 * (before - base)


def sisa(tasks: Sequence[Task]) -> Answer | None:
    """It takes nine tenths of a Retrain or more, and its loss may be ten points."""
    task = _task(tasks, "one_class")
    line = None if task is None else task.line("sisa")
    if task is None or line is None:
        return None
    base, mine = task.retrain.get("ta", {}), line.values.get("ta", {})
    lost = [100 * (base[seed] - value) for seed, value in mine.items() if seed in base]
    time = _mean(line.values, "rte")
    if len(lost) < 2 or time is None:
        return None
    mean, low, high = t_mean(lost)
    return word_of([time >= 0.9, high >= 10]), (
        f"It takes {time:.2f} of Retrain's time and costs {number(mean, 1)} points of test "
        f"accuracy ({span(low, high, 1)})."
    )


BY_GRADIENT = ("unrolling", "amnesiac", "first_order", "second_order", "l_codec")


def gradients_vanish(tasks: Sequence[Task]) -> Answer | None:
    """None of MUBox's gradient-based methods forgets."""
    parts, told = [], []
    for scenario in ("one_class", "class_wise"):
        for task in _divided(tasks, scenario):
            mine = Named.of(task, BY_GRADIENT)
            if mine.there:
                parts.append(not mine.forgot)
                told.append(
                    f"{mine.counted} in {scenario} {_settings(task)} ({_titles(mine.forgot)})"
                )
    if not parts:
        return None
    return word_of(parts), (
        f"Of the paper's gradient-based methods forgot: {listed(told)}. Whether vanishing "
        "gradients are the cause is not tested."
    )


# -- other papers

NINE = (
    "finetune",
    "gradient_ascent",
    "random_labels",
    "pseudo_labels",
    "salun",
    "duck",
    "contrastive",
    "scar",
    "scrub",
)


def original_side(tasks: Sequence[Task]) -> Answer | None:
    """The paper's nine methods, when a class is forgotten; its other methods and tasks aside."""
    task = _task(tasks, "class_wise")
    near, there = (0, 0) if task is None else _nearer_original(task, NINE)
    if task is None or not there:
        return None
    word = HOLDS if near == there else PARTLY if 2 * near > there else FAILS
    every = [_nearer_original(each) for each in tasks if each.division == "authors"]
    return word, (
        f"By CKA on the forget set {near} of {there} of the paper's methods are nearer to the "
        f"original in class_wise; of all methods and tasks with authors' settings "
        f"{sum(a for a, _ in every)} of {sum(b for _, b in every)}. Methods start at the original, "
        "so those that do little stay there."
    )


def _nearer_original(task: Task, methods: Sequence[str] | None = None) -> tuple[int, int]:
    """How many, of how many that have both numbers."""
    both = [
        (before, after)
        for name, line in task.methods.items()
        if methods is None or name in methods
        if (before := _mean(line.values, "cka_original_forget")) is not None
        and (after := _mean(line.values, "cka_retrain_forget")) is not None
    ]
    return sum(a > b for a, b in both), len(both)


UPPER = 0.25  # of the order: who does best stands here


def msg_and_ct(tasks: Sequence[Task]) -> Answer | None:
    """Both stand in the first quarter of the order with tuned settings, as in the paper."""
    told: dict[str, list[str]] = {division: [] for division in DIVISIONS}
    parts = []
    for division in DIVISIONS:
        for scenario in ("all_classes", "one_class", "class_wise", "label_flip", "backdoor"):
            task = _task(tasks, scenario, division)
            if task is None or not {"msg", "ct"} <= set(task.methods):
                continue
            ordered = sorted(task.methods, key=lambda name: task.methods[name].score)
            places = [ordered.index(name) + 1 for name in ("msg", "ct")]
            if division == "tuned":
                parts.append(max(places) <= math.floor(UPPER * len(ordered)))
            told[division].append(f"{places[0]} and {places[1]} of {len(ordered)} in {scenario}")
    if not parts:
        return None
    before = f" With authors' settings: {listed(told['authors'])}." * bool(told["authors"])
    return word_of(parts), (
        f"Places of MSG and CT by distance with tuned settings: {listed(told['tuned'])}; judged is "
        f"whether both are in the first quarter.{before} The paper forgets samples at random, to "
        "which all_classes is nearest, and ranks by another attack and by time as well."
    )


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
