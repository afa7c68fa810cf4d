"""Which claims of the papers survive here: each is a sentence of a paper and a rule by which the
runs decide it, so that new runs may decide otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from docs_text import listed, table
from findings_data import DEMO, Line, Task
from findings_numbers import sign_p, t_mean, tau_interval

from dashboard.papers.mubox import MUBOX
from dashboard.papers.truly_forgetting import TRULY
from mucore import catalog

HOLDS, PARTLY, FAILS = "yes", "in part", "no"
DEEP_UNLEARN = "Masked small gradients (MSG) and CT do best of 18 methods."
Answer = tuple[str, str]  # a word, and what the runs say


@dataclass(frozen=True)
class Claim:
    paper: str
    sentence: str
    check: Callable[[Sequence[Task]], Answer | None]  # None where the runs cannot say


def section(tasks: Sequence[Task]) -> list[str]:
    rows, open_ = [], []
    for claim in CLAIMS:
        found = claim.check(tasks)
        if found is None:
            open_.append(claim)
        else:
            rows.append([claim.paper, claim.sentence, *found])
    answers = [row[2] for row in rows]
    return [
        "## Which claims of the papers survive here?",
        (
            "Claims of papers on unlearning, each with a rule by which these runs decide it. The "
            "papers' data and networks are larger, so a claim that fails here may hold there. On "
            "the dashboard the page Papers says what each paper measured, and Results has their "
            "tables beside ours."
        ),
        table(("Paper", "Claim", "Here", "What the runs say"), rows),
        (
            f"**Answer.** Of {len(rows)} claims {_hold(answers.count(HOLDS))} here, "
            f"{_hold(answers.count(PARTLY))} in part, and {answers.count(FAILS)} "
            f"{'does' if answers.count(FAILS) == 1 else 'do'} not."
        ),
        (
            "Not decided here: claims on persons, on efficacy and on other data sets are looked at "
            "in [fidelity.md](fidelity.md) and on their pages of the dashboard"
            + (
                f"; for want of runs: {listed([claim.sentence.rstrip('.') for claim in open_])}."
                if open_
                else "."
            )
        ),
    ]


def _hold(count: int) -> str:
    return f"{count} {'holds' if count == 1 else 'hold'}"


def _task(tasks: Sequence[Task], scenario: str, division: str = "authors") -> Task | None:
    """Of the demo's data, since the papers' claims are on images and a convolutional network."""
    wanted = (DEMO["dataset"], scenario, division)
    return next((t for t in tasks if (t.dataset, t.scenario, t.division) == wanted), None)


def _titles(methods: Sequence[str]) -> str:
    return listed([catalog.method(name).title for name in methods]) or "none"


def _forgot(task: Task, methods: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of the named that ran, and those of them that forgot."""
    there = [name for name in methods if name in task.methods]
    return there, [name for name in there if task.methods[name].qualified]


def _progress(task: Task, line: Line) -> float | None:
    """How far the forget accuracy went from the original (0) to Retrain (1), mean over seeds."""
    found = []
    for seed, value in line.values.get("fa", {}).items():
        before, after = (part.get("fa", {}).get(seed) for part in (task.original, task.retrain))
        if before is not None and after is not None and before != after:
            found.append((value - before) / (after - before))
    return fmean(found) if found else None


def weights_say_nothing(tasks: Sequence[Task]) -> Answer | None:
    told = []
    for scenario in ("one_class", "all_classes", "class_wise", "worst_case", "best_case"):
        task = _task(tasks, scenario)
        if task is None:
            continue
        away = {
            name: fmean(line.values["l2_normalised"].values())
            for name, line in task.methods.items()
            if "l2_normalised" in line.values
        }
        if len(away) > 3:
            scores = [task.methods[name].score for name in away]
            told.append(
                (scenario, *tau_interval([*away.values()], scores, name=f"weights/{scenario}"))
            )
    if not told:
        return None
    clear = [each for each in told if each[2] > 0 or each[3] < 0]
    word = HOLDS if not clear else FAILS if len(clear) == len(told) else PARTLY
    said = listed([f"{value:.2f} ({low:.2f} to {high:.2f}) in {s}" for s, value, low, high in told])
    return word, f"τ of the distance of weights with the distance to Retrain: {said}.".replace(
        "-", "−"
    )


def all_classes_is_harder(tasks: Sequence[Task]) -> Answer | None:
    one, every = _task(tasks, "one_class"), _task(tasks, "all_classes")
    if one is None or every is None:
        return None
    pairs = []
    for name in one.methods:
        if name in every.methods:
            a, b = _progress(one, one.methods[name]), _progress(every, every.methods[name])
            if a is not None and b is not None:
                pairs.append((min(a, 1.0), min(b, 1.0)))
    less, more = sum(b < a for a, b in pairs), sum(b > a for a, b in pairs)
    p = sign_p(less, more)
    word = HOLDS if less > more and p < 0.05 else FAILS if more > less and p < 0.05 else PARTLY
    return word, (
        f"{less} of {len(pairs)} methods go less far towards Retrain's forget accuracy than in "
        f"one_class, {more} further (sign test: p = {p:.3f})."
    )


def whole_class_is_easy(tasks: Sequence[Task]) -> Answer | None:
    task = _task(tasks, "class_wise")
    if task is None:
        return None
    hard = ("pgu", "l1_sparse", "second_order", "ntk", "unsir")
    forgot = [name for name, line in task.methods.items() if line.qualified]
    there, did = _forgot(task, hard)
    tuned = _task(tasks, "class_wise", "tuned")
    later = "" if tuned is None else f" With tuned ones {sum(x.qualified for x in tuned.lines)} do."
    easy, named = 2 * len(forgot) > len(task.methods), not did
    word = HOLDS if easy and named else FAILS if not easy and did else PARTLY
    return word, (
        f"{len(forgot)} of {len(task.methods)} forget with authors' settings; of the "
        f"{len(there)} named as exceptions these do: {_titles(did)}.{later}"
    )


def retrain_orders(tasks: Sequence[Task]) -> Answer | None:
    cases = [_task(tasks, name) for name in ("worst_case", "all_classes", "best_case")]
    if any(case is None for case in cases):
        return None
    values = [case.retrain["fa"] for case in cases if case is not None]
    shared = sorted(set.intersection(*(set(each) for each in values)))
    if len(shared) < 2:
        return None
    steps = [
        t_mean([100 * (high[seed] - low[seed]) for seed in shared])
        for high, low in zip(values, values[1:], strict=False)
    ]
    word = HOLDS if all(low > 0 for _, low, _ in steps) else PARTLY
    said = listed([f"{mean:.0f} points ({low:.0f} to {high:.0f})" for mean, low, high in steps])
    return word, f"From worst to all classes and on to best case Retrain loses {said}."


def flips(tasks: Sequence[Task]) -> Answer | None:
    return _named(tasks, "label_flip", ("unrolling", "scrub", "salun", "fcs", "niu"))


def _named(tasks: Sequence[Task], scenario: str, methods: Sequence[str]) -> Answer | None:
    task = _task(tasks, scenario)
    if task is None:
        return None
    there, did = _forgot(task, methods)
    if not there:
        return None
    others = sum(line.qualified for name, line in task.methods.items() if name not in methods)
    word = HOLDS if len(did) == len(there) else PARTLY if did else FAILS
    return word, (
        f"{len(did)} of these {len(there)} forgot: {_titles(did)}. So did {others} of the other "
        f"{len(task.methods) - len(there)} methods."
    )


def backdoors(tasks: Sequence[Task]) -> Answer | None:
    task = _task(tasks, "backdoor")
    if task is None:
        return None
    left = ("l_codec", "fcs", "msg", "ct", "niu")
    others = {name: line for name, line in task.methods.items() if name not in left}
    gone = [name for name, line in others.items() if _asr(task, line)]
    word = HOLDS if 10 * len(gone) >= 9 * len(others) else FAILS
    if word == FAILS and 2 * len(gone) >= len(others):
        word = PARTLY
    return word, (
        f"{len(gone)} of {len(others)} other methods bring attack success to Retrain's or below "
        "(within a tenth of the way from the original); "
        f"{sum(x.qualified for x in others.values())} of these forgot by their verdict."
    )


def _asr(task: Task, line: Line) -> bool:
    seeds = [s for s in line.values.get("asr", {}) if s in task.retrain.get("asr", {})]
    if not seeds:
        return False
    mine, base, before = (
        fmean(part["asr"][seed] for seed in seeds)
        for part in (line.values, task.retrain, task.original)
    )
    return mine <= base + 0.1 * (before - base)


def sisa(tasks: Sequence[Task]) -> Answer | None:
    task = _task(tasks, "one_class")
    line = None if task is None else task.line("sisa")
    if task is None or line is None or len(line.values.get("ta", {})) < 2:
        return None
    lost = t_mean(
        [100 * (task.retrain["ta"][seed] - value) for seed, value in line.values["ta"].items()]
    )
    times = [*line.values.get("rte", {}).values()]
    cost = f"It takes {fmean(times):.2f} of Retrain's time" if times else "Its time is not known"
    word = HOLDS if times and fmean(times) >= 0.9 and lost[1] > 0 and lost[2] > 10 else PARTLY
    points = f"{lost[0]:.1f} points of test accuracy ({lost[1]:.1f} to {lost[2]:.1f})"
    return word, f"{cost} and costs {points.replace('-', '−')}."


def gradients_vanish(tasks: Sequence[Task]) -> Answer | None:
    names = ("gradient_ascent", "unrolling", "first_order", "second_order")
    told, failed, total, later = [], 0, 0, 0
    for scenario in ("one_class", "class_wise"):
        task, tuned = _task(tasks, scenario), _task(tasks, scenario, "tuned")
        if task is None:
            return None
        there, did = _forgot(task, names)
        failed, total = failed + len(there) - len(did), total + len(there)
        if tuned is not None:
            mine, now = _forgot(tuned, names)
            later += len(now)
            told.append(f"{len(now)} of {len(mine)} in {scenario} ({_titles(now)})")
    word = HOLDS if failed == total and not later else PARTLY if failed else FAILS
    return word, (
        f"With authors' settings {failed} of {total} do not forget; with tuned ones "
        f"{listed(told) or 'none was run'} do."
    )


def msg_and_ct(tasks: Sequence[Task]) -> Answer | None:
    told, first = [], 0
    for division in ("authors", "tuned"):
        for scenario in ("one_class", "class_wise"):
            task = _task(tasks, scenario, division)
            if task is None or not {"msg", "ct"} <= set(task.methods):
                continue
            ordered = sorted(task.methods.values(), key=lambda line: line.score)
            places = [ordered.index(task.methods[name]) + 1 for name in ("msg", "ct")]
            first += max(places) <= 5
            told.append(f"{places[0]} and {places[1]} of {len(ordered)} ({scenario}, {division})")
    if not told:
        return None
    word = HOLDS if first == len(told) else PARTLY if first else FAILS
    return word, f"Places of MSG and CT by distance to Retrain: {listed(told)}."


def original_side(tasks: Sequence[Task]) -> Answer | None:
    told, near, total = [], 0, 0
    for task in tasks:
        both = [
            (fmean(x.values["cka_original_forget"].values()), fmean(there.values()))
            for x in task.methods.values()
            if "cka_original_forget" in x.values and (there := x.values.get("cka_retrain_forget"))
        ]
        if task.division == "authors" and both:
            mine = sum(a > b for a, b in both)
            near, total = near + mine, total + len(both)
            told.append(f"{mine} of {len(both)} in {task.title}")
    if not told:
        return None
    word = HOLDS if near == total else PARTLY if 2 * near > total else FAILS
    return word, f"By CKA on the forget set, nearer to the original: {listed(told)}."


CLAIMS = (
    *(
        Claim("MUBox", MUBOX.findings[name], check)
        for name, check in (
            ("F3", weights_say_nothing),
            ("F4", all_classes_is_harder),
            ("F5", whole_class_is_easy),
            ("F6", retrain_orders),
            ("F8", flips),
            ("F9", backdoors),
            ("F10", sisa),
            ("F11", gradients_vanish),
        )
    ),
    Claim("Are We Truly Forgetting?", TRULY.findings["R1"], original_side),
    Claim("DeepUnlearn", DEEP_UNLEARN, msg_and_ct),
)
