"""Studies as files: what was tried for one method under one task, and what follows from it. A study
goes on where it was, on any machine, so nights add up.

    FOLDER/<task>/task.json      the task, and what its references are like on each seed
    FOLDER/<task>/<method>.json  one trial a line
    FOLDER/<task>/earlier/       studies of other code, which are gone on with when it comes back

Imports no torch.
"""

from __future__ import annotations

import json
import logging
import math
import statistics
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from mucore import catalog
from mucore.catalog.cards import Among, Between
from mucore.errors import LONGEST_PATH, BadFile, StoreError, UnknownName, said
from mucore.files import write
from mucore.store.trouble import patient
from mucore.tuning.objective import REVISION, WORST, Limit, Numbers, limits, score
from mucore.tuning.task import Task

log = logging.getLogger("mucore")

SEEDS = 3  # on which a setting is judged: fewer say nothing of the spread over seeds
PATIENCE = 10  # settings in a row that are no better than the best before a search ends
_AS_WRITTEN = ConfigDict(extra="forbid")  # of what is read from a file


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One setting on one seed. `values` are of the parameters that are searched, `numbers` what
    `Judge.measure` says of the unlearned network, `gaps` the same less Retrain's.

    `work` is in gradient samples, as a share of Retrain's; `seconds` are the processor's for the
    method alone. `ended` says why there are no numbers; "" where there are.
    """

    __pydantic_config__ = _AS_WRITTEN

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
    that nothing the method can do costs as little as the others may, so its cap is another. `space`
    is the card's `search` as it was when a setting was looked for last; None of what an earlier
    version of this program wrote. `drained`: no further one was found there. `asked`: so many
    settings at most were asked for when it was worked on last.
    """

    __pydantic_config__ = _AS_WRITTEN

    task: Mapping[str, Any]
    method: str
    revision: str
    seed: int
    cap: float
    open: bool
    trials: tuple[Trial, ...] = ()
    space: Mapping[str, Between | Among] | None = None
    drained: bool = False
    asked: int = 0

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to draw: nothing was, and the space is no other since."""
        if not self.drained:
            return False
        try:
            return self.space == catalog.method(self.method).search
        except UnknownName:  # nobody can go on with it either
            return True

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
        enough = self.since >= PATIENCE or len(self.settings) >= most or self.exhausted
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

    __pydantic_config__ = _AS_WRITTEN

    task: Mapping[str, Any]
    sizes: Numbers
    seeds: Mapping[str, Mapping[str, Numbers]]

    def limits(self, first: int) -> dict[str, Limit]:
        """The margins that a search on the seed `first` and the two after it goes by. Raises
        `KeyError` where one is missing.
        """
        known = [self.seeds[str(seed)] for seed in seeds_from(first)]
        parts = ([each[who] for each in known] for who in ("original", "retrain"))
        # earlier versions did not write down the accuracy of guessing
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


_STUDY, _FACTS = TypeAdapter(Study), TypeAdapter(Facts)


class Folder:
    """The studies of one task, in a folder of their own below `root`."""

    def __init__(self, root: Path, task: Task):
        self.task, self.path = task, root / task.name

    def study_file(self, method: str) -> Path:
        return self.path / f"{method}.json"

    def facts(self) -> Facts | None:
        """Raises `BadFile` where the folder is another task's, or of a later rule."""
        facts = _load_facts(self.path / "task.json")
        if facts is not None and facts.task != self.task.content():
            raise BadFile(
                f"{self.path} holds studies of another task. Name another folder with --studies."
            )
        return facts

    @patient
    def write_facts(self, facts: Facts) -> None:
        write_json(self.path / "task.json", {"rule": REVISION, **asdict(facts)})

    def study(self, method: str, *, revision: str) -> Study | None:
        """The study of a method with its code as it is now; None where there is none, or one of
        other code, whose scores are not those of this one. Changes no file. Raises `BadFile`.
        """
        found = load(self.study_file(method))
        return found if found is not None and found.revision == revision else None

    def aside(self, method: str, *, revision: str) -> Study | None:
        """The study of this code where it was put aside for one of other code, and none of this
        code has been begun since. Changes no file. Raises `BadFile`.
        """
        if self.study(method, revision=revision) is not None:
            return None
        return load(self._aside(method, revision))

    @patient
    def take_up(self, method: str, *, revision: str) -> Study | None:
        """As `study`, for a search that begins to write: a study of other code is put aside, and
        one of this code is brought back from there. No file is overwritten; the log tells of both.
        Raises `BadFile`, `StoreError`.
        """
        place, now = self.study_file(method), load(self.study_file(method))
        if now is not None and now.revision == revision:
            return now
        before = load(self._aside(method, revision))
        if now is not None:
            to = self._free(method, now.revision)
            _move(place, to)
            log.warning(
                "the study of %s (%d trials) is of other code: put aside as %s, and taken up again "
                "when that code comes back",
                method,
                len(now.trials),
                to,
            )
        if before is not None:
            _move(self._aside(method, revision), place)
            log.warning(
                "the study of %s with this code (%d trials) was put aside before: it goes on",
                method,
                len(before.trials),
            )
        return before

    def _aside(self, method: str, revision: str) -> Path:
        return self.path / "earlier" / f"{method}-{revision}.json"

    def _free(self, method: str, revision: str) -> Path:
        """Where a study is put aside: under another name where one of its code lies there already,
        begun in another home or by an earlier version.
        """
        path, number = self._aside(method, revision), 1
        while path.exists():
            number += 1
            path = self._aside(method, f"{revision}-{number}")
        return path

    @patient
    def write(self, study: Study) -> None:
        """One trial a line, so that differences can be read."""
        usual = {"space": None, "drained": False, "asked": 0}
        head = {
            name: value
            for name, value in asdict(study).items()
            if name not in ("trials", "task") and usual.get(name, ...) != value
        }
        rows = ",\n".join(f"  {_line(_row(trial))}" for trial in study.trials)
        text = (
            f'{{"rule": {REVISION},\n "task": {_line(study.task)},\n "study": {_line(head)},\n'
            f' "trials": [\n{rows}\n ]}}\n'
        )
        write(self.study_file(study.method), text.encode())


def load(path: Path) -> Study | None:
    """A study from its file; None where there is none. What an earlier version found is scored
    anew. Raises `BadFile`.
    """
    content = read(path)
    if content is None:
        return None
    with _whole(path, "a study"):
        _check_rule(path, content)
        rows = [{n: v for n, v in row.items() if n != "still"} for row in content["trials"]]
        study = _STUDY.validate_python(
            {"task": content["task"], **content["study"], "trials": rows}
        )
        return study if content["rule"] == REVISION else _scored(study, path)


def _scored(study: Study, path: Path) -> Study:
    """A study with the scores of this version. One that was put aside lies a folder deeper."""
    facts = _load_facts(path.parent / "task.json") or _load_facts(path.parents[1] / "task.json")
    if facts is None:
        raise BadFile(
            f"{path} is of an earlier version, and task.json, by which it is scored anew, is not "
            "beside it. Put that back, or remove both."
        )
    margins = facts.limits(study.seed)
    trials = (
        trial if trial.ended else replace(trial, score=score(trial.gaps, margins))
        for trial in study.trials
    )
    return replace(study, trials=tuple(trials))


def _load_facts(path: Path) -> Facts | None:
    """As `load`, for what the studies of a task share."""
    content = read(path)
    if content is None:
        return None
    with _whole(path, "what the studies of a task share"):
        _check_rule(path, content)
        seeds = {
            seed: {who: at[who] for who in ("original", "retrain")}
            for seed, at in content["seeds"].items()
        }
        shared = {"task": content["task"], "sizes": content["sizes"], "seeds": seeds}
        return _FACTS.validate_python(shared)


def _check_rule(path: Path, content: Mapping[str, Any]) -> None:
    if content["rule"] not in range(1, REVISION + 1):
        raise BadFile(
            f"{path} was found by rule {said(content['rule'])} of the search, but this version has "
            f"rule {REVISION}. Name another folder with --studies, or install a later version."
        )


@contextmanager
def _whole(path: Path, what: str) -> Generator[None]:
    """Raise `BadFile` where a file does not hold what it should."""
    try:
        yield
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, problem["loc"]))
        raise BadFile(
            f"{path} is not {what}: {place}: {problem['msg']}. Remove it, or put it back as it was."
        ) from None
    except (KeyError, TypeError, AttributeError) as error:
        raise BadFile(
            f"{path} is not {what}: {said(str(error))}. Remove it, or put it back as it was."
        ) from None


def studies_in(root: Path, *, on_bad: Callable[[BadFile], None] | None = None) -> list[Study]:
    """All studies below a folder, by task and method. Files that hold none are told to `on_bad`,
    and left out; without it they raise `BadFile`.
    """
    found = []
    for path in sorted(root.glob("*/*.json")):
        if path.name == "task.json":
            continue
        try:
            study = load(path)
        except BadFile as error:
            if on_bad is None:
                raise
            on_bad(error)
            continue
        if study is not None:
            found.append(study)
    return found


def facts_in(root: Path) -> list[Facts]:
    """What the tasks below a folder share, by name."""
    found = map(_load_facts, sorted(root.glob("*/task.json")))
    return [each for each in found if each is not None]


def read(path: Path) -> Any:
    """The content of a JSON file; None where there is none. Raises `BadFile`."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise BadFile(
            f"{said(str(path), LONGEST_PATH)} cannot be read: {said(str(error))}. Remove it, or "
            "put it back."
        ) from None


def write_json(path: Path, content: Any) -> None:
    write(path, (json.dumps(content, indent=1) + "\n").encode())


def _move(path: Path, to: Path) -> None:
    try:
        to.parent.mkdir(exist_ok=True)
        path.replace(to)
    except OSError as error:
        raise StoreError(
            f"{to} could not be written: {error.strerror or error}. Name another folder with "
            "--studies."
        ) from error


def _row(trial: Trial) -> dict[str, Any]:
    """A trial without what is as usual."""
    usual = {"numbers": {}, "gaps": {}, "over": False, "ended": ""}
    content = asdict(trial)
    return {name: value for name, value in content.items() if usual.get(name, ...) != value}


def _line(content: Any) -> str:
    return json.dumps(content, separators=(", ", ": "))
