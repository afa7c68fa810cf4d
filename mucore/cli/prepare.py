"""`prepare`: computes beforehand what a talk needs. What that is, the pages say, in a process of
their own: this package knows none of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mucore.cli.base import FAILED, INTERRUPTED, Device, Json, complain, patient_home
from mucore.errors import BadValue, MucoreError

if TYPE_CHECKING:
    from mucore.cli.watch import Watch
    from mucore.runner.plan import Plan
    from mucore.store import Store

ROUNDS = 3  # an analysis that is there may make a page want another one
_LINEUP = ("models", "originals", "retrained", "methods")
GOES_ON = "the same command goes on from there."


def prepare(
    what: Literal["lesson", "page", "all"],
    name: str = "",
    /,
    *,
    plan_only: Annotated[
        bool,
        Parameter(name="--plan", negative="", help="Say what is missing and how long, and stop."),
    ] = False,
    device: Device = "auto",
    as_json: Json = False,
) -> int:
    """Compute beforehand what a lesson or a page shows: the lesson's comparison, the page's maps
    and other analyses. What is there is not computed again.
    """
    if (what == "all") is bool(name):
        raise BadValue(
            "Name the lesson or the page, such as `prepare lesson forget-one-class` or `prepare "
            "page compare`; `prepare all` needs no name."
        )
    report: dict[str, Any] = {"lessons": [], "analyses": [], "experiments": [], "problems": []}
    with patient_home() as store:
        try:
            if what != "page":
                for lesson in ask("lesson", name or "all")["lessons"]:
                    report["lessons"].append(_lesson(lesson, store, device, plan_only, as_json))
            if what != "lesson":
                _page(name or "all", report, store, plan_only, as_json)
        except KeyboardInterrupt:
            return complain(f"Interrupted; {GOES_ON}", INTERRUPTED)
        for problem in report["problems"]:
            print(f"Page {problem['page']}: {problem['error']}", file=sys.stderr)
        if as_json:
            print(json.dumps(report, indent=2))
        elif not any(report.values()):
            print("Nothing is missing.")
    if report["problems"] or any(
        each.get("error")
        for name in ("lessons", "analyses", "experiments")
        for each in report[name]
    ):
        return FAILED
    return 0


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


def _lesson(
    lesson: dict[str, Any], store: Store, device: str, plan_only: bool, as_json: bool
) -> dict[str, Any]:
    """Run what is missing of a lesson's comparison; what came of it. Raises `KeyboardInterrupt`
    where somebody stopped it.
    """
    from mucore.cli.comparisons import compute
    from mucore.runner.plan import make_plan, parse_grid

    plan = make_plan(parse_grid(lesson["grid"]), store, workers=len(store.workers()) + 1)
    told: dict[str, Any] = {
        "id": lesson["id"],
        "runs": len(plan.specs),
        "missing": len(plan.to_run),
        "estimate": plan.estimate,
    }
    if not as_json:
        print(f"Lesson {lesson['id']}: {_missing(plan)}")
    if plan_only or not plan.to_run:
        return told
    watch = compute(
        plan,
        store,
        name=f"Lesson: {lesson['title']}",
        note=lesson["question"],
        device=device,
        anyway=False,
        show=lambda *_: None,
    )
    told["missing"] = len(watch.unfinished())
    if watch.stopped.is_set():
        raise KeyboardInterrupt
    if told["missing"]:
        told["error"] = _first_error(watch)
        print(f"Lesson {lesson['id']}: {told['error']}", file=sys.stderr)
    return told


def _missing(plan: Plan) -> str:
    from mucore.cli.printing import say_time

    if not plan.to_run:
        return f"all {len(plan.specs)} runs are stored."
    return f"{len(plan.to_run)} of {len(plan.specs)} runs are missing. {say_time(plan)}"


def _first_error(watch: Watch) -> str:
    errors = [job.error for job in watch.failed.values() if job.error]
    return min(errors, key=len) if errors else "Some of its runs gave no result."


def _page(name: str, report: dict[str, Any], store: Store, plan_only: bool, as_json: bool) -> None:
    """Compute what the page wants, and ask again: an analysis that is there may make it want
    another one.
    """
    from mucore import analysis

    known: set[str] = set()
    for turn in range(1 if plan_only else ROUNDS):
        found = ask("page", name)
        report["problems"] = found["problems"]
        fresh = {
            key: one
            for one in found["analyses"]
            if (key := analysis.key(one["kind"], one["parameters"])) not in known
        }
        if not turn:
            report["experiments"] = [
                _experiment(one, store, plan_only, as_json) for one in found["experiments"]
            ]
        if not fresh:
            return
        for key, one in fresh.items():
            report["analyses"].append(_analysis(key, one, store, plan_only, as_json))
        known |= fresh.keys()


def _experiment(
    one: dict[str, Any], store: Store, plan_only: bool, as_json: bool
) -> dict[str, Any]:
    from mucore.runner import quality

    count = len(one["methods"])
    told: dict[str, Any] = {"page": one["page"], "models": one["models"], "methods": count}
    if not as_json:
        said = f"forgetting quality of {count} method{'s' * (count > 1)}, {one['models']} models"
        print(f"Page {one['page']}: {said}" + (" is missing." if plan_only else ""))
    if plan_only:
        return told
    try:
        lineup = quality.lineup(store, **{name: one[name] for name in _LINEUP})
        quality.find(lineup, store)
    except MucoreError as error:
        told["error"] = str(error)
        print(f"Page {one['page']}: {error}", file=sys.stderr)
    return told


def _analysis(
    key: str, one: dict[str, Any], store: Store, plan_only: bool, as_json: bool
) -> dict[str, Any]:
    from mucore import analysis
    from mucore.cli import analyse

    title = analysis.KINDS[one["kind"]].title or one["kind"]
    told: dict[str, Any] = {"page": one["page"], "kind": one["kind"], "key": key}
    if not as_json:
        print(f"Page {one['page']}: {title}" + (" is missing." if plan_only else ""))
    if plan_only:
        return told
    try:
        pack = Path(one["pack"]) if one["pack"] else None
        told["path"] = str(analyse.compute(one["kind"], one["parameters"], store, pack).path)
    except MucoreError as error:
        told["error"] = str(error)
    finally:
        analyse.end_progress()
    if "error" in told:
        print(f"Page {one['page']}: {title}: {told['error']}", file=sys.stderr)
    return told
