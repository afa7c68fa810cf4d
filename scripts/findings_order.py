"""Two parts of docs/findings.md: whether the order of methods on one task says something of another
one's, and how many seeds tell neighbours in such an order apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from docs_text import listed, table
from findings_data import Line, Task
from findings_numbers import (
    Interval,
    seed_by_seed,
    seed_taus,
    seeds_needed,
    spread_error,
    tau,
    tau_interval,
    tau_p,
)
from findings_words import between, nothing, number, percent, span

from mucore.statistics.significance import holm

FEWEST = 4  # methods that two tasks share
ENOUGH = (3, 5, 10, 20)  # seeds
STILL = "did nothing"


@dataclass(frozen=True)
class Pair:
    """Two tasks and the methods that both have. `tau` is of all of them, `moved` of those that did
    something in both, NaN where these are too few; `seeds` are of single seeds.
    """

    one: Task
    other: Task
    names: Sequence[str]
    tau: Interval
    p: float
    busy: Sequence[str]
    moved: float
    seeds: Sequence[float]

    @classmethod
    def of(cls, one: Task, other: Task) -> Pair | None:
        """None where other data and another question at once would say nothing of either, or too
        few methods ran in both.
        """
        names = [name for name in one.methods if name in other.methods]
        if one.dataset != other.dataset and one.scenario != other.scenario:
            return None
        if len(names) < FEWEST:
            return None
        x, y = ([task.methods[name].score for name in names] for task in (one, other))
        busy = [n for n in names if STILL not in (one.methods[n].word, other.methods[n].word)]
        moved = [[task.methods[name].score for name in busy] for task in (one, other)]
        return cls(
            one=one,
            other=other,
            names=names,
            tau=tau_interval(x, y, name=f"order/{one.title}/{other.title}"),
            p=tau_p(x, y),
            busy=busy,
            moved=tau(*moved) if len(busy) >= FEWEST else float("nan"),
            seeds=seed_by_seed(_scores(one), _scores(other)),
        )

    @property
    def row(self) -> list[str]:
        lines = [(self.one.methods[name], self.other.methods[name]) for name in self.names]
        both = sum(a.qualified and b.qualified for a, b in lines)
        either = sum(a.qualified or b.qualified for a, b in lines)
        value, low, high = self.tau
        return [
            self.one.title,
            self.other.title,
            str(len(self.names)),
            number(value),
            span(low, high),
            f"{number(self.moved)} ({len(self.busy)})",
            f"{both} of {either}",
        ]


def _scores(task: Task) -> dict[str, dict[int, float]]:
    return {name: dict(line.scores) for name, line in task.methods.items()}


def order(tasks: Sequence[Task]) -> list[str]:
    head = "## Does the order of methods on one task predict another?"
    authors = [task for task in tasks if task.division == "authors" and not task.unclear]
    pairs = [
        pair
        for one, other in itertools.combinations(authors, 2)
        if (pair := Pair.of(one, other)) is not None and pair.tau[0] == pair.tau[0]
    ]
    if not pairs:
        return [head, nothing("two tasks that can be compared")]
    pairs.sort(key=lambda pair: -pair.tau[0])
    return [
        head,
        (
            "Kendall's τ between the distances of the methods that two tasks share: 1 where both "
            "put them in the same order, 0 where the one says nothing of the other, −1 where one "
            "reverses it. Authors' settings, means over seeds, intervals by a bootstrap over "
            "methods. Beside it: τ of those methods alone that did something in both (how many), "
            "and how many methods forgot in both, of those that forgot in at least one. Tasks on "
            "different data are compared under the same scenario alone; tasks whose verdicts "
            "cannot tell who forgot are left out."
        ),
        table(
            ("Task", "Other task", "Methods", "τ", "95 %", "τ, did something", "Forgot in both"),
            [pair.row for pair in pairs],
        ),
        f"**Answer.** {_answer(pairs, authors)}",
        (
            "Limits: pairs share tasks, and tasks the originals of a seed, so the pairs are not "
            "independent; the intervals are for other methods, not for other seeds; several "
            "methods are variants of one another; a low distance and a verdict are two things."
            f"{_places(authors)}"
        ),
    ]


def _answer(pairs: Sequence[Pair], tasks: Sequence[Task]) -> str:
    sure = sum(pair.tau[1] > 0 for pair in pairs)
    corrected = sum(
        p < 0.05 and pair.tau[0] > 0
        for p, pair in zip(holm([pair.p for pair in pairs]), pairs, strict=True)
    )
    first, last = pairs[0], pairs[-1]
    word = "Yes, in part" if 2 * sure > len(pairs) else "Hardly"
    moved = [pair.moved for pair in pairs if pair.moved == pair.moved]
    said = (
        f"{word}: the whole interval of τ lies above zero in {sure} of {len(pairs)} pairs of tasks "
        f"({corrected} after Holm's correction of Kendall's test), and the median τ is "
        f"{number(median(pair.tau[0] for pair in pairs))}"
        + (f", of methods that did something {number(median(moved))}" if moved else "")
        + f". Highest between {first.one.title} and {first.other.title} ({number(first.tau[0])}), "
        f"lowest between {last.one.title} and {last.other.title} ({number(last.tau[0])})."
    )
    same = {task.title: fmean(found) for task in tasks if (found := seed_taus(_scores(task)))}
    single = [each for pair in pairs for each in pair.seeds]
    if not same or not single:
        return said
    within, across = fmean(same.values()), fmean(single)
    return (
        f"{said} With one seed a task, two tasks agree with a mean τ of {number(across)}; two "
        f"seeds of one task with {number(within)} ({between([*same.values()])}, depending on the "
        "task): "
        + (
            "an order is more a matter of the task than of the seed."
            if min(same.values()) > across
            else "tasks do not differ more than seeds of one task do."
        )
    )


def _places(tasks: Sequence[Task]) -> str:
    """Where those that did nothing stand, by task."""
    told = []
    for task in tasks:
        ordered = sorted(task.methods.values(), key=lambda line: line.score)
        places = [place for place, line in enumerate(ordered, 1) if line.word == STILL]
        if places:
            told.append(f"{median(places):g} of {len(ordered)} in {task.title}")
    if not told:
        return ""
    return (
        " Where those that did nothing stand depends on how far the original is from Retrain: "
        f"their median place is {listed(told)}."
    )


def seeds(tasks: Sequence[Task]) -> list[str]:
    head = "## How many seeds tell neighbours apart?"
    rows, beside, every, middles = [], [], [], []
    for task in tasks:
        lines = [line for line in task.methods.values() if len(line.scores) > 2]
        groups = {"all methods": lines, "those that forgot": [x for x in lines if x.qualified]}
        for name, group in groups.items():
            near, all_pairs = neighbours(group), apart(itertools.combinations(group, 2))
            if len(near) < 2:
                continue
            if group is lines:
                beside.append(share(near, 5))
                every.append(share(all_pairs, 5))
                middles.append(near)
            rows.append(
                [task.title, task.division, name, str(len(near))]
                + [percent(share(near, k)) for k in ENOUGH]
                + [middle(near), percent(share(all_pairs, 5))]
            )
    if not rows:
        return [head, nothing("a task with three seeds")]
    counts = sorted({len(x.scores) for each in tasks for x in each.methods.values()} - {1, 2})
    errors = [
        f"{low**2:.2g} to {high**2:.2g} times as many after {count} seeds"
        for count in counts
        for low, high in (spread_error(count),)
    ]
    needed = sorted(middles, key=_middle)
    return [
        head,
        (
            "Methods stand in the order of their mean distance, and every two neighbours are "
            "compared by their differences on the same training seeds. The mean and the spread of "
            "these say how many seeds it takes until their t interval excludes zero. The table has "
            f"the share of neighbours told apart with {listed([str(k) for k in ENOUGH])} seeds, "
            "the number of seeds that the median pair of neighbours needs, and the share of all "
            "pairs of methods, neighbours or not, that five seeds tell apart."
        ),
        table(
            ("Task", "Settings", "Methods", "Neighbours")
            + (*(f"{k} seeds" for k in ENOUGH), "Median", "All pairs, 5 seeds"),
            rows,
        ),
        (
            "**Answer.** More than five, for neighbours: five seeds tell "
            f"{_shares(beside)} of them apart, depending on the task, and the median pair needs "
            f"{middle(needed[0])} to {middle(needed[-1])}. Of all pairs of methods five seeds tell "
            f"{_shares(every)} apart. That one method stands a place above another says little; "
            "that it stands far above, much."
            if beside and max(beside) < 0.5 <= median(every)
            else f"**Answer.** Five seeds tell {_shares(beside)} of neighbours apart, depending on "
            f"the task, and {_shares(every)} of all pairs of methods."
        ),
        (
            "Limits: each pair is tested alone, without a correction for how many there are. "
            "Neighbours are the closest pairs by construction, and the closer the longer the list. "
            "The number of seeds goes with the square of a spread that is itself uncertain: it may "
            f"be {listed(errors)}. What is said of more seeds than a task has is extrapolated."
        ),
    ]


def _shares(found: Sequence[float]) -> str:
    low, high = percent(min(found)), percent(max(found))
    return low if low == high else f"{low.removesuffix(' %')} to {high}"


def neighbours(lines: Sequence[Line]) -> list[int | None]:
    """The seeds that every two neighbours in the order of distance need."""
    return apart(itertools.pairwise(sorted(lines, key=lambda line: (line.score, line.method))))


def apart(pairs: Iterable[tuple[Line, Line]]) -> list[int | None]:
    """The seeds that each of these pairs needs."""
    found = []
    for one, other in pairs:
        shared = sorted(set(one.scores) & set(other.scores))
        if len(shared) > 2:
            found.append(seeds_needed([one.scores[s] - other.scores[s] for s in shared]))
    return found


def share(needed: Sequence[int | None], count: int) -> float:
    return sum(n is not None and n <= count for n in needed) / len(needed)


def middle(needed: Sequence[int | None]) -> str:
    found = _middle(needed)
    return "over 1,000" if found > 1000 else f"{found:.0f}"


def _middle(needed: Sequence[int | None]) -> float:
    return median(1e9 if n is None else n for n in needed)
