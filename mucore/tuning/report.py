"""A study in numbers and sentences, for tables, JSON and docs/generated/tuning.md."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from mucore.tuning import objective
from mucore.tuning.space import Space
from mucore.tuning.study import Choice, Facts, Folder, Study, Trial
from mucore.tuning.task import Task

OFF: Final = 5.0  # a score from which on a setting is visibly off


def record(task: Task, study: Study, trials: int, root: Path) -> dict[str, Any]:
    """What a study came to, as JSON has it; scores are None where there is no candidate."""
    choice, best, facts = study.choice(), study.best(), Folder(root, task).facts()
    return {
        "task": task.name,
        "scenario": task.scenario,
        "changed": task.changed,
        "dataset": task.content()["dataset"],
        "method": study.method,
        "first": len(study.first),
        "trials": len(study.trials),
        "finished": study.finished(trials),
        "open": study.open,
        "cap": study.cap,
        "authors": study.authors.score if study.authors is not None else None,
        "best": best[0].score if best else None,
        "score": choice.score if choice is not None else None,
        "scores": list(choice.scores) if choice is not None else [],
        "nothing": doing_nothing(study, facts),
        "work": choice.work if choice is not None else None,
        "values": dict(choice.values) if choice is not None else None,
        "edges": list(edges(study, facts)),
        "why_none": why_none(study) if choice is None else "",
        "file": str(Folder(root, task).study_file(study.method)),
        "cautions": cautions(task, study, trials, facts),
    }


def edges(study: Study, facts: Facts | None) -> tuple[str, ...]:
    """Where the chosen setting lies at an edge of what was searched: "lr, upper end"."""
    choice = study.choice()
    if choice is None or facts is None:
        return ()
    return Space(study.method, facts.sizes, {}, study.space).edges(choice.values)


def foreign(task: Task, study: Study, facts: Facts) -> int:
    """How many settings of the first stage, the authors' left out, are none of the space that was
    searched last: the card had another one when they were drawn, and the sampler leaves them out.
    """
    usual = task.spec(study.method, seed=study.seed).parameters
    space = Space(study.method, facts.sizes, usual, study.space)
    return sum(not space.holds(trial.values) for trial in study.first[1:])


@dataclass(frozen=True)
class Fallen:
    """One of the best settings of the first seed that may not be chosen for what it did on a later
    one: its scores up to there, one a seed, and what it did.
    """

    values: Mapping[str, Any]
    scores: tuple[float, ...]
    why: str

    def said(self, first: int) -> str:
        """As a clause; `first` is the seed of the first score."""
        *good, last = self.scores
        held = listed([f"{score:.3g} on seed {seed}" for seed, score in enumerate(good, first)])
        return f"J {held}, but on seed {first + len(good)} it {self.why} ({last:.3g})"


def fallen(study: Study) -> list[Fallen]:
    """Which of the best settings of the first seed fell on another, the best first."""
    found = []
    for trial in study.best():
        rows: list[Trial] = []
        for seed in study.seeds():
            row = study.of(trial.values, seed)
            if row is None:
                break
            rows.append(row)
            if not row.candidate:
                scores = tuple(each.score for each in rows)
                found.append(Fallen(trial.values, scores, _what(row)))
                break
    return found


def became(trial: Trial) -> Literal["candidate", "still", "over", "failed"]:
    """What became of a setting on a seed, one thing of each: one that moved nothing may have taken
    too much as well.
    """
    if trial.still:
        return "still"
    if trial.over:
        return "over"
    return "failed" if trial.ended else "candidate"


def _what(trial: Trial) -> str:
    return {
        "candidate": "may be chosen",
        "still": "moved nothing",
        "over": "took too much work",
        "failed": f"failed: {trial.ended}",
    }[became(trial)]


def off(study: Study) -> bool:
    """Whether the chosen setting is visibly off on a seed, whatever its mean."""
    choice = study.choice()
    return choice is not None and max(choice.scores) > OFF


def doing_nothing(study: Study, facts: Facts | None) -> float | None:
    """The original's mean J on the seeds of a study; None where that is not known of each."""
    if facts is None:
        return None
    scores = [facts.seeds.get(str(seed), {}).get("score") for seed in study.seeds()]
    known = [score for score in scores if score is not None]
    return statistics.fmean(known) if len(known) == len(scores) else None


def further(choice: Choice | None, nothing: float | None) -> bool:
    """Whether a chosen setting lies further from Retrain than doing nothing on the same seeds."""
    return choice is not None and nothing is not None and choice.score > nothing


def cautions(task: Task, study: Study, trials: int, facts: Facts | None) -> list[str]:
    """Sentences on what to beware of."""
    said, method = [], study.method
    if facts is not None and not visible(facts, task.scenario, study.seed):
        said.append(
            f"{task.title}: original and Retrain are too near to each other in forget accuracy to "
            "tell whether a setting moved anything, so one that does nothing may win."
        )
    if (study.open or study.exhausted) and len(study.first) < trials:
        cap = "a whole Retrain" if study.open else "a trial may"
        said.append(
            f"{method} under {task.scenario}: so little of its space takes less than {cap} that "
            f"{len(study.first)} of {trials} settings were tried."
        )
    if study.choice() is None and study.finished(trials):
        said.append(
            f"{method} under {task.scenario}: none of {len(study.first)} settings may be chosen: "
            f"{why_none(study)}. More trials (--trials) may find one, from a wider `search` on its "
            "card, too."
        )
    elif found := edges(study, facts):
        said.append(
            f"{method} under {task.scenario}: the chosen setting lies at the edge of the space "
            f"({'; '.join(found)}), and a better one may lie beyond. Widen `search` on its card "
            "and ask for more trials (--trials); those that there are stay."
        )
    if facts is not None and (count := foreign(task, study, facts)):
        said.append(
            f"{method} under {task.scenario}: {count} of {len(study.first)} settings were drawn "
            "from another space, before `search` on its card was changed. They may be chosen, but "
            "teach the sampler nothing."
        )
    if gone := fallen(study):
        said.append(
            f"{method} under {task.scenario}: "
            f"{of_the_best(len(gone), len(study.best()), study.seed)}: "
            f"{'; '.join(each.said(study.seed) for each in gone)}."
        )
    if (choice := study.choice()) is not None and off(study):
        said.append(
            f"{method} under {task.scenario}: the chosen setting is visibly off (J above {OFF:g}) "
            f"on one seed at least: {', '.join(f'{score:.3g}' for score in choice.scores)}."
        )
    nothing = doing_nothing(study, facts)
    if choice is not None and further(choice, nothing):
        said.append(
            f"{method} under {task.scenario}: the chosen setting lies further from Retrain (J "
            f"{choice.score:.3g}) than the original itself ({nothing:.3g} on the same seeds): it "
            "forgets, at a price that doing nothing does not have."
        )
    if study.open:
        said.append(
            f"{method} under {task.scenario} is open: it can do nothing for the work that others "
            f"may take, so its cap is {study.cap:.2g} of a Retrain."
        )
    return said


def listed(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def visible(facts: Facts, scenario: str, seed: int) -> bool:
    """Whether original and Retrain of the search's seed are far enough apart to tell if a setting
    moved.
    """
    name, at = objective.telling(scenario), facts.seeds[str(seed)]
    return objective.is_visible(at["original"][name], at["retrain"][name], facts.units[name])


def why_none(study: Study) -> str:
    """What became of the settings of a study that came to none, each counted once."""
    counts = Counter(map(became, study.first))
    fell = len(fallen(study))
    best = len(study.best())
    told = (
        (counts["still"], "moved nothing"),
        (counts["over"], "took too much"),
        (counts["failed"], "failed"),
        (fell, "fell on another seed"),
        (
            counts["candidate"] - fell,
            f"did not come among the {best} best of the first seed, which alone are tried on "
            "others",
        ),
    )
    return listed([f"{count} {what}" for count, what in told if count])


def of_the_best(count: int, best: int, seed: int) -> str:
    """The beginning of a sentence on those of a study's best settings that fell."""
    if best == 1:
        return f"the best setting on seed {seed} may not be chosen, for what it did on another"
    them = "they" if count > 1 else "it"
    return (
        f"of the {best} best settings on seed {seed}, {count} may not be chosen, for what {them} "
        "did on another"
    )
