"""docs/findings.md: what the results that come with mucore say together, from the demo results and
the files in data/findings. No number on the page is written by hand.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import findings_claims
import findings_data as data
import hidden_class_page as hidden
from docs_text import listed, page, table
from findings_data import Task
from findings_numbers import (
    Interval,
    mean_auc,
    seed_taus,
    seeds_needed,
    sign_p,
    spread_error,
    tau,
    tau_interval,
)

from mucore import catalog
from mucore.metrics.registry import RELATIVE_TO_RETRAIN
from mucore.statistics.significance import holm
from mucore.suite import description
from mucore.suite.scores import paired_p, repeat_band
from mucore.verdicts import rules_of, seed_band

MADE = (
    "<!-- Made by scripts/make_docs.py from the demo results and data/findings; change those and "
    "run it again. -->"
)
BENCHMARKS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
LAPTOP = "mucore-bench-1"  # the suite of which the demo has runs
SHOWN = 12  # metrics in the table
MEANS = ("average_gap", "average_gap_classes")  # of the very numbers that decide
FEWEST = 3  # methods on either side, from which a metric can be said to tell them apart
ENOUGH = (3, 5, 10, 20)  # seeds


def findings_page() -> str:
    return write(
        data.demo_tasks(),
        data.pack_tasks(),
        data.summaries(),
        data.machine_tasks(),
    )


def write(
    demo: Sequence[Task],
    packed: Sequence[Task],
    files: Sequence[Mapping[str, Any]],
    elsewhere: Sequence[tuple[str, Task]] = (),
) -> str:
    """The page from these tasks; what they cannot answer stands there as missing. What a suite has
    is not taken from the demo as well. `elsewhere` are tasks of other machines.
    """
    every = data.one_each([*packed, *demo])
    every.sort(key=lambda task: task.source != "demo")
    return page(
        [
            "# Findings",
            MADE,
            (
                "Machine unlearning makes a trained network forget a part of its training data "
                "without being trained anew. There are dozens of methods, and papers compare them "
                "by a few numbers on a few runs. This page asks what such a comparison may "
                "conclude, and answers from our own runs. Each part has a question, what was "
                "measured, an answer, and what limits it. Every number is computed by "
                "`scripts/findings.py`; intervals are of 95 %."
            ),
            (
                "*Retrain* is the network that was trained anew without the forgotten data; every "
                "method is meant to end where it does. A method *forgot* where its verdict says so "
                "([metrics.md](metrics.md#verdicts)): in forgetting and in accuracy it ended about "
                "where Retrain does. Its *distance* is the score of "
                "[tuning.md](tuning.md): the mean gap to the Retrain of the same seed, in units of "
                "how far two Retrains lie apart; about 0.8 is another Retrain. A *task* is a "
                "scenario, which says what is to be forgotten ([scenarios.md](scenarios.md)), on a "
                "data set. *Settings*, such as a learning rate, are those of a method's authors or "
                "tuned ones."
            ),
            *sources(every, files),
            *order(every),
            *seeds(every),
            *metrics(every),
            *settings(every),
            *cheater(every),
            *findings_claims.section(every),
            *machines(BENCHMARKS.read_text(encoding="utf-8"), every, elsewhere),
            *missing(every),
        ]
    )


# -- where the numbers are from


def sources(tasks: Sequence[Task], files: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        [
            task.source,
            task.division,
            f"`{task.scenario}`",
            task.dataset,
            str(len(task.methods)),
            seeds_text(task),
            _count(task),
        ]
        for task in tasks
    ]
    packs = [
        f"`{each['suite']}`, {each['division']} ({each['runs']} runs{origin(each)}; this file "
        f"`{each['digest'][:16]}`)"
        for each in files
    ]
    on = {task.dataset for task in tasks if task.source == "demo"}
    return [
        "## The runs",
        table(("Source", "Settings", "Task", "Data", "Methods", "Seeds", "Forgot"), rows),
        (
            "The demo's runs are those of [results.md](results.md): `resnet9-small` for 15 epochs. "
            f"They cover the tasks of the suite `{LAPTOP}` ([submit.md](submit.md)) on "
            f"{listed(sorted(on))}, and add further Retrains where the suite's own leave verdicts "
            "open, and scenarios that the suite does without. "
            + (
                f"From data/findings, with the first digits of SHA-256 hashes: {listed(packs)}."
                if packs
                else "There is no pack of a suite yet."
            )
        ),
    ]


def origin(file: Mapping[str, Any]) -> str:
    """The suite and the pack's rows that a file was made from; nothing of runs of our own."""
    if not file["hash"]:
        return ""
    rows = next(name for name in file["rows"] if name.startswith("results/"))
    return f" of the suite `{file['hash']}`; the pack's rows `{file['rows'][rows][:16]}`"


def seeds_text(task: Task) -> str:
    counts = Counter(len(line.scores) for line in task.methods.values())
    low, high = min(counts, default=0), max(counts, default=0)
    return str(high) if low == high else f"{low} to {high}"


# -- does the order of one task predict another


ORDER = "## Does the order of methods on one task predict another?"


def order(tasks: Sequence[Task]) -> list[str]:
    authors = [task for task in tasks if task.division == "authors" and len(task.methods) > 3]
    if len(authors) < 2:
        return [ORDER, nothing("two tasks")]
    rows, found = [], []
    for one, other in itertools.combinations(authors, 2):
        if one.source != other.source and one.scenario != other.scenario:
            continue  # other data and another question at once say nothing about either
        shared = [name for name in one.methods if name in other.methods]
        if len(shared) <= 3:
            continue
        value, low, high = tau_interval(
            [one.methods[name].score for name in shared],
            [other.methods[name].score for name in shared],
            name=f"order/{one.title}/{other.title}",
        )
        both = sum(one.methods[n].qualified and other.methods[n].qualified for n in shared)
        either = sum(one.methods[n].qualified or other.methods[n].qualified for n in shared)
        found.append((value, low, high))
        rows.append(
            (
                value,
                [one.title, other.title, str(len(shared)), number(value), span(low, high)]
                + [f"{both} of {either}"],
            )
        )
    if not rows:
        return [ORDER, nothing("two tasks that can be compared")]
    rows.sort(key=lambda row: -row[0])
    ceilings = [
        each
        for task in authors
        for each in seed_taus(_whole({n: line.scores for n, line in task.methods.items()}))
    ]
    quick = any(each.source.endswith("-quick") and idle(each) for each in authors)
    return [
        ORDER,
        (
            "Kendall's τ between the distances of the methods that two tasks share: 1 where both "
            "put them in the same order, 0 where the one says nothing of the other, −1 where one "
            "turns the other round. Authors' settings, means over seeds, intervals by a bootstrap "
            "over methods. Beside it: how many methods forgot in both, of those that forgot in one "
            "at least. Tasks on different data are compared under the same scenario alone."
        ),
        table(
            ("Task", "Other task", "Methods", "τ", "95 %", "Forgot in both"),
            [row for _, row in rows],
        ),
        f"**Answer.** {_order_answer(rows, found, fmean(ceilings))}",
        (
            "Limits: tasks of one source share their originals' seeds; a low distance and a "
            "verdict are two things; a method that does nothing has about the same place "
            "everywhere, which raises τ."
            + (
                " The quick twin ranks nothing: it checks an installation, and of a perceptron on "
                "digits there is nothing to forget under one of its scenarios at least."
                if quick
                else ""
            )
        ),
    ]


def _order_answer(
    rows: Sequence[tuple[float, list[str]]], found: Sequence[Interval], ceiling: float
) -> str:
    sure, middling = sum(low > 0 for _, low, _ in found), median(each[0] for each in found)
    head = f"the whole interval of τ lies above zero in {sure} of {len(found)} pairs of tasks"
    between = f"Between two training seeds of one task it is {number(ceiling)} on average"
    (_, best), (_, worst) = rows[0], rows[-1]
    spread = (
        f"Highest between {best[0]} and {best[1]} ({best[3]}), lowest between {worst[0]} and "
        f"{worst[1]} ({worst[3]})."
    )
    if ceiling <= middling:
        return (
            f"{head[:1].upper()}{head[1:]}, and the median τ is {number(middling)}. {between}: "
            "tasks differ no more than seeds do."
        )
    word = "Yes, in part" if 2 * sure > len(found) else "Hardly"
    return (
        f"{word}: {head}, and the median τ is {number(middling)}. {spread} {between}, so the seed "
        "explains the smaller part of how tasks differ."
    )


def _whole(scores: Mapping[str, Mapping[int, float]]) -> dict[str, Mapping[int, float]]:
    """Those with most seeds, so that all of them share these."""
    most = max(len(each) for each in scores.values())
    return {name: each for name, each in scores.items() if len(each) == most}


# -- how many seeds


def seeds(tasks: Sequence[Task]) -> list[str]:
    rows, all_needed = [], []
    for task in tasks:
        lines = [line for line in task.methods.values() if len(line.scores) > 2]
        if len(lines) < 3:
            continue
        groups = {"all": lines, "forgot": [line for line in lines if line.qualified]}
        for name, group in groups.items():
            needed = neighbours(group)
            if len(needed) < 2:
                continue
            if name == "all":
                all_needed += needed
            rows.append(
                [
                    task.title,
                    task.division,
                    "all methods" if name == "all" else "those that forgot",
                    str(len(needed)),
                    *(
                        percent(sum(n is not None and n <= k for n in needed) / len(needed))
                        for k in ENOUGH
                    ),
                    middle(needed),
                ]
            )
    if not rows:
        return ["## How many seeds tell neighbours apart?", nothing("a task with three seeds")]
    counts = sorted({len(x.scores) for each in tasks for x in each.methods.values()} - {1, 2})
    errors = [
        f"{low:.2f} to {high:.2f} with {count}"
        for count in counts
        for low, high in (spread_error(count),)
    ]
    return [
        "## How many seeds tell neighbours apart?",
        (
            "Methods stand in the order of their mean distance, and every two neighbours are "
            "compared by their differences on the same training seeds. The mean and the spread of "
            "these say how many seeds it takes until their t interval leaves zero out. The table "
            f"has the share of pairs told apart with {listed([str(k) for k in ENOUGH])} seeds, and "
            "the number of seeds that the median pair needs."
        ),
        table(
            ("Task", "Settings", "Methods", "Pairs", *(f"{k} seeds" for k in ENOUGH), "Median"),
            rows,
        ),
        (
            f"**Answer.** Many: with five seeds {share(all_needed, 5)} of neighbouring pairs are "
            f"told apart, with ten {share(all_needed, 10)}; the median pair needs "
            f"{middle(all_needed)}. That one method stands a place above another says little."
        ),
        (
            "Limits: each pair is tested alone, without a correction for how many there are. A "
            "spread of few seeds is itself uncertain, by a factor of "
            f"{listed(errors)} seeds."
        ),
    ]


def neighbours(lines: Sequence[data.Line]) -> list[int | None]:
    """The seeds that every two neighbours in the order of distance need."""
    ordered = sorted(lines, key=lambda line: (line.score, line.method))
    found = []
    for one, other in itertools.pairwise(ordered):
        shared = sorted(set(one.scores) & set(other.scores))
        if len(shared) > 2:
            found.append(seeds_needed([one.scores[s] - other.scores[s] for s in shared]))
    return found


def share(needed: Sequence[int | None], count: int) -> str:
    return percent(sum(n is not None and n <= count for n in needed) / len(needed))


def middle(needed: Sequence[int | None]) -> str:
    found = median(1e9 if n is None else n for n in needed)
    return "over 1,000" if found > 1000 else f"{found:.0f}"


# -- which metric


def metrics(tasks: Sequence[Task]) -> list[str]:
    rows = []
    judged = {
        task.title + task.division: task
        for task in tasks
        if min(len(_forgot(task, True)), len(_forgot(task, False))) >= FEWEST
    }
    for card in catalog.metrics():
        if card.group not in data.GROUPS or card.ideal == "none":
            continue
        columns, taus = [], []
        for task in judged.values():
            gaps = gaps_of(task, card.id)
            forgot, others = (
                [gaps[line.method] for line in _forgot(task, side) if line.method in gaps]
                for side in (True, False)
            )
            if min(len(forgot), len(others)) < FEWEST:
                continue
            columns.append((forgot, others))
            ours = [task.methods[name].score for name in gaps]
            value = tau(list(gaps.values()), ours)
            if value == value:
                taus.append(value)
        if 2 * len(columns) > len(judged) and taus:
            value, low, high = mean_auc(columns, name=f"metric/{card.id}")
            decides = sum(_decides(card.id, task.scenario) for task in judged.values())
            rows.append((value, low, high, card, len(columns), fmean(taus), decides))
    if not rows:
        return ["## Which single metric agrees best?", nothing("tasks in which some forgot")]
    rows.sort(key=lambda row: (-row[0], row[3].id))
    free = [row for row in rows if not row[6]]
    alike = [row for row in free if row[2] >= free[0][0] and row[1] <= free[0][0]]
    last = rows[-1]
    return [
        "## Which single metric agrees best with the verdict?",
        (
            f"In {len(judged)} tasks in which {FEWEST} methods or more forgot and as many did "
            "not: how often a method that forgot lies nearer to Retrain in this one number than "
            "one that did not (1 always, 0.5 a guess; mean over tasks, interval by a bootstrap "
            "over methods). τ is Kendall's, of this number and the distance. The last column says "
            "in how many of these tasks a metric decides the verdict itself, or is a mean of such "
            "metrics: there its agreement is no finding."
        ),
        table(
            ("Metric", "Id", "Agreement", "95 %", "τ", "Tasks", "Decides in"),
            [
                [c.title, f"`{c.id}`", number(v), span(low, high), number(k), str(n), str(d or "–")]
                for v, low, high, c, n, k, d in [*rows[:SHOWN], last]
            ],
        ),
        (
            f"The first {SHOWN} of {len(rows)}, and the last. **Answer.** Of the metrics that "
            f"decide no verdict, {free[0][3].title} (`{free[0][3].id}`) agrees most, "
            f"{number(free[0][0])}"
            + (
                f"; the intervals of {len(alike) - 1} others hold that value as well, so it is not "
                "shown to be better than they are."
                if len(alike) > 1
                else "."
            )
            + f" {last[3].title} agrees least, {number(last[0])}."
        ),
        (
            "Limits: the verdict is our own rule, not the truth; metrics that the tasks share "
            "with it by construction (accuracies of the same samples) agree with it for that."
        ),
    ]


def _decides(metric: str, scenario: str) -> bool:
    """Whether a verdict under the scenario rests on the metric, or it is a mean of such ones."""
    return metric in rules_of(scenario).metrics or metric in MEANS


def gaps_of(task: Task, metric: str) -> dict[str, float]:
    """By method, the mean distance to Retrain of the same seed in a metric; to the ideal where the
    metric is a comparison with Retrain in itself.
    """
    found = {}
    relative = metric in RELATIVE_TO_RETRAIN
    for name, line in task.methods.items():
        values = line.values.get(metric, {})
        if relative:
            away = [
                -v if catalog.metric(metric).ideal == "high" else abs(v) for v in values.values()
            ]
        else:
            base = task.retrain.get(metric, {})
            away = [abs(value - base[seed]) for seed, value in values.items() if seed in base]
        if away:
            found[name] = fmean(away)
    return found


def idle(task: Task) -> bool:
    """Whether Original and Retrain agree, so that no method can be said to have forgotten."""
    return _words(task) == {"nothing to forget"}


def _words(task: Task) -> set[str]:
    """What verdicts say of a task's methods; damage says nothing of what there is to forget."""
    return {line.word for line in task.methods.values()} - {"damaged"}


def _unclear(task: Task) -> bool:
    """Whether verdicts cannot say of any method that it forgot."""
    return bool(_words(task)) and _words(task) <= {"nothing to forget", "cannot tell"}


def _count(task: Task) -> str:
    """How many methods forgot, or why none can have."""
    if idle(task):
        return "nothing to forget"
    return "cannot be told" if _unclear(task) else str(len(_forgot(task, True)))


def _forgot(task: Task, side: bool) -> list[data.Line]:
    return [line for line in task.methods.values() if line.qualified == side]


# -- authors' settings against tuned ones


def settings(tasks: Sequence[Task]) -> list[str]:
    rows, said = [], []
    for tuned in (task for task in tasks if task.division == "tuned"):
        authors = next(
            (
                task
                for task in tasks
                if task.division == "authors"
                and (task.source, task.title) == (tuned.source, tuned.title)
            ),
            None,
        )
        if authors is None:
            continue
        pairs = {}
        for name, line in tuned.methods.items():
            before = authors.methods.get(name)
            shared = sorted(set(line.scores) & set(before.scores)) if before else []
            if before is not None and len(shared) > 1:
                pairs[name] = [before.scores[seed] - line.scores[seed] for seed in shared]
        if not pairs:
            continue
        nearer = sum(fmean(each) > 0 for each in pairs.values())
        sure = certain(pairs)
        unclear = _unclear(tuned) or _unclear(authors)
        forgot = [sum(t.methods[name].qualified for name in pairs) for t in (authors, tuned)]
        middles = [median(t.methods[name].score for name in pairs) for t in (authors, tuned)]
        p = sign_p(nearer, sum(fmean(each) < 0 for each in pairs.values()))
        rows.append(
            [
                tuned.source,
                tuned.title,
                str(len(pairs)),
                f"{nearer} (p {p_text(p)})",
                f"{sum(each > 0 for each in sure.values())} and "
                f"{sum(each < 0 for each in sure.values())}",
                *(f"{each:.1f}" for each in middles),
                *("–" if unclear else str(each) for each in forgot),
            ]
        )
        said.append(
            f"in {tuned.title} {nearer} of {len(pairs)} methods come nearer to Retrain (sign "
            f"test: p {p_text(p)}), and "
            + (
                "who forgot cannot be told"
                if unclear
                else f"{forgot[1]} forget instead of {forgot[0]}"
            )
        )
    if not rows:
        return ["## Authors' settings against tuned ones", nothing("a task with both")]
    return [
        "## Authors' settings against tuned ones",
        (
            "Methods that ran with both on the same seeds, which no search had seen: how many come "
            "nearer to Retrain, for how many the paired difference excludes zero after Holm's "
            "correction (nearer and further), the median distance, and how many forgot."
        ),
        table(
            (
                "Source",
                "Task",
                "Methods",
                "Nearer",
                "Certain: nearer and further",
                "Median, authors'",
                "Median, tuned",
                "Forgot, authors'",
                "Forgot, tuned",
            ),
            rows,
        ),
        f"**Answer.** {sentences(said)}",
        "Limits: a search has few trials, on three seeds ([tuning.md](tuning.md)).",
    ]


def certain(pairs: Mapping[str, Sequence[float]]) -> dict[str, int]:
    """Which paired differences exclude zero by a t test after Holm's correction: 1 above, −1
    below, 0 not certain.
    """
    raw = [
        paired_p(dict(enumerate(each)), dict.fromkeys(range(len(each)), 0.0))
        for each in pairs.values()
    ]
    corrected = holm(raw)
    return {
        name: (0 if p > 0.05 else 1 if fmean(each) > 0 else -1)
        for (name, each), p in zip(pairs.items(), corrected, strict=True)
    }


# -- the baseline that cheats


def cheater(tasks: Sequence[Task]) -> list[str]:
    head = "## What the baseline that cheats scores"
    found = [(task, line) for task in tasks for line in task.lines if line.cheats and line.scores]
    fooled = catalog.blind_to_a_hidden_class()
    rule = (
        "[Head distillation](methods.md#head_distillation) keeps the features of the original and "
        "teaches the last layer alone to say what the original says without the forgotten class. "
        f"{len(fooled)} metrics take it for Retrain wherever they can tell anything "
        "([hidden-class.md](hidden-class.md))."
    )
    if not found:
        return [head, rule, nothing("a run of it in these packs, since their tasks refuse it")]
    rows, said, seen = [], [], []
    for task, line in found:
        better = sum(each.score > line.score for each in task.methods.values())
        words = words_of_metrics(task, line)
        blind, seeing = len(words[hidden.FOOLED]), len(words[hidden.SEES])
        seen += [words[hidden.SEES]] if blind + seeing else []
        rows.append(
            [
                task.title,
                task.source,
                f"{line.score:.2f}",
                f"{better} of {len(task.methods)}",
                str(blind),
                str(seeing),
                work(line),
            ]
        )
        said.append(
            f"in {task.title} it lies nearer to Retrain than {better} of {len(task.methods)} "
            "methods, and "
            + (
                f"{blind} of {blind + seeing} metrics that can tell are fooled"
                if blind + seeing
                else "no metric can tell anything with these seeds"
            )
        )
    always = sorted(set.intersection(*map(set, seen))) if seen else []
    return [
        head,
        rule,
        table(
            ("Task", "Source", "Distance", "Nearer than", "Fooled", "See it", "Work"),
            rows,
        ),
        (
            f"**Answer.** {sentences(said)} "
            + (
                f"What sees through it in every task: {listed([f'`{name}`' for name in always])}."
                if always
                else "No metric sees through it in every task."
            )
        ),
        (
            "Limits: whether a metric sees it depends on the task; a verdict therefore asks the "
            "features as well and says “forgot on outputs”."
        ),
    ]


def words_of_metrics(task: Task, line: data.Line) -> dict[str, list[str]]:
    """What metrics make of a line, by the rule and in the words of hidden-class.md."""
    found: dict[str, list[str]] = {hidden.FOOLED: [], hidden.SEES: [], hidden.SILENT: []}
    for card in catalog.metrics():
        if card.group not in hidden.GROUPS or card.id in RELATIVE_TO_RETRAIN:
            continue
        parts = [part.get(card.id, {}) for part in (line.values, task.original, task.retrain)]
        shared = sorted(set.intersection(*(set(part) for part in parts)))
        if len(shared) < 2:
            continue
        mine, original, retrain = (fmean(part[seed] for seed in shared) for part in parts)
        band = seed_band([parts[2][seed] for seed in shared], value=retrain, samples=1).half
        found[hidden.said(original, retrain, mine, band)].append(card.id)
    return found


def work(line: data.Line) -> str:
    values = line.values.get("rte_work", {})
    return f"{fmean(values.values()):.2g}" if values else "–"


# -- processors and precision


def machines(
    benchmarks: str, tasks: Sequence[Task] = (), elsewhere: Sequence[tuple[str, Task]] = ()
) -> list[str]:
    """Counts of the table of precisions in docs/benchmarks.md, and how far runs of other machines
    lie from those of the same seeds in `tasks`.
    """
    part = benchmarks.partition("## Revision 2 of recipes")[2].partition("\n## ")[0]
    cells = [
        line.split("|")[-3:-1]
        for line in part.splitlines()
        if line.startswith("| ") and "±" in line and "ms" not in line
    ]
    numbers = [
        tuple(float(each.replace("−", "-")) for each in pair)
        for row in cells
        for cell in row
        for pair in re.findall(r"(−?[\d.]+) ± ([\d.]+)", cell)
    ]
    head = "## Processors and precision"
    if not numbers:
        return [head, nothing("the table of precisions in docs/benchmarks.md")]
    outside = sum(abs(mean) > half for mean, half in numbers)
    moved = [
        (made, other, Moved.between(here, other))
        for made, other in elsewhere
        for here in tasks
        if (here.dataset, here.scenario, here.division)
        == (other.dataset, other.scenario, other.division)
    ]
    moved = [each for each in moved if each[2].differences]
    return [
        head,
        (
            f"In the table of [benchmarks.md](benchmarks.md#revision-2-of-recipes), {len(cells)} "
            "lines ran with the same seeds in float32 and in bf16: "
            f"{len(numbers) - outside} of {len(numbers)} differences of test and forget accuracy "
            "lie within the interval of their three seeds. On one processor a repeated run is "
            "equal bit by bit; on another, sums round differently and trainings part "
            "([fidelity.md](fidelity.md) has two methods that swing by tens of points for it). "
            "`suite repeat` therefore asks for equality here, and elsewhere for no more than two "
            "seeds differ by."
        ),
        *(elsewhere_told(moved) if moved else []),
        (
            "**Answer.** Precision moves numbers by less than the seed does."
            if outside <= 0.1 * len(numbers)
            else "**Answer.** Precision moves more numbers than the seed explains."
        )
        + (f" {machines_answer([each for *_, each in moved])}" if moved else ""),
        "Limits: precision on three seeds and one task, with two processors"
        + (
            "; other machines had another version of torch, too, where the table says so."
            if moved
            else "; no other machine has run the tasks of this page."
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Numbers that verdicts rest on, of the same runs on two machines. `differences` by metric,
    method and seed, a Retrain among the methods; `bands` by metric, how far two Retrains lie apart
    by chance; `allowed` as `differences`, what `suite repeat` lets pass;
    `seeds` is the mean difference of two seeds there, of the same methods and metrics; `words` are
    pairs of verdicts on the same seeds.
    """

    differences: Mapping[tuple[str, str, int], float]
    bands: Mapping[str, float]
    allowed: Mapping[tuple[str, str, int], float]
    seeds: float
    words: Sequence[tuple[str, str]]

    @classmethod
    def between(cls, here: Task, there: Task) -> Moved:
        columns = {
            name: (
                here.retrain if name == "retrain" else here.methods[name].values,
                there.retrain if name == "retrain" else there.methods[name].values,
            )
            for name in ("retrain", *(here.methods.keys() & there.methods.keys()))
        }
        differences, between_seeds, bands, allowed = {}, [], {}, {}
        for metric in rules_of(here.scenario).metrics:
            retrains = list(here.retrain.get(metric, {}).values())
            if len(retrains) < 2:
                continue
            bands[metric] = seed_band(retrains, value=fmean(retrains), samples=1).half
            for name, (ours, theirs) in columns.items():
                mine, other = ours.get(metric, {}), theirs.get(metric, {})
                shared = mine.keys() & other.keys()
                differences |= {(metric, name, seed): other[seed] - mine[seed] for seed in shared}
                for seed in shared:
                    others = [value for each, value in mine.items() if each != seed]
                    allowed[metric, name, seed] = repeat_band(retrains, others, samples=1)
                if shared:
                    pairs = itertools.combinations(mine.values(), 2)
                    between_seeds += [fmean(abs(a - b) for a, b in pairs)] * len(shared)
        words = [
            (line.word, there.methods[name].word)
            for name, line in here.methods.items()
            if name in there.methods and line.scores.keys() == there.methods[name].scores.keys()
        ]
        return cls(
            differences=differences,
            bands=bands,
            allowed=allowed,
            seeds=fmean(between_seeds) if between_seeds else 0.0,
            words=words,
        )

    @property
    def equal(self) -> int:
        return sum(each == 0 for each in self.differences.values())

    @property
    def within(self) -> int:
        return sum(abs(it) <= self.bands[key[0]] for key, it in self.differences.items())

    @property
    def repeated(self) -> int:
        """As many as `suite repeat` lets pass."""
        return sum(abs(it) <= self.allowed[key] for key, it in self.differences.items())

    @property
    def share(self) -> float:
        """The mean difference, as a share of that of two seeds."""
        return fmean(abs(each) for each in self.differences.values()) / max(self.seeds, 1e-12)


def elsewhere_told(moved: Sequence[tuple[str, Task, Moved]]) -> list[str]:
    rows = []
    for made, task, each in moved:
        count = len(each.differences)
        metric, method, _ = largest = max(
            each.differences, key=lambda it: abs(each.differences[it])
        )
        rows.append(
            [
                made,
                task.title,
                str(count),
                f"{each.equal / count:.1%}",
                f"{each.within / count:.1%}",
                f"{each.repeated / count:.1%}",
                f"{each.share:.2f}",
                f"{100 * abs(each.differences[largest]):.1f} points (`{metric}`, `{method}`)",
                f"{sum(a == b for a, b in each.words)} of {len(each.words)}" if each.words else "–",
            ]
        )
    return [
        (
            "Other machines ran the same seeds. Compared are the numbers that verdicts rest on, of "
            "Retrain and of every method with authors' settings. *Against a seed* is the mean "
            "difference between the machines, divided by that between two seeds on one machine; "
            "1 would be another seed. Retrain's *band* is how far two Retrains lie apart by "
            "chance, the method's that of its own other seeds."
        ),
        table(
            (
                "Machine",
                "Task",
                "Numbers",
                "Equal",
                "Within Retrain's band",
                "Or the method's",
                "Against a seed",
                "Largest difference",
                "Same verdict",
            ),
            rows,
        ),
    ]


def machines_answer(moved: Sequence[Moved]) -> str:
    low, high = min(each.share for each in moved), max(each.share for each in moved)
    span = f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}"
    words = [pair for each in moved for pair in each.words]
    return (
        f"Another machine moves them by {span} of what another seed does"
        + (", depending on the task" if len(moved) > 1 else "")
        + (
            f"; {sum(a == b for a, b in words)} of {len(words)} verdicts are the same there."
            if words
            else "."
        )
    )


# -- what is missing


def missing(tasks: Sequence[Task]) -> list[str]:
    there = {
        (name, task.division, task.dataset, task.scenario)
        for task in tasks
        for name in ([LAPTOP] if task.source == "demo" else [task.source])
    }
    lacking = []
    for name in description.names():
        suite = description.load(name)
        for division in suite.divisions:
            gone = [
                f"`{task.scenario}` on {task.dataset}"
                for task in suite.tasks
                if (name, division, task.dataset, task.scenario) not in there
            ]
            if gone:
                lacking.append(f"- `{name}`, division {division}: {listed(gone)}.")
    return [
        "## What is missing",
        (
            "These tasks of the [suites](submit.md) have no runs here yet. "
            "`python scripts/findings_data.py PACK` takes a pack in, and `python "
            "scripts/make_docs.py` writes this page again with it:"
            if lacking
            else "Every division of every suite has its runs."
        ),
        "\n".join(lacking),
    ]


# -- words


def sentences(parts: Sequence[str]) -> str:
    return " ".join(f"{part[:1].upper()}{part[1:]}." for part in parts)


def nothing(what: str) -> str:
    return f"Not answered yet: it takes {what}."


def number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def span(low: float, high: float) -> str:
    return f"{number(low)} to {number(high)}"


def percent(part: float) -> str:
    return f"{100 * part:.0f} %"


def p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"
