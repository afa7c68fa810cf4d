"""Commands that plan and compute: `plan`, `run`, `quality`."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mucore.cli.base import (
    FAILED,
    INTERRUPTED,
    WHOLE,
    WRONG,
    Device,
    Json,
    complain,
    open_home,
    patient_home,
    say_left_out,
)
from mucore.cli.flags import GridOptions, build_grid, split_names
from mucore.cli.printing import print_results, print_table, say_time, to_json
from mucore.cli.watch import Watch, describe_failure
from mucore.errors import BadValue, MucoreError
from mucore.userfiles import datasets, sizes

if TYPE_CHECKING:
    from mucore.runner.estimate import Fit
    from mucore.runner.plan import Plan
    from mucore.store import Store
    from mucore.store.rows import Job, Result

Anyway = Annotated[
    bool, Parameter(negative="", help="Also start runs that need more memory than the device has.")
]


def _planned(options: GridOptions, store: Store) -> Plan:
    """The plan, with refusals said on stderr. Raises `BadValue` if a method that was named has no
    run at all.
    """
    from mucore.forget_sets import identity
    from mucore.runner.plan import make_plan
    from mucore.spec import classes

    say_left_out()
    grid, notes = build_grid(options)
    plan = make_plan(grid, store, workers=len(store.workers()) + 1)  # `run` works itself
    notes += [
        f"{scenario} is about {' and '.join(classes.said(**each) for each in named)}."
        for scenario, named in _classes(plan)
        if any(each["name"] != str(each["number"]) for each in named)
    ]
    if (content := plan.specs[0].data_hash) and (seen := sizes.size_of(plan.grid.dataset, content)):
        notes += seen.notes
    for note in [*notes, *(each.sentence for each in identity.check(plan.specs))]:
        print(note, file=sys.stderr)
    _say_refused(plan, options)
    return plan


def _classes(plan: Plan) -> list[tuple[str, list[dict[str, Any]]]]:
    """Each scenario that names classes, with them by number and name."""
    from mucore.spec import classes

    names = datasets.class_names(plan.grid.dataset)
    found = {
        str(spec.scenario_parameters): (spec.scenario, named)
        for spec in plan.specs
        if spec.scenario and (named := classes.named(spec.scenario_parameters, names))
    }
    return list(found.values())


def _say_refused(plan: Plan, options: GridOptions) -> None:
    # that of a scope is the same in every scenario
    for reason in dict.fromkeys(refusal.reason for refusal in plan.refused):
        print(f"Left out: {reason}", file=sys.stderr)
    planned = {spec.method for spec in plan.specs}
    never = [
        name
        for name in dict.fromkeys(refusal.method for refusal in plan.refused)
        if name not in planned
    ]
    if never and split_names(options.methods) != ["all"]:
        what = "scenarios" if plan.grid.scopes == ["all"] else "scenarios and scopes"
        raise BadValue(
            f"{' and '.join(never)} runs in none of the chosen {what}. Choose others, or use "
            "--methods all to leave it out."
        )


def plan(options: GridOptions, *, as_json: Json = False) -> None:
    """Say what a run with the same flags would compute, what the store has already, and how long
    the rest takes.
    """
    from mucore.forget_sets import identity

    with open_home() as store:
        planned = _planned(options, store)
    if as_json:
        print(
            to_json(
                {
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
                    "refused": [dataclasses.asdict(refusal) for refusal in planned.refused],
                    "classes": [
                        {"scenario": scenario, "classes": named}
                        for scenario, named in _classes(planned)
                    ],
                    "samples": [dataclasses.asdict(each) for each in identity.check(planned.specs)],
                    "estimate": planned.estimate,
                },
                indent=2,
            )
        )
        return
    print_table(
        ("run", "state"),
        [
            (spec.label, "stored" if spec.key in planned.cached else "to run")
            for spec in planned.specs
        ],
    )
    print(
        f"{len(planned.specs)} runs, {len(planned.cached)} of them in the store, "
        f"{len(planned.to_run)} to run."
    )
    if planned.to_run:
        print(say_time(planned))
    print(planned.basis)
    _say_memory(planned.fit)


def _say_memory(fit: Fit | None) -> None:
    """What a plan says of memory; only what starts runs refuses any."""
    if fit is not None and (said := fit.refusal("insist with --anyway") or fit.warning()):
        print(said, file=sys.stderr)


def run(
    options: GridOptions,
    *,
    name: Annotated[
        str | None, Parameter(help="Name of the comparison, as the dashboard shows it.")
    ] = None,
    note: str = "",
    device: Device = "auto",
    anyway: Anyway = False,
    as_json: Json = False,
) -> int:
    """Compute a comparison here and now and print its results; what the store has is not computed
    again.
    """
    from mucore.export.records import describe
    from mucore.verdicts import judge_stored

    with patient_home() as store:
        planned = _planned(options, store)

        def show(key: str, result: Result | None, job: Job | None) -> None:
            if as_json and result is not None:
                judged = judge_stored(store, keys=[key]).get(key)
                print(
                    to_json(describe(result, cached=key in planned.cached, judged=judged)),
                    flush=True,
                )
            elif as_json and job is not None:
                print(to_json(describe_failure(job)), flush=True)

        watch = compute(
            planned,
            store,
            name=name or _comparison_name(planned),
            note=note,
            device=device,
            anyway=anyway,
            show=show,
        )
        if not as_json:
            print_results(store.results(keys=planned.keys), judge_stored(store, keys=planned.keys))
        missing = watch.unfinished()
    return _outcome(watch, missing)


def compute(
    planned: Plan,
    store: Store,
    *,
    name: str,
    note: str,
    device: str,
    anyway: bool,
    show: Callable[[str, Result | None, Job | None], None],
    jobs: int = 1,
) -> Watch:
    """Queue what is missing and work on it here, in `jobs` processes, until it is done or
    interrupted; `show` gets every run of the plan as it comes.
    """
    from mucore.runner.plan import launch
    from mucore.runner.together import helpers

    if planned.to_run:
        from mucore.runner.before import check

        insist = "add --anyway to try it all the same"
        if said := check(planned, store, device=device, anyway=anyway, insist=insist):
            print(said, file=sys.stderr)
    watch = Watch(store, planned, launch(planned, store, name=name, note=note), show)
    with watch:
        if planned.to_run:
            from mucore.runner.worker import work

            keys = {spec.key for spec in planned.to_run}
            with helpers(store, keys, jobs - 1, device=device):
                work(store, device=device, only=keys, until_done=True, stop=watch.stopped)
    return watch


def _outcome(watch: Watch, missing: Sequence[str]) -> int:
    """The exit code of a comparison that lacks these keys, with the reasons on stderr."""
    if watch.stopped.is_set():
        every = len(watch.plan.keys)
        return complain(
            f"Interrupted with {every - len(missing)} of {every} results stored; the same command "
            "goes on from there.",
            INTERRUPTED,
        )
    for reason, labels in _reasons(watch.failed.values()).items():
        print(f"{reason} ({', '.join(labels)})", file=sys.stderr)
    return FAILED if missing else 0


def quality(
    options: GridOptions,
    *,
    models: Annotated[
        int,
        WHOLE,
        Parameter(help="How many unlearned models of each method, and how many retrained ones."),
    ] = 64,
    originals: Annotated[
        Literal["one", "each"],
        Parameter(
            help="one: all are unlearned from one original, as in the competition. each: "
            "from its own."
        ),
    ] = "one",
    bins: Annotated[
        Literal["document", "code"],
        Parameter(help="Bins of ε: 13, or as many as the organisers' code has."),
    ] = "document",
    intervals: Annotated[
        Literal["all", "organisers"],
        Parameter(
            help="Which pairs of thresholds count: all, or "
            "those that the organisers' code looks at."
        ),
    ] = "all",
    plan_only: Annotated[
        bool,
        Parameter(
            name="--plan", negative="", help="Say what would be computed and how long, and stop."
        ),
    ] = False,
    name: Annotated[
        str | None, Parameter(help="Name of the comparison, as the dashboard shows it.")
    ] = None,
    note: str = "",
    device: Device = "auto",
    anyway: Anyway = False,
    as_json: Json = False,
) -> int:
    """Compute forgetting quality: can many unlearned models be told from as many retrained ones?
    --seeds names the first seed.
    """
    from mucore.cli.quality import content, print_findings, say_plan
    from mucore.runner.quality import find, plan_experiment

    say_left_out()
    grid, notes = build_grid(options)
    with patient_home() as store:
        experiment = plan_experiment(grid, store, models=models, originals=originals)
        for each in notes:
            print(each, file=sys.stderr)
        _say_refused(experiment.plan, options)
        say_plan(experiment.plan)
        findings, code = [], 0
        if plan_only:
            _say_memory(experiment.plan.fit)
        else:
            title = (
                name or f"{_comparison_name(experiment.plan)} · forgetting quality, {models} models"
            )
            watch = compute(
                experiment.plan,
                store,
                name=title,
                note=note,
                device=device,
                anyway=anyway,
                show=lambda *_: None,
            )
            code = _outcome(watch, watch.unfinished())
            if code != INTERRUPTED:
                try:
                    findings = find(experiment, store, bins=bins, intervals=intervals)
                except MucoreError as error:
                    # where runs failed, what cannot be had is their fault and not the request's
                    return complain(str(error), code or WRONG)
        if as_json and code != INTERRUPTED:
            print(to_json(content(experiment, findings, bins=bins, intervals=intervals), indent=2))
        elif not as_json:
            print_findings(findings)
    return code


def _reasons(failed: Iterable[Job]) -> dict[str, list[str]]:
    """Each reason once, with the runs that it stopped; what only lacks a failed reference shares
    the reference's reason.
    """
    reasons: dict[str, list[str]] = {}
    # a reference's own error is part of its dependants'
    for job in sorted(failed, key=lambda job: len(job.error or "")):
        error = job.error or (
            "Somebody cancelled it."
            if job.state == "cancelled"
            else f"It ended as {job.state} without a reason; see {job.log or 'its log'}."
        )
        reason = next((known for known in reasons if error.endswith(known)), error)
        reasons.setdefault(reason, []).append(job.label)
    return reasons


def _comparison_name(planned: Plan) -> str:
    grid = planned.grid
    names = (", then " if grid.sequence else ", ").join(choice.id for choice in grid.scenarios)
    return f"{grid.dataset} · {grid.model} · {names}"
