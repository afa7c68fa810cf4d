"""Commands that plan and compute: `plan`, `run`, `quality`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mucore.cli.base import (
    FAILED,
    WHOLE,
    WRONG,
    Device,
    Json,
    complain,
    end_progress,
    open_home,
    patient_home,
    progress,
    say_left_out,
    tell,
)
from mucore.cli.flags import GridOptions, build_grid
from mucore.cli.printing import duration, print_results, print_table, say_time, to_json
from mucore.errors import MucoreError, warn
from mucore.userfiles import datasets, sizes

if TYPE_CHECKING:
    from mucore.runner.plan import Plan
    from mucore.runner.watch import Show
    from mucore.store import Store
    from mucore.store.records import Job, Result

Anyway = Annotated[
    bool, Parameter(negative="", help="Also start runs that need more memory than the device has.")
]
Name = Annotated[str | None, Parameter(help="Name of the comparison, as the dashboard shows it.")]


def _planned(options: GridOptions, store: Store) -> Plan:
    """The plan, with what it is about and what it leaves out said on stderr. Raises `BadValue` if a
    method that was named has no run at all.
    """
    from mucore.forget_sets import identity
    from mucore.runner.local import say_refused
    from mucore.runner.plan import make_plan
    from mucore.runs import classes

    say_left_out()
    plan = make_plan(build_grid(options), store, workers=len(store.workers()) + 1)
    notes = []
    for scenario in _classes(plan):
        if named := [each for each in scenario["classes"] if each["name"] != str(each["number"])]:
            said = " and ".join(classes.said(**each) for each in named)
            notes.append(f"{scenario['scenario']} is about {said}.")
    if (content := plan.specs[0].data_hash) and (seen := sizes.size_of(plan.grid.dataset, content)):
        notes += seen.notes
    notes += [each.sentence for each in identity.check(plan.specs)]
    for note in notes:
        warn(note)
    say_refused(plan, every=options.methods == ["all"])
    return plan


def _classes(plan: Plan) -> list[dict[str, Any]]:
    """Each scenario that names classes, with them by number and name."""
    from mucore.runs import classes

    names = datasets.class_names(plan.grid.dataset)
    found = {
        str(spec.scenario_parameters): {"scenario": spec.scenario, "classes": named}
        for spec in plan.specs
        if spec.scenario and (named := classes.named(spec.scenario_parameters, names))
    }
    return list(found.values())


def plan(options: GridOptions, *, as_json: Json = False) -> None:
    """Say what a run with the same flags would compute, what the store has already, and how long
    the rest takes.
    """
    with open_home() as store:
        planned = _planned(options, store)
    if as_json:
        print(to_json(_plan_content(planned), indent=2))
        return
    states = ("stored" if spec.key in planned.cached else "to run" for spec in planned.specs)
    labels = (spec.label for spec in planned.specs)
    print_table(("run", "state"), list(zip(labels, states, strict=True)))
    print(_counts(planned))
    if planned.to_run:
        print(say_time(planned))
    _say_memory(planned)


def _plan_content(planned: Plan) -> dict[str, Any]:
    from mucore.forget_sets import identity

    return {
        "runs": [
            {
                "key": spec.key,
                "cached": spec.key in planned.cached,
                "label": spec.label,
                "spec": spec.model_dump(mode="json"),
            }
            for spec in planned.specs
        ],
        "cached": len(planned.cached),
        "to_run": len(planned.to_run),
        "refused": planned.refused,
        "classes": _classes(planned),
        "samples": identity.check(planned.specs),
        "estimate": planned.estimate,
    }


def _counts(planned: Plan) -> str:
    counts = (len(planned.specs), len(planned.cached), len(planned.to_run))
    return "{} runs, {} of them in the store, {} to run.".format(*counts)


def _say_memory(planned: Plan) -> None:
    """What a plan says of memory; only what starts runs refuses any."""
    fit = planned.fit
    if fit is not None and (said := fit.refusal("insist with --anyway") or fit.warning()):
        warn(said)


def run(
    options: GridOptions,
    *,
    name: Name = None,
    note: str = "",
    device: Device = "auto",
    anyway: Anyway = False,
    as_json: Json = False,
) -> int:
    """Compute a comparison here and now and print its results; what the store has is not computed
    again.
    """
    from mucore.export.records import describe, describe_failure
    from mucore.verdicts import judge_stored

    with patient_home() as store:
        planned = _planned(options, store)

        def show(key: str, result: Result | None, job: Job | None) -> None:
            if as_json and result is not None:
                judged = judge_stored(store, keys=[key]).get(key)
                content = describe(result, cached=key in planned.cached, judged=judged)
                print(to_json(content), flush=True)
            elif as_json and job is not None:
                print(to_json(describe_failure(job)), flush=True)

        def table() -> None:
            if not as_json:
                keys = planned.keys
                print_results(store.results(keys=keys), judge_stored(store, keys=keys))

        asked: dict[str, Any] = {"name": name, "note": note, "device": device, "anyway": anyway}
        try:
            failed = compute(planned, store, show=show, **asked)
        except KeyboardInterrupt:
            table()
            raise
        table()
        return outcome(failed)


def compute(
    plan: Plan, store: Store, *, show: Show = lambda *_: None, **asked: Any
) -> Sequence[Job]:
    """`runner.local.compute` with its progress on stderr."""
    from mucore.runner import local

    labels, ended = {spec.key: spec.label for spec in plan.specs}, count(1)

    def told(key: str, result: Result | None, job: Job | None) -> None:
        show(key, result, job)
        done = f"{next(ended)}/{len(labels)}"
        if key not in plan.cached:
            took = result and f" in {duration(result.cost.get('wall_seconds') or 0.0)}"
            state = result.status if result else job and job.state
            tell(f"{done} {state}: {labels[key]}{took or ''}")

    insist = "add --anyway to try it all the same"
    try:
        return local.compute(plan, store, insist=insist, show=told, step=progress, **asked)
    finally:
        end_progress()


def outcome(failed: Sequence[Job]) -> int:
    """The exit code of a comparison, with the reasons for what it lacks on stderr."""
    from mucore.runner.local import reasons

    for reason in reasons(failed):
        warn(reason)
    return FAILED if failed else 0


def quality(
    options: GridOptions,
    *,
    models: Annotated[int, WHOLE] = 64,
    originals: Literal["one", "each"] = "one",
    plan_only: Annotated[bool, Parameter(name="--plan")] = False,
    name: Name = None,
    note: str = "",
    device: Device = "auto",
    anyway: Anyway = False,
    as_json: Json = False,
) -> int:
    """Compute forgetting quality: can many unlearned models be told from as many retrained ones?
    --seeds names the first seed.

    Parameters
    ----------
    models
        How many unlearned models of each method, and how many retrained ones.
    originals
        one: all are unlearned from one original, as in the competition. each: from its own.
    plan_only
        Say what would be computed and how long, and stop.
    """
    from mucore.cli.quality import content, print_findings
    from mucore.quality import find, plan_experiment
    from mucore.runner import local

    say_left_out()
    with patient_home() as store:
        experiment = plan_experiment(build_grid(options), store, models=models, originals=originals)
        planned = experiment.plan
        local.say_refused(planned, every=options.methods == ["all"])
        warn(_counts(planned))
        if planned.to_run:
            warn(say_time(planned))
        findings, code = [], 0
        if plan_only:
            _say_memory(planned)
        else:
            title = f"{local.title(planned.grid)} · forgetting quality, {models} models"
            asked: dict[str, Any] = {"note": note, "device": device, "anyway": anyway}
            code = outcome(compute(planned, store, name=name or title, **asked))
            try:
                findings = find(experiment, store)
            except MucoreError as error:
                # where runs failed, what cannot be had is their fault and not the request's
                return complain(str(error), code or WRONG)
        if as_json:
            print(to_json(content(experiment, findings), indent=2))
        else:
            print_findings(findings)
    return code
