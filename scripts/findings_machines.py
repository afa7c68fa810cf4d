"""A part of docs/findings.md: how far precision and other machines move the numbers."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import findings_data as data
from docs_text import listed, table
from findings_data import Task
from findings_words import between, nothing, number, percent

from mucore import catalog
from mucore.suite import description
from mucore.suite.scores import repeat_band
from mucore.verdicts import rules_of, seed_band
from mucore.verdicts.rule import BLINDABLE, Line, word

Numbers = Sequence[tuple[float, float]]  # differences and half of their intervals, in points


def machines(
    benchmarks: str,
    tasks: Sequence[Task] = (),
    elsewhere: Sequence[tuple[str, Task]] = (),
    bases: Mapping[str, str] | None = None,
) -> list[str]:
    """Counts of the table of precisions in docs/benchmarks.md, and how far runs of other machines
    lie from those of the same seeds in `tasks`; `bases` says what computed these, by source, ""
    where nothing does.
    """
    head = "## Processors and precision"
    lines, numbers = precisions(benchmarks)
    if not numbers:
        return [head, nothing("the table of precisions in docs/benchmarks.md")]
    moved = [
        (made, other, Moved.between(here, other))
        for made, other in elsewhere
        for here in tasks
        if (here.title, here.division) == (other.title, other.division)
    ]
    moved = [each for each in moved if each[2].differences]
    return [
        head,
        (
            f"In the table of [benchmarks.md](benchmarks.md#revision-2-of-recipes), {lines} lines "
            "ran with the same three seeds in float32 and in bf16: differences of test and forget "
            "accuracy, each with the interval of its mean. On one processor a repeated run is "
            "equal bit for bit; on another, sums round differently and runs diverge "
            "([fidelity.md](fidelity.md) has two methods that swing by tens of points for it). "
            "`suite repeat` therefore asks for equality on the same processor, and on another for "
            "no more than two seeds differ by."
        ),
        *(_elsewhere(moved, {task.source for task in tasks}, bases or {}) if moved else []),
        f"**Answer.** {_precision(numbers)}{_answer(moved) if moved else ''}",
        "Limits: precision on three seeds and one task, with two processors, where an interval "
        "that holds zero is no proof that nothing moves"
        + (
            "; other machines had another version of torch, too, where the table says so."
            if moved
            else "; no other machine has run the tasks of this page."
        ),
    ]


def precisions(benchmarks: str) -> tuple[int, Numbers]:
    """How many lines the table has, and its differences."""
    part = benchmarks.partition("## Revision 2 of recipes")[2].partition("\n## ")[0]
    cells = [
        line.split("|")[-3:-1]
        for line in part.splitlines()
        if line.startswith("| ") and "±" in line and "ms" not in line
    ]
    return len(cells), [
        (float(mean.replace("−", "-")), float(half))
        for row in cells
        for cell in row
        for mean, half in re.findall(r"(−?[\d.]+) ± ([\d.]+)", cell)
    ]


def _precision(numbers: Numbers) -> str:
    able = [each for each in numbers if each != (0, 0)]
    if not able:
        return "No number of the table can move, so precision is not tested."
    off = [abs(mean) for mean, half in able if abs(mean) > half]
    stuck = len(numbers) - len(able)
    return (
        f"With three seeds no effect of precision shows in {len(able) - len(off)} of {len(able)} "
        "differences that can move"
        + (f" ({stuck} more are at a floor or a ceiling on every seed)" if stuck else "")
        + (f"; {len(off)} {_do(len(off))} move, by {between(off, 1)} points" if off else "")
        + f". The intervals reach up to {max(half for _, half in able):.0f} points, so there an "
        "effect may go unseen."
    )


def _forgot(pairs: Sequence[tuple[str, str]]) -> str:
    """How many of the verdicts compared are of a method that forgot, here or there."""
    count = sum("forgot" in pair for pair in pairs)
    if not count:
        return "none of them is “forgot”, here or there"
    return (
        f"{count} of the {len(pairs)} {'is' if count == 1 else 'are'} “forgot” here, there or both"
    )


def _do(count: int) -> str:
    return "does" if count == 1 else "do"


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Numbers that verdicts rest on, of the same runs on two machines. `differences` by metric,
    method and seed, a Retrain among the methods; `bands` by metric, how far two Retrains lie apart
    by chance; `allowed` as `differences`, what `suite repeat` lets pass;
    `seeds` is the mean difference of two seeds there, of the same methods and metrics; `words` are
    by method the verdicts here and there on the seeds that both have.
    """

    differences: Mapping[tuple[str, str, int], float]
    bands: Mapping[str, float]
    allowed: Mapping[tuple[str, str, int], float]
    seeds: float
    words: Mapping[str, tuple[str, str]]

    @classmethod
    def between(cls, here: Task, there: Task) -> Moved:
        columns = {
            name: (
                here.retrain if name == "retrain" else here.ran[name].values,
                there.retrain if name == "retrain" else there.ran[name].values,
            )
            for name in ("retrain", *(name for name in here.ran if name in there.ran))
        }
        differences, between_seeds, bands, allowed = {}, [], {}, {}
        for metric in here.names:
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
                    # a Retrain has no part in its own band
                    told = others if name == "retrain" else retrains
                    allowed[metric, name, seed] = repeat_band(told, others, samples=1)
                if shared and len(mine) > 1:
                    pairs = itertools.combinations(mine.values(), 2)
                    between_seeds += [fmean(abs(a - b) for a, b in pairs)] * len(shared)
        return cls(
            differences=differences,
            bands=bands,
            allowed=allowed,
            seeds=fmean(between_seeds) if between_seeds else 0.0,
            words=words_of(here, there),
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

    @property
    def same(self) -> int:
        return sum(a == b for a, b in self.words.values())


def words_of(here: Task, there: Task) -> dict[str, tuple[str, str]]:
    """By method the verdicts of two machines, on the seeds that both have. Where one has more,
    verdicts are asked again; not under scenarios whose verdicts ask whether an attack only guessed,
    for that is not known here.
    """
    found = {}
    for name in (name for name in here.ran if name in there.ran):
        one, other = here.ran[name], there.ran[name]
        if one.scores.keys() == other.scores.keys():
            found[name] = (one.word, other.word)
        elif BLINDABLE not in here.names:
            parts = [task.numbers(part) for task in (here, there) for part in _parts(task, name)]
            if shared := sorted(set.intersection(*map(set, parts))):
                found[name] = (_word(here, name, shared), _word(there, name, shared))
    return found


def _parts(task: Task, method: str) -> tuple[Mapping[str, Mapping[int, float]], ...]:
    return task.ran[method].values, task.original, task.retrain


def _word(task: Task, method: str, seeds: Sequence[int]) -> str:
    """The word of a method's verdict on these seeds, within the band of all Retrains."""
    classes = catalog.dataset(task.dataset).classes
    rules = rules_of(task.scenario, chance=1 / classes if classes else 0.0)
    values, original, retrain = (
        {name: [part[name][seed] for seed in seeds] for name in task.names}
        for part in _parts(task, method)
    )
    columns = {name: [*task.retrain[name].values()] for name in task.names}
    bands = {name: seed_band(it, value=fmean(it), samples=1) for name, it in columns.items()}
    return word(Line(values=values, original=original, retrain=retrain), bands, rules)


def model_of(dataset: str) -> str:
    """What runs on a data set trained, on this page."""
    if dataset in dict(data.DEMO):
        return data.RECIPE["model"]
    suites = map(description.load, description.names())
    return next(t.model for suite in suites for t in suite.tasks if t.dataset == dataset)


def _elsewhere(
    moved: Sequence[tuple[str, Task, Moved]], sources: set[str], bases: Mapping[str, str]
) -> list[str]:
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
                f"`{model_of(task.dataset)}`",
                str(count),
                *(percent(part / count) for part in (each.equal, each.within, each.repeated)),
                number(each.share),
                f"{100 * abs(each.differences[largest]):.1f} points (`{metric}`, `{method}`)",
                f"{each.same} of {len(each.words)}" if each.words else "–",
            ]
        )
    known = [f"{words} ({source})" for source, words in bases.items() if words]
    silent = [f"`{source}`" for source in sorted(sources) if not bases.get(source)]
    return [
        (
            "Other machines ran the same seeds. Compared are the numbers that verdicts rest on, of "
            "Retrain and of every method with authors' settings, with those of this page"
            + (f", which ran on {listed(known)}" if known else "")
            + (f"; nothing says what computed those of {listed(silent)}" if silent else "")
            + ". *Within Retrain's band*: no more than two Retrains lie apart by chance. *Or the "
            "method's*: no more than that, or than two of the method's own other seeds do, "
            "whichever is more, as `suite repeat` asks. *Against a seed* is the mean difference "
            "between the machines, divided by that between two seeds on one machine; 1 would be "
            "another seed. *Same verdict* is on the seeds that both machines have."
        ),
        table(
            (
                "Machine",
                "Task",
                "Network",
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


def _answer(moved: Sequence[tuple[str, Task, Moved]]) -> str:
    told = []
    for model in dict.fromkeys(model_of(task.dataset) for _, task, _ in moved):
        mine = [each for each in moved if model_of(each[1].dataset) == model]
        pairs = [pair for *_, each in mine for pair in each.words.values()]
        changed = [
            f"`{name}`: “{a}” here, “{b}” there"
            for *_, each in mine
            for name, (a, b) in each.words.items()
            if a != b
        ]
        told.append(
            f" Another machine moves the numbers of `{model}` by "
            f"{between([each.share for *_, each in mine])} of what another seed does"
            + (
                f", and {len(pairs) - len(changed)} of {len(pairs)} verdicts are the same"
                + (f" ({listed(changed)})" if changed else "")
                + f"; {_forgot(pairs)}"
                if pairs
                else ""
            )
            + "."
        )
    return "".join(told)
