"""Two parts of docs/findings.md: which single metric agrees best with the verdict, and what the
baseline that cheats scores by each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import findings_data as data
import hidden_class_page as hidden
from docs_text import listed, table
from findings_data import Line, Task
from findings_numbers import Agreement, agreements, tau
from findings_words import nothing, number, sentences, span

from mucore import catalog
from mucore.catalog.cards import MetricCard
from mucore.metrics.registry import RELATIVE_TO_RETRAIN
from mucore.verdicts import seed_band

SHOWN = 12  # metrics in the table
FEWEST = 3  # methods on either side, from which a metric can be said to tell them apart
# Made of the very numbers that decide: means of gaps; the attack by correctness, whose efficacy is
# 1 less forget accuracy for nearly every run, and whose AUC goes by forget less test accuracy for
# all but SISA, which has several networks; and NoMUS, a mean of test accuracy and forgetting score.
DERIVED = ("average_gap", "average_gap_classes", "mia_correctness", "nomus")


@dataclass(frozen=True)
class Found:
    """A metric, its agreement with the verdict, its mean τ with the distance, and in how many tasks
    it decides the verdict itself or is made of what does.
    """

    card: MetricCard
    agreement: Agreement
    tasks: int
    tau: float
    decides: int

    @property
    def row(self) -> list[str]:
        value, low, high = self.agreement.mean
        return [self.card.title, f"`{self.card.id}`", number(value), span(low, high)] + [
            number(self.tau),
            str(self.tasks),
            str(self.decides or "–"),
        ]


def metrics(tasks: Sequence[Task]) -> list[str]:
    head = "## Which single metric agrees best with the verdict?"
    judged = [t for t in tasks if min(len(t.forgot()), len(t.forgot(False))) >= FEWEST]
    found = measured(judged)
    free = [each for each in found if not each.decides]
    if not free:
        return [head, nothing("tasks in which some forgot, and metrics that decide no verdict")]
    best, last = free[0], found[-1]
    less = {each.card.id: best.agreement.less(each.agreement) for each in free[1:]}
    alike = [name for name, (_, low, _) in less.items() if not low > 0]
    return [
        head,
        (
            f"In {len(judged)} sets of runs of {len({task.title for task in judged})} tasks, in "
            f"which {FEWEST} methods or more forgot and as many did not: how often a method that "
            "forgot lies nearer to Retrain in this one number than one that did not (1 always, 0.5 "
            "a guess; mean over the sets, interval by a bootstrap over methods, the same ones in "
            "every set). τ is Kendall's, of this number and the distance. The last column says in "
            "how many sets a metric decides the verdict itself or is derived from numbers that do: "
            "average gaps are means of such numbers, and the attack by correctness is forget "
            "accuracy under another name, or by its AUC forget less test accuracy. There its "
            "agreement is no finding. Metrics that are the same for all methods are left out."
        ),
        table(
            ("Metric", "Id", "Agreement", "95 %", "τ", "Sets", "Decides in"),
            [each.row for each in (*found[:SHOWN], *found[SHOWN:][-1:])],
        ),
        (
            f"The first {min(SHOWN, len(found))} of {len(found)}, and the last. **Answer.** Of the "
            f"{len(free)} metrics that neither decide a verdict nor are derived from what does, "
            f"{best.card.title} (`{best.card.id}`) agrees most, {number(best.agreement.mean[0])}"
            + (
                f"; by the paired difference {listed([_told(n, less[n]) for n in alike])} "
                f"{'is' if len(alike) == 1 else 'are'} not shown to be worse."
                if alike
                else "; every other is shown to be worse by the paired difference."
            )
            + f" {last.card.title} (`{last.card.id}`) agrees least, "
            f"{number(last.agreement.mean[0])}."
        ),
        (
            "Limits: the verdict is our own rule, not the truth; metrics that share samples with "
            f"it agree with it for that. The best of {len(free)} was picked after the fact, so its "
            "agreement is somewhat too high, and the paired intervals are not corrected for their "
            "number. They are for other methods, not for other tasks or seeds."
        ),
    ]


def _told(name: str, less: tuple[float, float, float]) -> str:
    value, low, high = less
    return f"`{name}` ({number(value)} less, {span(low, high)})"


def measured(judged: Sequence[Task]) -> list[Found]:
    """The metrics that most of these tasks have and that differ between methods, the best first."""
    cards = {
        card.id: card
        for card in catalog.metrics()
        if card.group in data.GROUPS and card.ideal != "none"
    }
    gaps = {name: [_varying(gaps_of(task, name)) for task in judged] for name in cards}
    sides = {name: [*map(_sides, judged, each)] for name, each in gaps.items()}
    sides = {
        name: each
        for name, each in sides.items()
        if 2 * sum(side is not None for side in each) > len(judged)
    }
    found = []
    for name, agreement in agreements(sides).items():
        there = [
            (task, gap)
            for task, gap, side in zip(judged, gaps[name], sides[name], strict=True)
            if side is not None
        ]
        taus = [tau([*gap.values()], [t.methods[n].score for n in gap]) for t, gap in there]
        decides = sum(decided(name, task) for task in judged)
        known = [each for each in taus if each == each]
        mean_tau = fmean(known) if known else float("nan")
        found.append(Found(cards[name], agreement, len(there), mean_tau, decides))
    return sorted(found, key=lambda each: (-each.agreement.mean[0], each.card.id))


def decided(metric: str, task: Task) -> bool:
    """Whether a verdict under the task rests on the metric, or it is derived from what does."""
    return metric in task.names or metric.startswith(DERIVED)


def _varying(gaps: dict[str, float]) -> dict[str, float]:
    return gaps if len(set(gaps.values())) > 1 else {}


def _sides(
    task: Task, gaps: Mapping[str, float]
) -> tuple[dict[str, float], dict[str, float]] | None:
    """The gaps of the methods that forgot, and of the others; None where these are too few."""
    forgot, others = (
        {line.method: gaps[line.method] for line in task.forgot(side) if line.method in gaps}
        for side in (True, False)
    )
    return (forgot, others) if min(len(forgot), len(others)) >= FEWEST else None


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


# -- the baseline that cheats


def cheater(tasks: Sequence[Task]) -> list[str]:
    head = "## What the baseline that cheats scores"
    found = [(task, line) for task in tasks for line in task.lines if line.cheats and line.scores]
    fooled = catalog.blind_to_a_hidden_class()
    rule = (
        "[Head distillation](methods.md#head_distillation) keeps the features of the original and "
        "teaches the last layer alone to say what the original says without the forgotten class. "
        f"{len(fooled)} metrics take it for Retrain wherever they can tell anything "
        "([hidden-class.md](hidden-class.md)). Below, *fooled* counts the metrics that take it for "
        "Retrain in this task, *see it* those that do not; *work* is what it took, as a share of a "
        "Retrain's."
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
            f"{task.title}: it lies nearer to Retrain than {better} of {len(task.methods)} "
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
        table(("Task", "Source", "Distance", "Nearer than", "Fooled", "See it", "Work"), rows),
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


def words_of_metrics(task: Task, line: Line) -> dict[str, list[str]]:
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


def work(line: Line) -> str:
    values = line.values.get("rte_work", {})
    return f"{100 * fmean(values.values()):.2g} %" if values else "–"
