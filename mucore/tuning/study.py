"""Studies as files: what was tried for one method under one task, and what follows from it. A study
goes on where it was, on any machine, so nights add up.

    FOLDER/<task>/task.json      the task, its noise units, and what its references are like
    FOLDER/<task>/<method>.json  one trial a line
    FOLDER/<task>/earlier/       studies of other code, which are gone on with when it comes back

Imports no torch.
"""

from __future__ import annotations

import json
import logging
import statistics
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from mucore import catalog
from mucore.catalog.cards import Among, Between
from mucore.errors import LONGEST_PATH, BadFile, StoreError, UnknownName, said
from mucore.files import write
from mucore.store.trouble import patient
from mucore.tuning.objective import WORST
from mucore.tuning.objective import revision as rule_of
from mucore.tuning.task import Task

log = logging.getLogger("mucore")

BEST = 5  # settings that go on to the second stage
Numbers = Mapping[str, float]
_AS_WRITTEN = ConfigDict(extra="forbid")  # of what is read from a file


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One setting on one seed. `values` are of the parameters that are searched, `numbers` those of
    `objective.NUMBERS` for the unlearned network, `gaps` the same less Retrain's.

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
    still: bool = False  # moved nothing that counts
    over: bool = False  # took more work than the search allows
    ended: str = ""

    @property
    def candidate(self) -> bool:
        """Whether the setting may be chosen, as far as this seed can tell."""
        return not (self.still or self.over or self.ended)

    def same(self, values: Mapping[str, Any]) -> bool:
        return dict(self.values) == dict(values)


@dataclass(frozen=True)
class Choice:
    """The setting that a study came to: its scores, one a seed, and its mean work."""

    values: Mapping[str, Any]
    scores: tuple[float, ...]
    work: float

    @property
    def score(self) -> float:
        return statistics.fmean(self.scores)


@dataclass(frozen=True)
class Study:
    """The trials of one method. `revision` is that of its code: the card's, or the hash of a user's
    own file. `cap` is the share of Retrain's gradient samples that a trial may take; `open` says
    that nothing the method can do costs as little as the others may, so its cap is another. `space`
    is the card's `search` as it was when a setting was looked for last; None of what an earlier
    version of this program wrote. `drained`: no further one was found there.
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

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to draw: nothing was, and the space is no other since."""
        if not self.drained:
            return False
        try:
            return self.space == catalog.method(self.method).search
        except UnknownName:  # nobody can go on with it either
            return True

    @property
    def first(self) -> list[Trial]:
        """The first stage: every setting on the first seed, in order."""
        return [trial for trial in self.trials if trial.seed == self.seed]

    def seeds(self) -> tuple[int, int, int]:
        return self.seed, self.seed + 1, self.seed + 2

    def best(self) -> list[Trial]:
        """The best `BEST` different settings of the first stage that may be chosen, the best
        first; of equal ones the cheaper.
        """
        found: list[Trial] = []
        ranked = sorted(
            (trial for trial in self.first if trial.candidate),
            key=lambda trial: (trial.score, trial.work),
        )
        for trial in ranked:
            if not any(trial.same(other.values) for other in found):
                found.append(trial)
        return found[:BEST]

    def of(self, values: Mapping[str, Any], seed: int) -> Trial | None:
        """The trial of a setting on a seed, if there is one."""
        return next((t for t in self.trials if t.seed == seed and t.same(values)), None)

    def total(self, values: Mapping[str, Any]) -> tuple[float, int, bool]:
        """The sum of a setting's scores over the seeds that it has, how many these are, and whether
        it may still be chosen.
        """
        trials = [trial for seed in self.seeds() if (trial := self.of(values, seed)) is not None]
        return (
            sum(trial.score for trial in trials),
            len(trials),
            all(trial.candidate for trial in trials),
        )

    def next_check(self) -> tuple[Mapping[str, Any], int] | None:
        """The setting and the seed that the second stage tries next; None where it is over.

        A setting goes no further once its sum is above that of one that has all seeds: scores only
        add, so it could not win any more. That spares runs and changes no choice.
        """
        best = self.best()
        leading = min(
            (
                total
                for total, count, fit in (self.total(trial.values) for trial in best)
                if fit and count == len(self.seeds())
            ),
            default=float("inf"),
        )
        for trial in best:
            total, count, fit = self.total(trial.values)
            if fit and count < len(self.seeds()) and total <= leading:
                return trial.values, self.seeds()[count]
        return None

    def finished(self, trials: int) -> bool:
        """Whether it has so many trials, or all that can be drawn, and the second stage is over."""
        enough = len(self.first) >= trials or self.exhausted
        return enough and self.next_check() is None

    def choice(self) -> Choice | None:
        """The setting with the best mean score over the seeds; of equal ones the cheaper. None
        where no setting may be chosen, or none has all seeds yet.
        """
        found = []
        for trial in self.best():
            _, count, fit = self.total(trial.values)
            if fit and count == len(self.seeds()):
                rows = [self.of(trial.values, seed) for seed in self.seeds()]
                scores = tuple(row.score for row in rows if row is not None)
                spent = statistics.fmean(row.work for row in rows if row is not None)
                found.append(Choice(trial.values, scores, spent))
        return min(found, key=lambda each: (each.score, each.work), default=None)

    def falling(self) -> list[float | None]:
        """The best score after each trial of the first stage, None before the first candidate."""
        best, found = None, []
        for trial in self.first:
            if trial.candidate and (best is None or trial.score < best):
                best = trial.score
            found.append(best)
        return found

    @property
    def authors(self) -> Trial | None:
        """The trial of the authors' setting, the first of all."""
        return self.first[0] if self.first else None


@dataclass(frozen=True)
class Facts:
    """What all methods of a task share: `sizes`, which formulas count with (`formulas.NAMES`);
    noise units, made of `retrains` (seed -> numbers); and of the search's seeds the numbers of
    original and Retrain and the original's score.
    """

    __pydantic_config__ = _AS_WRITTEN

    task: Mapping[str, Any]
    sizes: Numbers
    units: Numbers
    retrains: Mapping[str, Numbers]
    seeds: Mapping[str, Mapping[str, Any]]


_STUDY, _FACTS = TypeAdapter(Study), TypeAdapter(Facts)


class Folder:
    """The studies of one task, in a folder of their own below `root`."""

    def __init__(self, root: Path, task: Task):
        self.task, self.path = task, root / task.name

    def study_file(self, method: str) -> Path:
        return self.path / f"{method}.json"

    def facts(self) -> Facts | None:
        """Raises `BadFile` where the folder is another task's, or of another rule."""
        facts = _load_facts(self.path / "task.json")
        if facts is not None and facts.task != self.task.content():
            raise BadFile(
                f"{self.path} holds studies of another task. Name another folder with --studies."
            )
        return facts

    @patient
    def write_facts(self, facts: Facts) -> None:
        rule = rule_of(facts.task.get("scenario"))
        write_json(self.path / "task.json", {"rule": rule, **asdict(facts)})

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
        usual = {"space": None, "drained": False}
        head = {
            name: value
            for name, value in asdict(study).items()
            if name not in ("trials", "task") and usual.get(name, ...) != value
        }
        rule = rule_of(study.task.get("scenario"))
        rows = ",\n".join(f"  {_line(_row(trial))}" for trial in study.trials)
        text = (
            f'{{"rule": {rule},\n "task": {_line(study.task)},\n "study": {_line(head)},\n'
            f' "trials": [\n{rows}\n ]}}\n'
        )
        write(self.study_file(study.method), text.encode())


def load(path: Path) -> Study | None:
    """A study from its file; None where there is none. Raises `BadFile`."""
    content = read(path)
    if content is None:
        return None
    with _whole(path, "a study"):
        _check_rule(path, content)
        head, trials = content["study"], content["trials"]
        return _STUDY.validate_python({"task": content["task"], **head, "trials": trials})


def _load_facts(path: Path) -> Facts | None:
    """As `load`, for what the studies of a task share."""
    content = read(path)
    if content is None:
        return None
    with _whole(path, "what the studies of a task share"):
        _check_rule(path, content)
        return _FACTS.validate_python({n: v for n, v in content.items() if n != "rule"})


def _check_rule(path: Path, content: Mapping[str, Any]) -> None:
    rule = rule_of(content["task"].get("scenario"))
    if content["rule"] != rule:
        raise BadFile(
            f"{path} was found by rule {said(content['rule'])} of the search, but this version has "
            f"rule {rule}, whose scores differ. Name another folder with --studies."
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


def ranked(trials: Sequence[Trial]) -> list[tuple[Mapping[str, Any], float]]:
    """Settings with the score that the sampler learns from: what took too much is as bad as it
    gets.
    """
    return [(trial.values, WORST if trial.over else trial.score) for trial in trials]


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
    usual = {"numbers": {}, "gaps": {}, "still": False, "over": False, "ended": ""}
    content = asdict(trial)
    return {name: value for name, value in content.items() if usual.get(name, ...) != value}


def _line(content: Any) -> str:
    return json.dumps(content, separators=(", ", ": "))
