"""Studies as files: what was tried for one method under one task, and what follows from it. A study
goes on where it was, on any machine, so nights add up.

    FOLDER/<task>/task.json      the task, and what its references are like on each seed
    FOLDER/<task>/<method>.json  one trial a line

Imports no torch.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from mucore.catalog import tuning
from mucore.catalog.tuning import Tuned
from mucore.errors import LONGEST_PATH, BadFile, said
from mucore.files import write
from mucore.store.transient_errors import patient
from mucore.tuning.objective import REVISION, WORST, Limit, Numbers, limits, score
from mucore.tuning.task import Task

SEEDS = 3  # on which a setting is judged: fewer say nothing of the spread over seeds
PATIENCE = 10  # settings in a row that are no better than the best before a search ends


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One setting on one seed. `values` are of the parameters that are searched, `numbers` what
    `Judge.measure` says of the unlearned network, `gaps` the same less Retrain's.

    `work` is in gradient samples, as a share of Retrain's; `seconds` are the processor's for the
    method alone. `ended` says why there are no numbers; "" where there are.
    """

    seed: int
    values: Mapping[str, Any]
    score: float
    work: float
    seconds: float
    numbers: Numbers = field(default_factory=dict)
    gaps: Numbers = field(default_factory=dict)
    over: bool = False  # took more work than the search allows
    ended: str = ""


@dataclass(frozen=True)
class Setting:
    """A setting and its trials, one a seed."""

    values: Mapping[str, Any]
    trials: tuple[Trial, ...]

    @property
    def candidate(self) -> bool:
        """Whether it may be chosen, as far as its seeds can tell."""
        return not any(trial.over or trial.ended for trial in self.trials)

    @property
    def judged(self) -> bool:
        """Whether it may be chosen now: on all seeds."""
        return self.candidate and len(self.trials) == SEEDS

    @property
    def scores(self) -> tuple[float, ...]:
        return tuple(trial.score for trial in self.trials)

    @property
    def score(self) -> float:
        """The objective: the mean over the seeds that it has."""
        return statistics.fmean(self.scores)

    @property
    def work(self) -> float:
        return statistics.fmean(trial.work for trial in self.trials)


@dataclass(frozen=True)
class Study:
    """The trials of one method. `revision` is that of its code: the card's, or the hash of a user's
    own file. `cap` is the share of Retrain's gradient samples that a trial may take; `open` says
    that nothing the method can do costs as little as the others may, so its cap is another.
    `drained`: no further setting was found. `asked`: so many settings at most were asked for when
    it was worked on last.
    """

    task: Mapping[str, Any]
    method: str
    revision: str
    seed: int
    cap: float
    open: bool
    trials: tuple[Trial, ...] = ()
    drained: bool = False
    asked: int = 0

    @cached_property
    def settings(self) -> list[Setting]:
        """What was tried, in the order in which it was drawn: the authors' setting first."""
        rows: dict[str, dict[int, Trial]] = {}
        for trial in self.trials:
            key = json.dumps(dict(trial.values), sort_keys=True)
            rows.setdefault(key, {}).setdefault(trial.seed, trial)
        wanted = (
            [seeds[each] for each in seeds_from(self.seed) if each in seeds]
            for seeds in rows.values()
        )
        return [Setting(trials[0].values, tuple(trials)) for trials in wanted if trials]

    def choice(self) -> Setting | None:
        """The best of those that are judged; of equal ones the first, so that the authors' setting
        stays until something beats it.
        """
        judged = (each for each in self.settings if each.judged)
        return min(judged, key=lambda each: each.score, default=None)

    def pending(self) -> list[Setting]:
        """The settings that go on to their next seed, the best first. A clear loser is pruned: not
        even a perfect score there would bring its mean to the best's.
        """
        best = self.choice()
        most = math.inf if best is None else best.score
        found = (each for each in self.settings if each.candidate and not each.judged)
        return sorted(
            (each for each in found if sum(each.scores) / (len(each.trials) + 1) <= most),
            key=lambda each: each.score,
        )

    @property
    def since(self) -> int:
        """How many settings in a row were no better than the best; 0 where there is none yet."""
        best = self.choice()
        return 0 if best is None else len(self.settings) - self.settings.index(best) - 1

    def finished(self, trials: int | None = None) -> bool:
        """Whether nothing that was tried goes on, and nothing is drawn any more: for want of
        improvement, because there are `trials` settings (`asked` if not said), or all that can be
        drawn.
        """
        most = self.asked if trials is None else trials
        enough = self.since >= PATIENCE or len(self.settings) >= most or self.drained
        return enough and not self.pending()

    def falling(self) -> list[float | None]:
        """The best score after each setting, None before the first that is judged."""
        best, found = math.inf, []
        for each in self.settings:
            best = min(best, each.score) if each.judged else best
            found.append(best if best < math.inf else None)
        return found

    @property
    def authors(self) -> Setting | None:
        """The authors' setting, the first of all."""
        return self.settings[0] if self.settings else None

    def tried(self) -> list[tuple[Mapping[str, Any], float]]:
        """Settings with the score that the sampler learns from: what took too much is as bad as it
        gets.
        """
        return [
            (each.values, WORST if any(trial.over for trial in each.trials) else each.score)
            for each in self.settings
        ]


def seeds_from(first: int) -> tuple[int, ...]:
    """The seeds of a search."""
    return tuple(range(first, first + SEEDS))


@dataclass(frozen=True)
class Facts:
    """What all methods of a task share: `sizes`, which formulas count with (`formulas.NAMES`), and
    of each seed of a search the numbers of `original` and `retrain`.
    """

    task: Mapping[str, Any]
    sizes: Numbers
    seeds: Mapping[str, Mapping[str, Any]]

    def limits(self, first: int) -> dict[str, Limit]:
        """The margins that a search on the seed `first` and the two after it goes by. Raises
        `KeyError` where one is missing.
        """
        known = [self.seeds[str(seed)] for seed in seeds_from(first)]
        parts = ([each[who] for each in known] for who in ("original", "retrain"))
        # version 0.2 did not write down the accuracy of guessing
        chance = self.sizes.get("chance", 1 / self.sizes["classes"])
        return limits(self.task["scenario"], *parts, chance=chance)

    def nothing(self, first: int) -> float | None:
        """What doing nothing scores on these seeds; None where one is missing."""
        if not {*map(str, seeds_from(first))} <= self.seeds.keys():
            return None
        margins = self.limits(first)
        return statistics.fmean(
            score({name: at["original"][name] - at["retrain"][name] for name in margins}, margins)
            for at in (self.seeds[str(seed)] for seed in seeds_from(first))
        )


# what 0.2 wrote besides is left out
_STUDY, _FACTS = TypeAdapter(Study), TypeAdapter(Facts)


class Folder:
    """The studies of one task, in a folder of their own below `root`."""

    def __init__(self, root: Path, task: Task):
        self.task, self.path = task, root / task.name

    def study_file(self, method: str) -> Path:
        return self.path / f"{method}.json"

    def facts(self) -> Facts | None:
        """Raises `BadFile`."""
        return _load_facts(self.path / "task.json")

    @patient
    def write_facts(self, facts: Facts) -> None:
        write_json(self.path / "task.json", {"rule": REVISION, **asdict(facts)})

    def study(self, method: str, *, revision: str) -> Study | None:
        """The study of a method with its code as it is now; None where there is none, or one of
        other code, whose scores are not those of this one. Raises `BadFile`.
        """
        found = load(self.study_file(method))
        return found if found is not None and found.revision == revision else None

    @patient
    def write(self, study: Study) -> None:
        """One trial a line, so that differences can be read."""
        head = asdict(study)
        task, trials = head.pop("task"), head.pop("trials")
        rows = ",\n".join(f"  {_line(_row(trial))}" for trial in trials)
        text = (
            f'{{"rule": {REVISION},\n "task": {_line(task)},\n "study": {_line(head)},\n'
            f' "trials": [\n{rows}\n ]}}\n'
        )
        write(self.study_file(study.method), text.encode())


def load(path: Path) -> Study | None:
    """A study from its file; None where there is none. What version 0.2 found is scored anew.
    Raises `BadFile`.
    """
    with _readable(path):
        if (content := read(path)) is None:
            return None
        study = _STUDY.validate_python(
            {"task": content["task"], **content["study"], "trials": content["trials"]}
        )
        if content["rule"] == REVISION:
            return study
        facts = _load_facts(path.with_name("task.json"))
        if facts is None:
            raise BadFile(f"{path} needs task.json beside it, by which it is scored. Put it back.")
        margins = facts.limits(study.seed)
        return replace(
            study,
            trials=tuple(
                trial if trial.ended else replace(trial, score=score(trial.gaps, margins))
                for trial in study.trials
            ),
        )


def _load_facts(path: Path) -> Facts | None:
    """As `load`, for what the studies of a task share."""
    with _readable(path):
        content = read(path)
        return None if content is None else _FACTS.validate_python(content)


def read(path: Path) -> Any:
    """The content of a JSON file; None where there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


@contextmanager
def _readable(path: Path) -> Generator[None]:
    """Raise `BadFile` where a file does not hold what it should."""
    try:
        yield
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BadFile(
            f"{said(str(path), LONGEST_PATH)} cannot be read: {said(str(error))}. Remove it, or "
            "put it back as it was."
        ) from None


def studies_in(root: Path) -> list[Study]:
    """All studies below a folder, by task and method. Raises `BadFile`."""
    paths = (path for path in sorted(root.glob("*/*.json")) if path.name != "task.json")
    return [study for study in map(load, paths) if study is not None]


def facts_in(root: Path) -> list[Facts]:
    """What the tasks below a folder share, by name."""
    found = map(_load_facts, sorted(root.glob("*/task.json")))
    return [each for each in found if each is not None]


# -- what searches came to, as the file that the preset `tuned` reads (mucore/catalog/tuning.py)


def settings_of(studies: Iterable[Study]) -> list[Tuned]:
    """The setting of each study that has come to its end, and to one."""
    return [
        Tuned(
            method=study.method,
            values=choice.values,
            trials=len(study.settings),
            cap=study.cap,
            open=study.open,
            **study.task,  # as `Task.content` has it
        )
        for study in studies
        if (choice := study.choice()) is not None and study.finished()
    ]


def is_of(setting: Tuned, study: Study) -> bool:
    """Whether a setting is for the method and the task of a study."""
    return setting.method == study.method and all(
        getattr(setting, name) == value for name, value in study.task.items()
    )


def write_found(
    path: Path, studies: Iterable[Study], *, beside: Iterable[Tuned] = ()
) -> list[Tuned]:
    """Write the settings of `studies` to `path`, and those of `beside` that are for other tasks or
    methods, or whose study goes on. One whose study has come to its end again, with as many trials
    or more, and has no candidate now goes.
    """
    studies = [*studies]
    made = settings_of(studies)
    kept = [
        setting
        for setting in beside
        if not any(
            is_of(setting, study) and study.finished() and len(study.settings) >= setting.trials
            for study in studies
        )
    ]
    write_json(path, tuning.content([*made, *kept]))
    return made


def write_json(path: Path, content: Any) -> None:
    write(path, (json.dumps(content, indent=1) + "\n").encode())


def _row(trial: Mapping[str, Any]) -> dict[str, Any]:
    """A trial without what is as usual."""
    usual = {"numbers": {}, "gaps": {}, "over": False, "ended": ""}
    return {name: value for name, value in trial.items() if usual.get(name, ...) != value}


def _line(content: Any) -> str:
    return json.dumps(content, separators=(", ", ": "))
