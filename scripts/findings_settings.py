"""A part of docs/findings.md: authors' settings against tuned ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from docs_text import table
from findings_data import Task
from findings_numbers import sign_p
from findings_words import nothing, p_text, sentences

from mucore.statistics.significance import holm
from mucore.suite.scores import paired_p
from mucore.tuning.study import Study
from mucore.tuning.wish import TRIALS


@dataclass(frozen=True)
class Both:
    """A task with authors' settings and with tuned ones, and the seeds' differences of the distance
    by method, above 0 where the tuned ones are nearer.
    """

    authors: Task
    tuned: Task
    pairs: Mapping[str, Sequence[float]]

    @property
    def nearer(self) -> list[str]:
        return [name for name, each in self.pairs.items() if fmean(each) > 0]

    @property
    def further(self) -> list[str]:
        return [name for name, each in self.pairs.items() if fmean(each) < 0]

    @property
    def unclear(self) -> bool:
        return self.authors.unclear or self.tuned.unclear

    @property
    def forgot(self) -> tuple[int, int]:
        """How many with authors' settings, and with tuned ones."""
        before, after = (
            sum(task.methods[name].qualified for name in self.pairs)
            for task in (self.authors, self.tuned)
        )
        return before, after

    @property
    def further_and_forgot(self) -> int:
        """How many lie further with tuned settings, and forgot with these alone."""
        return sum(
            self.tuned.methods[name].qualified and not self.authors.methods[name].qualified
            for name in self.further
        )

    @property
    def p(self) -> float:
        return sign_p(len(self.nearer), len(self.further))


def both(tasks: Sequence[Task]) -> list[Both]:
    found = []
    for tuned in (task for task in tasks if task.division == "tuned"):
        for authors in tasks:
            if (authors.division, authors.title) != ("authors", tuned.title):
                continue
            pairs = {}
            for name, line in tuned.methods.items():
                before = authors.methods.get(name)
                shared = sorted(set(line.scores) & set(before.scores)) if before else []
                if before is not None and len(shared) > 1:
                    pairs[name] = [before.scores[seed] - line.scores[seed] for seed in shared]
            if pairs:
                found.append(Both(authors, tuned, pairs))
    return found


def settings(tasks: Sequence[Task], studies: Sequence[Study] = ()) -> list[str]:
    head = "## Authors' settings against tuned ones"
    found = both(tasks)
    if not found:
        return [head, nothing("a task with both")]
    rows, said = [], []
    for each in found:
        names, (before, after) = each.pairs, each.forgot
        sure = certain(each.pairs)
        none, kept = ended(studies, each.tuned)
        rows.append(
            [
                each.tuned.title,
                str(len(names)),
                str(none),
                f"{len(each.nearer)} (p {p_text(each.p)})",
                f"{sum(it > 0 for it in sure.values())} and {sum(it < 0 for it in sure.values())}",
                *(
                    f"{median(task.methods[name].score for name in names):.1f}"
                    for task in (each.authors, each.tuned)
                ),
                *(("–", "–") if each.unclear else (str(before), str(after))),
            ]
        )
        said.append(
            f"{each.tuned.title}: {len(each.nearer)} of {len(names)} methods with a tuned setting "
            f"are nearer to Retrain by the distance (sign test: p {p_text(each.p)}), "
            + (
                "and who forgot cannot be told"
                if each.unclear
                else f"and {after} forgot instead of {before}"
            )
            + _beside(none, "found no setting")
            + _beside(kept, "kept the authors' own")
        )
    yet = sum(each.further_and_forgot for each in found)
    further = sum(len(each.further) for each in found)
    longer = sum(len(study.first) > TRIALS for study in studies)
    return [
        head,
        (
            "Methods that ran with both on the same seeds, on which no search ran a method: how "
            "many searches found no setting, so that the method is not among those counted; how "
            "many methods are nearer to Retrain with the tuned one; for how many the paired "
            "difference excludes zero after Holm's correction (nearer and further); the median "
            "distance; and how many forgot."
        ),
        table(
            (
                "Task",
                "Methods",
                "No setting found",
                "Nearer",
                "Certain: nearer and further",
                "Median, authors'",
                "Median, tuned",
                "Forgot, authors'",
                "Forgot, tuned",
            ),
            rows,
        ),
        (
            f"**Answer.** {sentences(said)} Of the {further} that lie further by the distance, "
            f"{yet} forgot with tuned settings alone: the distance adds up harm and lack of "
            "forgetting, so to forget at some cost may count as further than to do nothing."
        ),
        (
            f"Limits: a search has few trials ({TRIALS}"
            + (f", more in {longer} of {len(studies)} searches" if longer else "")
            + "), on three seeds ([tuning.md](tuning.md)), and its unit is how far Retrains of the "
            "seeds compared here lie apart on validation data. Methods share data, seeds and code, "
            "so that the sign test's p is too small; Holm's correction is for the methods of one "
            "task."
        ),
    ]


def _beside(searches: int, did: str) -> str:
    return f"; {searches} more {'search' if searches == 1 else 'searches'} {did}" * bool(searches)


def ended(studies: Sequence[Study], task: Task) -> tuple[int, int]:
    """How many searches of the task found no setting, and how many kept the authors'."""
    mine = [
        (study.choice(), study.authors)
        for study in studies
        if (study.task["dataset"], study.task["scenario"]) == (task.dataset, task.scenario)
        and study.finished(TRIALS)
    ]
    none = sum(choice is None for choice, _ in mine)
    kept = sum(c is not None and a is not None and c.values == a.values for c, a in mine)
    return none, kept


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
