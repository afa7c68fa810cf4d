"""`prepare`: computes beforehand what a talk needs. What that is, the pages say, in a process of
their own: this package knows none of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
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
        from mucore.runner import local
        from mucore.runner.grid import parse_grid
        from mucore.runner.plan import make_plan

        store = self.store
        plan = make_plan(parse_grid(lesson["grid"]), store, workers=len(store.workers()) + 1)
        runs, missing = len(plan.specs), len(plan.to_run)
        told = {"id": lesson["id"], "runs": runs, "missing": missing, "estimate": plan.estimate}
        time = f" {say_time(plan)}" if missing else ""
        self.say(f"Lesson {lesson['id']}: {missing} of {runs} runs are missing.{time}")
        if self.plan_only or not missing:
            return told
        asked: dict[str, Any] = {"note": lesson["question"], "device": self.device}
        failed = compute(plan, store, name=f"Lesson: {lesson['title']}", **asked)
        told["missing"] = len(failed)
        if failed:
            told["error"] = local.reasons(failed)[0]
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
            for one in found["analyses"]:
                key = analysis.key(one["kind"], one["parameters"])
                if key not in known:
                    known.add(key)
                    report["analyses"].append(self._analysis(key, one))

    def _experiment(self, one: dict[str, Any]) -> dict[str, Any]:
        from mucore import quality

        told = {"page": one["page"], "models": one["models"], "methods": len(one["methods"])}
        if self._told(one["page"], f"forgetting quality, {one['models']} models"):
            with _kept(told):
                asked = {name: one[name] for name in _LINEUP}
                quality.find(quality.lineup(self.store, **asked), self.store)
        return told

    def _analysis(self, key: str, one: dict[str, Any]) -> dict[str, Any]:
        from mucore import analysis
        from mucore.cli import analyse

        kind = one["kind"]
        told = {"page": one["page"], "kind": kind, "key": key}
        if self._told(one["page"], analysis.KINDS[kind].title or kind):
            with _kept(told):
                pack = Path(one["pack"]) if one["pack"] else None
                found = analyse.compute(kind, one["parameters"], self.store, pack)
                told["path"] = str(found.path)
        return told

    def _told(self, page: str, title: str) -> bool:
        """Say what is missing; whether it is to be computed."""
        self.say(f"Page {page}: {title}" + (" is missing." if self.plan_only else ""))
        return not self.plan_only


@contextmanager
def _kept(told: dict[str, Any]) -> Generator[None]:
    """What goes wrong with one thing is told of it; the others still come."""
    try:
        yield
    except MucoreError as error:
        told["error"] = str(error)
    finally:
        end_progress()
