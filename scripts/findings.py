"""docs/generated/findings.md: what the demo's runs say together, as plain tables. No number on the
page is written by hand.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median

import numpy as np
from demo_results import MODEL, PRESET, Line, Task, tally, tasks
from docs_text import filled, listed, table
from scipy.stats import binomtest, kendalltau, t

from dashboard.papers import PAPERS
from mucore import catalog
from mucore.metrics.registry import RELATIVE_TO_RETRAIN
from mucore.runs import make_recipe
from mucore.statistics.significance import holm
from mucore.suite.scores import CAP, FLOOR, noise, scores_of, values_of
from mucore.verdicts import rules_of

Rows = Iterable[Sequence[str]]


def findings_page() -> str:
    return write(tasks())


def write(every: Sequence[Task]) -> str:
    """The page from these tasks."""
    seeds_heads = ("Task", "Settings", "Methods", "Neighbours", *(f"{k} seeds" for k in ENOUGH))
    both = ("Median, authors'", "Median, tuned", "Forgot, authors'", "Forgot, tuned")
    return filled(
        "findings.md",
        model=MODEL,
        epochs=make_recipe(PRESET).epochs,
        least=100 * FLOOR,
        most=CAP,
        enough=listed(map(str, ENOUGH)),
        fewest=FEWEST,
        runs=table(
            ("Task", "Settings", "Methods", "Seeds", "Another Retrain")
            + ("Untouched original", "Forgot"),
            map(_run, every),
        ),
        order=table(("Task", "Other task", "Methods", "τ", "p", "Forgot in both"), order(every)),
        seeds=table((*seeds_heads, "Median", "All pairs, 5 seeds"), seeds(every)),
        metrics=table(("Metric", "Id", "Agreement", "τ", "Sets", "Decides in"), metrics(every)),
        settings=table(
            ("Task", "Methods", "Nearer", "Certain: nearer and further", *both), settings(every)
        ),
        claims=table(
            ("Paper", "It finds", "Task", "Settings", "Should", "Should not"), claims(every)
        ),
    )


def _run(task: Task) -> list[str]:
    counts = [len(line.scores) for line in task.lines if line.scores and not line.cheats]
    low, high = min(counts, default=0), max(counts, default=0)
    untouched = scores_of(task.beside(task.original), task.retrain, task.scenario).values()
    return [
        task.title,
        task.settings,
        str(len(counts)),
        str(high) if low == high else f"{low} to {high}",
        number(noise(task.retrain, rules_of(task.scenario).metrics)[1]),
        number(fmean(untouched) if untouched else None),
        "cannot be told" if task.unclear else tally(task.methods.values()),
    ]


def number(value: float | None, digits: int = 2) -> str:
    """With a minus sign; what rounds to nothing has none."""
    if value is None or math.isnan(value):
        return "–"
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


# -- the order of methods


def tau(x: Sequence[float], y: Sequence[float]) -> tuple[float, float]:
    """Kendall's τ-b of two columns and its p; NaN where one of them never varies."""
    found, p = kendalltau(x, y)
    return float(found), float(p)


def order(every: Sequence[Task]) -> Rows:
    found = []
    authors = [task for task in every if task.settings == "authors" and not task.unclear]
    for one, other in itertools.combinations(authors, 2):
        names = [name for name in one.methods if name in other.methods]
        if len(names) < 4 or one.dataset != other.dataset and one.scenario != other.scenario:
            continue
        value, p = tau(*([each.methods[n].score for n in names] for each in (one, other)))
        sides = [(one.methods[n].qualified, other.methods[n].qualified) for n in names]
        if not math.isnan(value):
            found.append((value, p, one.title, other.title, sides))
    for (value, _, one, other, sides), p in zip(found, holm([it[1] for it in found]), strict=True):
        both = f"{sum(map(all, sides))} of {sum(map(any, sides))}"
        yield one, other, str(len(sides)), number(value), p_text(p), both


# -- seeds

ENOUGH = (3, 5, 10, 20)
COUNTS = np.arange(2, 1001)
HALVES = t.ppf(0.975, COUNTS - 1) / np.sqrt(COUNTS)  # of an interval of unit spread


def seeds_needed(differences: Sequence[float]) -> float:
    """The smallest number of seeds, two at least, with which the paired t interval of this mean
    difference and this spread excludes zero; infinity where 1,000 do not suffice.
    """
    mean, spread = float(np.mean(differences)), float(np.std(differences, ddof=1))
    enough = np.flatnonzero(spread * HALVES < abs(mean))
    return int(COUNTS[enough[0]]) if len(enough) else math.inf


def needed(pairs: Iterable[tuple[Line, Line]]) -> list[float]:
    """The seeds that each of these pairs needs, of which three are shared."""
    shared = [(a.scores, b.scores, a.scores.keys() & b.scores.keys()) for a, b in pairs]
    return [seeds_needed([a[s] - b[s] for s in both]) for a, b, both in shared if len(both) > 2]


def seeds(every: Sequence[Task]) -> Rows:
    for task in every:
        groups = {"all methods": [*task.methods.values()], "those that forgot": task.forgot()}
        for name, lines in groups.items():
            ordered = sorted(lines, key=lambda line: (line.score, line.method))
            near = needed(itertools.pairwise(ordered))
            if len(near) > 1:
                middle = median(near)
                yield [
                    *(task.title, task.settings, name, str(len(near))),
                    *(_share(near, k) for k in ENOUGH),
                    "over 1,000" if middle > 1000 else f"{middle:.0f}",
                    _share(needed(itertools.combinations(lines, 2)), 5),
                ]


def _share(found: Sequence[float], count: int) -> str:
    return f"{100 * sum(it <= count for it in found) / len(found):.0f} %"


# -- single metrics

FEWEST = 3  # methods on either side, from which a metric can be said to tell them apart
GROUPS = ("accuracy", "agreement", "depoisoning", "distance", "membership inference", "persons")
GROUPS += ("representation",)
# Made of the very numbers that decide: means of gaps; the attack by correctness, which is forget
# accuracy under another name; and NoMUS, a mean of test accuracy and forgetting score.
DERIVED = ("average_gap", "average_gap_classes", "mia_correctness", "nomus")


def metrics(every: Sequence[Task]) -> Rows:
    judged = [it for it in every if min(len(it.forgot()), len(it.forgot(False))) >= FEWEST]
    rows = []
    for card in catalog.metrics():
        if card.group not in GROUPS or card.ideal == "none":
            continue
        agreed, taus = [], []
        for task in judged:
            gaps = gaps_of(task, card.id)
            sides = [
                [gaps[m.method] for m in task.forgot(s) if m.method in gaps] for s in (True, False)
            ]
            if len(set(gaps.values())) > 1 and min(map(len, sides)) >= FEWEST:
                agreed.append(agreement(*sides))
                taus.append(tau([*gaps.values()], [task.methods[n].score for n in gaps])[0])
        if 2 * len(agreed) > len(judged):
            decides = sum(
                card.id in rules_of(task.scenario).metrics or card.id.startswith(DERIVED)
                for task in judged
            )
            known = [it for it in taus if not math.isnan(it)]
            beside = (number(fmean(known) if known else None), str(len(agreed)))
            row = (card.title, f"`{card.id}`", number(fmean(agreed)), *beside, str(decides or "–"))
            rows.append((-fmean(agreed), card.id, row))
    return [row for *_, row in sorted(rows)]


def agreement(forgot: Sequence[float], others: Sequence[float]) -> float:
    """How often one that forgot is nearer than another that did not, ties half."""
    apart = np.subtract.outer(others, forgot)
    return float(((apart > 0) + 0.5 * (apart == 0)).mean())


def gaps_of(task: Task, metric: str) -> dict[str, float]:
    """By method, the mean distance to Retrain of the same seed in a metric; to the ideal where the
    metric is a comparison with Retrain in itself.
    """
    found, base = {}, values_of(task.retrain, metric)
    for name, line in task.methods.items():
        values = values_of(line.runs, metric)
        if metric in RELATIVE_TO_RETRAIN:
            high = catalog.metric(metric).ideal == "high"
            away = [-value if high else abs(value) for value in values.values()]
        else:
            away = [abs(value - base[seed]) for seed, value in values.items() if seed in base]
        if away:
            found[name] = fmean(away)
    return found


# -- settings


def settings(every: Sequence[Task]) -> Rows:
    by_name = {(task.title, task.settings): task for task in every}
    for tuned in (task for task in every if task.settings == "tuned"):
        authors = by_name[tuned.title, "authors"]
        pairs = {
            name: [before.scores[s] - line.scores[s] for s in before.scores if s in line.scores]
            for name, line in tuned.methods.items()
            if (before := authors.methods.get(name)) is not None
        }
        pairs = {name: each for name, each in pairs.items() if len(each) > 1}
        if pairs:
            yield (
                [tuned.title, *compared(pairs)]
                + [
                    f"{median(task.methods[name].score for name in pairs):.1f}"
                    for task in (authors, tuned)
                ]
                + [tally(task.methods[name] for name in pairs) for task in (authors, tuned)]
            )


def paired_p(d: np.ndarray) -> float:
    """Two-sided p of the t test of paired differences; 1 below two."""
    if len(d) < 2 or not d.any():
        return 1.0
    error = float(d.std(ddof=1)) / len(d) ** 0.5
    return 2 * float(t.sf(abs(d.mean()) / error, len(d) - 1)) if error else 0.0


def compared(pairs: Mapping[str, Sequence[float]]) -> list[str]:
    """How many there are, how many are above 0 by their mean, and certainly above and below."""
    means = [fmean(each) for each in pairs.values()]
    wins, losses = sum(it > 0 for it in means), sum(it < 0 for it in means)
    p = float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0
    ps = holm([paired_p(np.array(each)) for each in pairs.values()])
    sure = [it for it, corrected in zip(means, ps, strict=True) if corrected <= 0.05]
    above = sum(it > 0 for it in sure)
    return [str(len(pairs)), f"{wins} (p {p_text(p)})", f"{above} and {len(sure) - above}"]


# -- what papers say of methods

EASY = ("unrolling", "scrub", "first_order", "ssd", "bad_teacher", "salun", "fcs", "niu")
BY_GRADIENT = ("unrolling", "amnesiac", "first_order", "second_order", "l_codec")
KEEPING = ("pgu", "l1_sparse", "first_order", "second_order")
F5, F8, F11 = (PAPERS[0].findings[name] for name in ("F5", "F8", "F11"))
# a paper, what it finds, and the methods that should forget under a scenario and should not
CLAIMS: Sequence[tuple[str, str, str, Sequence[str], Sequence[str]]] = (
    ("MUBox", F5, "class_wise", EASY, ("pgu", "l1_sparse", "second_order", "ntk", "unsir")),
    ("MUBox", F8, "label_flip", ("unrolling", "scrub", "salun", "fcs", "niu"), KEEPING),
    ("MUBox", F11, "one_class", (), BY_GRADIENT),
    ("MUBox", F11, "class_wise", (), BY_GRADIENT),
    ("DeepUnlearn", "MSG and CT do best of 18 methods.", "all_classes", ("msg", "ct"), ()),
)


def claims(every: Sequence[Task]) -> Iterator[Sequence[str]]:
    for paper, text, scenario, should, should_not in CLAIMS:
        for task in every:
            if task.scenario == scenario:
                sides = (counted(task, names) for names in (should, should_not))
                yield paper, text, task.title, task.settings, *sides


def counted(task: Task, names: Sequence[str]) -> str:
    """How many of these that ran forgot, and which."""
    there = [name for name in names if name in task.methods]
    forgot = [
        catalog.method(n).title + "?" * (not task.methods[n].shown)
        for n in there
        if task.methods[n].qualified
    ]
    return (
        f"{len(forgot)} of {len(there)}" + f" ({listed(forgot)})" * bool(forgot) if names else "–"
    )
