"""`prepare`: computes beforehand what a talk needs. What that is, the pages say, in a process of
their own: this package knows none of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mucore.cli.base import FAILED, INTERRUPTED, Device, Json, complain, end_progress, patient_home
from mucore.cli.printing import say_time, to_json
from mucore.errors import BadValue, MucoreError

if TYPE_CHECKING:
    from mucore.store import Store

ROUNDS = 3  # an analysis that is there may make a page want another one
_LINEUP = ("models", "originals", "retrained", "methods")
GOES_ON = "the same command goes on from there."


def prepare(
    what: Literal["lesson", "page", "all"],
    name: str = "",
    /,
    *,
    plan_only: Annotated[bool, Parameter(name="--plan")] = False,
    device: Device = "auto",
    as_json: Json = False,
) -> int:
    """Compute beforehand what a lesson or a page shows: the lesson's comparison, the page's maps
    and other analyses. What is there is not computed again.

    Parameters
    ----------
    plan_only
        Say what is missing and how long, and stop.
    """
    if (what == "all") is bool(name):
        raise BadValue(
            "Name the lesson or the page, such as `prepare lesson forget-one-class` or `prepare "
            "page compare`; `prepare all` needs no name."
        )
    report: dict[str, list[dict[str, Any]]] = {
        kind: [] for kind in ("lessons", "analyses", "experiments", "problems")
    }
    with patient_home() as store:
        work = _Work(store, device, plan_only, as_json)
        try:
            if what != "page":
                lessons = ask("lesson", name or "all")["lessons"]
                report["lessons"] = [work.lesson(each) for each in lessons]
            if what != "lesson":
                work.page(name or "all", report)
        except KeyboardInterrupt:
            return complain(f"Interrupted; {GOES_ON}", INTERRUPTED)
    done = [each for found in report.values() for each in found]
    for each in done:
        if "error" in each:
            print(f"{each.get('id') or each['page']}: {each['error']}", file=sys.stderr)
    if as_json:
        print(to_json(report, indent=2))
    elif not done:
        print("Nothing is missing.")
    return FAILED if any("error" in each for each in done) else 0


def ask(what: str, name: str) -> dict[str, list[dict[str, Any]]]:
    """What `dashboard/needs.py` says, whose progress goes to stderr. Raises `MucoreError`."""
    done = subprocess.run(
        [sys.executable, "-m", "dashboard.needs", what, name],
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    try:
        found = json.loads(done.stdout)
    except ValueError:
        raise MucoreError(
            "The pages could not be asked what they need: their process ended with code "
            f"{done.returncode}. What it printed above says why."
        ) from None
    if "error" in found:
        raise BadValue(found["error"])
    return found


@dataclass(frozen=True)
class _Work:
    """What is missing, computed in this store, or with `plan_only` only told; each method returns
    what it says in JSON, with `error` where it failed.
    """

    store: Store
    device: str
    plan_only: bool
    quiet: bool

    def say(self, sentence: str) -> None:
        if not self.quiet:
            print(sentence)

    def lesson(self, lesson: dict[str, Any]) -> dict[str, Any]:
        """The runs of a lesson's comparison. Raises `KeyboardInterrupt` where somebody stopped
        them.
        """
        from mucore.cli.comparisons import compute
        from mucore.runner.plan import make_plan, parse_grid

        store = self.store
        plan = make_plan(parse_grid(lesson["grid"]), store, workers=len(store.workers()) + 1)
        runs, missing = len(plan.specs), len(plan.to_run)
        told: dict[str, Any] = {
            "id": lesson["id"],
            "runs": runs,
            "missing": missing,
            "estimate": plan.estimate,
        }
        self.say(
            f"Lesson {lesson['id']}: {missing} of {runs} runs are missing."
            + (f" {say_time(plan)}" if missing else "")
        )
        if self.plan_only or not missing:
            return told
        name = f"Lesson: {lesson['title']}"
        question = lesson["question"]
        watch = compute(plan, store, name=name, note=question, device=self.device, anyway=False)
        if watch.stopped.is_set():
            raise KeyboardInterrupt
        told["missing"] = len(watch.unfinished())
        if told["missing"]:
            errors = [job.error for job in watch.failed.values() if job.error]
            told["error"] = min(errors, key=len, default="Some of its runs gave no result.")
        return told

    def page(self, name: str, report: dict[str, list[dict[str, Any]]]) -> None:
        """What the page wants; and what it wants then, for an analysis that is there may make it
        want another one.
        """
        from mucore import analysis

        known: set[str] = set()
        for turn in range(1 if self.plan_only else ROUNDS):
            found = ask("page", name)
            report["problems"] = found["problems"]
            if not turn:
                report["experiments"] = [self._experiment(one) for one in found["experiments"]]
            keys = [analysis.key(one["kind"], one["parameters"]) for one in found["analyses"]]
            for key, one in zip(keys, found["analyses"], strict=True):
                if key not in known:
                    report["analyses"].append(self._analysis(key, one))
            known.update(keys)

    def _experiment(self, one: dict[str, Any]) -> dict[str, Any]:
        from mucore.runner import quality

        told = {"page": one["page"], "models": one["models"], "methods": len(one["methods"])}

        def compute() -> dict[str, Any]:
            lineup = quality.lineup(self.store, **{name: one[name] for name in _LINEUP})
            quality.find(lineup, self.store)
            return {}

        return self._done(told, f"forgetting quality, {one['models']} models", compute)

    def _analysis(self, key: str, one: dict[str, Any]) -> dict[str, Any]:
        from mucore import analysis
        from mucore.cli import analyse

        told = {"page": one["page"], "kind": one["kind"], "key": key}

        def compute() -> dict[str, Any]:
            pack = Path(one["pack"]) if one["pack"] else None
            try:
                found = analyse.compute(one["kind"], one["parameters"], self.store, pack)
            finally:
                end_progress()
            return {"path": str(found.path)}

        return self._done(told, analysis.KINDS[one["kind"]].title or one["kind"], compute)

    def _done(
        self, told: dict[str, Any], title: str, compute: Callable[[], dict[str, Any]]
    ) -> dict[str, Any]:
        self.say(f"Page {told['page']}: {title}" + (" is missing." if self.plan_only else ""))
        if self.plan_only:
            return told
        try:
            return told | compute()
        except MucoreError as error:
            return told | {"error": str(error)}
