"""The command line: `python -m mucore COMMAND`.

What a script reads goes to stdout (JSON with `--json`), what a person watches to stderr. Exit codes: 0 success, 1 some run failed,
2 the request was wrong, 130 interrupted. Commands import what they need themselves, so that the catalogue answers at once.
"""

from __future__ import annotations

import dataclasses
import errno
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import cyclopts
from cyclopts import App, Parameter

import mucore
from mucore import catalog
from mucore.cli.flags import GridOptions, build_grid, split_names
from mucore.cli.printing import HEADLINE, cell, duration, print_results, print_table, size, to_json
from mucore.cli.watch import Watch, describe_failure
from mucore.errors import BadValue, MucoreError, UnknownName

if TYPE_CHECKING:
    from mucore.runner.plan import Plan
    from mucore.store import Store
    from mucore.store.records import Job, Result

FAILED, WRONG, INTERRUPTED = 1, 2, 130

app = App(
    name="mucore",
    help="Machine unlearning compared honestly: methods, scenarios and metrics, computed once and stored.",
    help_epilogue="Every command takes --home DIR, the folder of store and artifacts (default: MUCORE_HOME, else ~/.mucore).",
    version=mucore.__version__,
    help_format="plaintext",
)

Json = Annotated[bool, Parameter(name="--json", negative="", help="JSON on stdout instead of a table.")]
Device = Annotated[str, Parameter(help="auto, cpu, cuda, cuda:1 or mps.")]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. Prints errors that a user can mend as a sentence on stderr."""
    tokens = list(sys.argv[1:] if argv is None else argv)
    try:
        _take_home(tokens)
        code = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except cyclopts.CycloptsError as error:
        return _complain(f"{error}".strip() + " See --help.", WRONG)
    except MucoreError as error:
        return _complain(str(error), WRONG)
    except BrokenPipeError:  # the reader of a pipe has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return _complain(f"No space is left on the disk ({error}). Free some, or choose another folder with --home.", WRONG)
    except KeyboardInterrupt:
        return _complain("Interrupted.", INTERRUPTED)


def _complain(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code


def _take_home(tokens: list[str]) -> None:
    """Move `--home DIR`, wherever it stands, into MUCORE_HOME, which everything below reads."""
    for index, token in enumerate(tokens):
        if token == "--home":
            if index + 1 == len(tokens):
                raise BadValue("--home needs a folder, such as --home ./runs.")
            os.environ["MUCORE_HOME"] = tokens[index + 1]
            del tokens[index : index + 2]
            return
        if token.startswith("--home="):
            os.environ["MUCORE_HOME"] = token.removeprefix("--home=")
            del tokens[index]
            return


def _open() -> Store:
    from mucore.store import open_store

    return open_store()


# -- the catalogue


def _print_cards(cards: Iterable[Any], columns: Sequence[str], as_json: bool) -> None:
    cards = list(cards)
    if as_json:
        print(to_json([card_content(card) for card in cards], indent=2))
        return
    print_table(columns, [[cell(getattr(card, name)) for name in columns] for card in cards])


def card_content(card: Any) -> dict[str, Any]:
    """A card as plain JSON types. Data sets, models and presets belong to no family; theirs is the kind of card.

    The range of a metric is the pair of its least and its largest possible value; null is no limit.
    """
    content = dataclasses.asdict(card)
    if isinstance(card, catalog.MetricCard):
        content["range"] = [card.low, card.high]
    if "family" not in content:
        content["family"] = content.get("group") or _KINDS[type(card)]
    return content


_KINDS = {
    catalog.MetricCard: "metric",
    catalog.ScenarioCard: "scenario",
    catalog.DatasetCard: "data set",
    catalog.ModelCard: "model",
    catalog.PresetCard: "preset",
}


@app.command
def methods(*, as_json: Json = False) -> None:
    """List the unlearning methods, with what they read, where they run and their parameters."""
    _print_cards(catalog.methods(), ("id", "title", "family", "source"), as_json)
    _say_left_out()


def _say_left_out() -> None:
    for problem in catalog.plugin_problems():
        print(problem, file=sys.stderr)


@app.command
def metrics(*, as_json: Json = False) -> None:
    """List the metrics, with meaning, range and source."""
    _print_cards(catalog.metrics(), ("id", "title", "group", "short"), as_json)


@app.command
def scenarios(*, as_json: Json = False) -> None:
    """List the scenarios, the rules that choose what to forget, with their parameters."""
    _print_cards(catalog.scenarios(), ("id", "title", "question"), as_json)


@app.command
def datasets(*, as_json: Json = False) -> None:
    """List the data sets, with size, licence and where to get them."""
    _print_cards(catalog.datasets(), ("id", "title", "sizes", "licence"), as_json)


@app.command
def models(*, as_json: Json = False) -> None:
    """List the models."""
    _print_cards(catalog.models(), ("id", "title", "parameters_note", "source"), as_json)


@app.command
def presets(*, as_json: Json = False) -> None:
    """List the presets: named recipes for training the original and the retrained model."""
    _print_cards(catalog.presets(), ("id", "title", "meaning", "source"), as_json)


@app.command
def check(file: Path, /, *, as_json: Json = False) -> int:
    """Try your own method on two toy problems, and say of each rule whether it is kept and how to mend it."""
    from mucore.contract import check_file

    checks = check_file(file)
    if as_json:
        print(to_json([dataclasses.asdict(each) for each in checks], indent=2))
    else:
        for each in checks:
            print(f"{'pass' if each.passed else 'FAIL'}  {each.rule}")
            if each.message:
                print(f"      {each.message}")
    return 0 if all(each.passed for each in checks) else FAILED


@app.command
def forget_set(
    *,
    dataset: Annotated[str | None, Parameter(help="A data set's id, npz:PATH or folder:PATH.")] = None,
    scenario: Annotated[str | None, Parameter(help="A scenario's id.")] = None,
    budget: Annotated[str | None, Parameter(help="How much to forget: a share (0.2, 20%) or a number of samples (200).")] = None,
    changes: Annotated[list[str] | None, Parameter(name="--set", negative="", help="scenario.KEY=VALUE or recipe.KEY=VALUE.")] = None,
    model: Annotated[str | None, Parameter(help="For scenarios that look at the original model.")] = None,
    preset: Annotated[str, Parameter(help="Recipe of that original.")] = "standard",
    seed: Annotated[int, Parameter(help="Training seed of that original.")] = 0,
    output: Annotated[Path | None, Parameter(help="A file instead of stdout.")] = None,
    verify: Annotated[Path | None, Parameter(help="A CSV file: does it name these samples? Without a scenario: its hash.")] = None,
    expect: Annotated[str | None, Parameter(name="--hash", help="The hash that the samples must have, as stored with a result.")] = None,
    as_json: Json = False,
) -> int:
    """Write the sample ids that a scenario chooses as a CSV file, which `--scenario ids --set scenario.ids=@FILE` reads; or verify one."""
    from mucore.cli import forget_set as tool
    from mucore.scenarios import forget_hash, write_ids

    if (dataset is None) != (scenario is None) or (scenario is None and verify is None):
        raise BadValue("Give --dataset and --scenario to choose samples, or --verify FILE to check a file of ids, or all three.")
    alike, classes = True, ()
    if dataset is not None and scenario is not None:
        forget = tool.choose(
            dataset=dataset, scenario=scenario, model=model, preset=preset, budget=budget, changes=changes or [], seed=seed
        )
        ids, classes = forget.ids.tolist(), forget.classes
        if verify is not None:
            alike, sentence = tool.compare(set(ids), verify)
            print(sentence, file=sys.stderr)
    else:
        assert verify is not None
        ids = sorted(tool.file_ids(verify))
    found = forget_hash(ids)
    if as_json:
        print(to_json(tool.description(ids, classes)))
    elif output is None and verify is None:
        print("id", *ids, sep="\n")
    if output is not None:
        try:
            write_ids(output, ids)
        except OSError as error:
            raise BadValue(f"The ids could not be written to {output}: {error.strerror}. Choose another file.") from None
    if expect is not None and expect != found:
        return _complain(f"The samples have the hash {found}, and not {expect}.", FAILED)
    print(f"{len(ids)} samples, hash {found}." + (f" Written to {output}." if output else ""), file=sys.stderr)
    return 0 if alike else FAILED


# -- comparisons


def _planned(options: GridOptions, store: Store) -> Plan:
    """The plan, with refusals said on stderr. Raises `BadValue` if a method that was named has no run at all."""
    from mucore.runner.plan import make_plan

    _say_left_out()
    grid, notes = build_grid(options)
    plan = make_plan(grid, store)
    for note in notes:
        print(note, file=sys.stderr)
    _say_refused(plan, options)
    return plan


def _say_refused(plan: Plan, options: GridOptions) -> None:
    for reason in dict.fromkeys(refusal.reason for refusal in plan.refused):  # that of a scope is the same in every scenario
        print(f"Left out: {reason}", file=sys.stderr)
    planned = {spec.method for spec in plan.specs}
    never = [name for name in dict.fromkeys(refusal.method for refusal in plan.refused) if name not in planned]
    if never and split_names(options.methods) != ["all"]:
        what = "scenarios" if plan.grid.scopes == ["all"] else "scenarios and scopes"
        raise BadValue(f"{' and '.join(never)} runs in none of the chosen {what}. Choose others, or use --methods all to leave it out.")


@app.command
def plan(options: GridOptions, *, as_json: Json = False) -> None:
    """Say what a run with the same flags would compute, what the store has already, and how long the rest takes."""
    with _open() as store:
        planned = _planned(options, store)
    if as_json:
        print(
            to_json(
                {
                    "runs": [
                        {"key": spec.key, "cached": spec.key in planned.cached, "label": spec.label, "spec": spec.model_dump(mode="json")}
                        for spec in planned.specs
                    ],
                    "cached": len(planned.cached),
                    "to_run": len(planned.to_run),
                    "refused": [dataclasses.asdict(refusal) for refusal in planned.refused],
                    "estimate": {"seconds": planned.seconds, "memory_bytes": planned.memory_bytes, "basis": planned.basis},
                },
                indent=2,
            )
        )
        return
    print_table(("run", "state"), [(spec.label, "stored" if spec.key in planned.cached else "to run") for spec in planned.specs])
    print(f"{len(planned.specs)} runs, {len(planned.cached)} of them in the store, {len(planned.to_run)} to run.")
    if planned.seconds is not None and planned.to_run:
        print(f"About {duration(planned.seconds)}." + (f" Peak memory {size(planned.memory_bytes)}." if planned.memory_bytes else ""))
    print(planned.basis)


@app.command
def run(
    options: GridOptions,
    *,
    name: Annotated[str | None, Parameter(help="Name of the comparison, as the dashboard shows it.")] = None,
    note: str = "",
    device: Device = "auto",
    as_json: Json = False,
) -> int:
    """Compute a comparison here and now and print its results; what the store has is not computed again."""
    from mucore.report import describe

    with _open() as store:
        planned = _planned(options, store)

        def show(key: str, result: Result | None, job: Job | None) -> None:
            if as_json and result is not None:
                print(to_json(describe(result, cached=key in planned.cached)), flush=True)
            elif as_json and job is not None:
                print(to_json(describe_failure(job)), flush=True)

        watch = _compute(planned, store, name=name or _comparison_name(planned), note=note, device=device, show=show)
        if not as_json:
            print_results(store.results(keys=planned.keys))
        missing = watch.unfinished()
    return _outcome(watch, missing)


def _compute(
    planned: Plan, store: Store, *, name: str, note: str, device: str, show: Callable[[str, Result | None, Job | None], None]
) -> Watch:
    """Queue what is missing and work on it here until it is done or interrupted; `show` gets every run of the plan as it comes."""
    from mucore.runner.plan import given_files, launch

    if planned.to_run:
        from mucore.engine.device import resolve_device

        resolve_device(device)  # a device that is not there must not leave a queue behind
        if files := given_files(planned.grid):  # nor must a file that cannot be used
            from mucore.runner.reference import check_given

            check_given(planned.to_run, files, store)
    watch = Watch(store, planned, launch(planned, store, name=name, note=note), show)
    with watch:
        if planned.to_run:
            from mucore.runner.worker import work

            work(store, device=device, only={spec.key for spec in planned.to_run}, until_done=True, stop=watch.stopped)
    return watch


def _outcome(watch: Watch, missing: Sequence[str]) -> int:
    """The exit code of a comparison that lacks these keys, with the reasons on stderr."""
    if watch.stopped.is_set():
        every = len(watch.plan.keys)
        return _complain(
            f"Interrupted with {every - len(missing)} of {every} results stored; the same command goes on from there.", INTERRUPTED
        )
    for reason, labels in _reasons(watch.failed.values()).items():
        print(f"{reason} ({', '.join(labels)})", file=sys.stderr)
    return FAILED if missing else 0


@app.command
def quality(
    options: GridOptions,
    *,
    models: Annotated[int, Parameter(help="How many unlearned models of each method, and how many retrained ones.")] = 64,
    originals: Annotated[
        Literal["one", "each"],
        Parameter(help="one: all are unlearned from one original, as in the competition. each: from its own."),
    ] = "one",
    bins: Annotated[Literal["document", "code"], Parameter(help="Bins of ε: 13, or as many as the organisers' code has.")] = "document",
    intervals: Annotated[
        Literal["all", "organisers"], Parameter(help="Which pairs of thresholds count: all, or those that the organisers' code looks at.")
    ] = "all",
    plan_only: Annotated[bool, Parameter(name="--plan", negative="", help="Say what would be computed and how long, and stop.")] = False,
    name: Annotated[str | None, Parameter(help="Name of the comparison, as the dashboard shows it.")] = None,
    note: str = "",
    device: Device = "auto",
    as_json: Json = False,
) -> int:
    """Compute forgetting quality: can many unlearned models be told from as many retrained ones? --seeds names the first seed."""
    from mucore.cli.quality import content, print_findings, say_plan
    from mucore.runner.quality import find, plan_experiment

    _say_left_out()
    grid, notes = build_grid(options)
    with _open() as store:
        experiment = plan_experiment(grid, store, models=models, originals=originals)
        for each in notes:
            print(each, file=sys.stderr)
        _say_refused(experiment.plan, options)
        say_plan(experiment.plan)
        findings, code = [], 0
        if not plan_only:
            title = name or f"{_comparison_name(experiment.plan)} · forgetting quality, {models} models"
            watch = _compute(experiment.plan, store, name=title, note=note, device=device, show=lambda *_: None)
            code = _outcome(watch, watch.unfinished())
            if code != INTERRUPTED:
                try:
                    findings = find(experiment, store, bins=bins, intervals=intervals)
                except MucoreError as error:  # where runs failed, what cannot be had is their fault and not the request's
                    return _complain(str(error), code or WRONG)
        if as_json and code != INTERRUPTED:
            print(to_json(content(experiment, findings, bins=bins, intervals=intervals), indent=2))
        elif not as_json:
            print_findings(findings)
    return code


def _reasons(failed: Iterable[Job]) -> dict[str, list[str]]:
    """Each reason once, with the runs that it stopped; what only lacks a failed reference shares the reference's reason."""
    reasons: dict[str, list[str]] = {}
    for job in sorted(failed, key=lambda job: len(job.error or "")):  # a reference's own error is part of its dependants'
        error = job.error or f"It ended as {job.state} without a reason; see {job.log or 'its log'}."
        reason = next((known for known in reasons if error.endswith(known)), error)
        reasons.setdefault(reason, []).append(job.label)
    return reasons


def _comparison_name(planned: Plan) -> str:
    grid = planned.grid
    names = (", then " if grid.sequence else ", ").join(choice.id for choice in grid.scenarios)
    return f"{grid.dataset} · {grid.model} · {names}"


# -- the store


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which results; none given: all."""

    dataset: str | None = None
    model: str | None = None
    scenario: str | None = None
    method: str | None = None
    comparison: Annotated[str | None, Parameter(help="A comparison's number or name.")] = None

    def resolve(self, store: Store) -> dict[str, Any]:
        """As the store takes them; names may be aliases. Raises `UnknownName`."""
        chosen: dict[str, Any] = {"dataset": self.dataset}
        if self.dataset is not None:
            catalog.dataset(self.dataset)
        if self.model is not None:
            chosen["model"] = catalog.model(self.model).id
        if self.scenario is not None:
            chosen["scenario"] = catalog.scenario(self.scenario).id
        if self.method is not None:
            chosen["method"] = catalog.method(self.method).id
        if self.comparison is not None:
            chosen["comparison"] = _comparison_id(store, self.comparison)
        return {name: value for name, value in chosen.items() if value is not None}


def _comparison_id(store: Store, text: str) -> int:
    known = store.comparisons()
    for comparison in known:
        if text in (str(comparison.id), comparison.name):
            return comparison.id
    raise UnknownName("comparison", text, [f"{comparison.id}" for comparison in known] + [comparison.name for comparison in known])


@app.command
def results(filters: Filters | None = None, *, as_json: Json = False) -> None:
    """Print stored results: a table, or a JSON list of what `run` prints one by one."""
    from mucore.report import describe

    with _open() as store:
        found = store.results(**(filters or Filters()).resolve(store))
    if as_json:
        print(to_json([describe(result) for result in found], indent=2))
    elif found:
        print_results(found)
    else:
        print("No result matches.", file=sys.stderr)


@app.command
def export(
    filters: Filters | None = None,
    *,
    format: Annotated[
        Literal["csv", "latex", "markdown"], Parameter(help="csv has every column; the other two those that tell rows apart.")
    ],
    metrics: Annotated[
        str | None, Parameter(help="Metric ids, separated by commas; default: all for csv, the accuracies, attacks and RTE else.")
    ] = None,
    output: Annotated[Path | None, Parameter(help="A file instead of stdout.")] = None,
    caption: Annotated[str | None, Parameter(help="Caption of the LaTeX table.")] = None,
) -> None:
    """Write stored results as a table for a paper or a spreadsheet: values and gaps to Retrain, as fractions."""
    from mucore import report

    chosen = split_names([metrics]) if metrics else None
    if chosen is None and format != "csv":
        chosen = [card.id for card in catalog.metrics() if card.id in HEADLINE]
    with _open() as store:
        frame = report.comparison_frame(store, metrics=chosen, **(filters or Filters()).resolve(store))
    if frame.empty:
        raise BadValue("No result matches, so there is nothing to export. See `python -m mucore results`.")
    if format == "csv":
        text = report.to_csv(frame)
    else:
        narrow = report.compact_frame(frame, chosen or [])
        text = report.to_latex(narrow, caption) if format == "latex" else report.to_markdown(narrow)
    if output is None:
        print(text, end="")
    else:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise BadValue(f"The table could not be written to {output}: {error.strerror}. Choose another file.") from None
        print(f"{len(frame)} results written to {output}.", file=sys.stderr)


@app.command
def stats(
    filters: Filters | None = None,
    *,
    metric: Annotated[str, Parameter(help="The metric of intervals, tests and ranks.")] = "ta",
    methods: Annotated[
        list[str] | None, Parameter(negative="", consume_multiple=True, help="Only these methods, separated by commas or spaces.")
    ] = None,
    agreement: Annotated[str | None, Parameter(help="Metrics whose rankings are compared, separated by commas.")] = None,
    pack: Annotated[Path | None, Parameter(help="A folder of packed results, such as data/demo, instead of the store.")] = None,
    table: Annotated[
        Literal["intervals", "pairs", "ranks", "agreement", "tau"], Parameter(help="Which table --format writes.")
    ] = "intervals",
    format: Annotated[Literal["csv", "latex", "markdown"] | None, Parameter(help="One table for a paper or a spreadsheet.")] = None,
    caption: Annotated[str | None, Parameter(help="Caption of the LaTeX table.")] = None,
    as_json: Json = False,
) -> None:
    """Say what several seeds and scenarios show: intervals, paired tests, average ranks, and whether metrics rank methods alike."""
    from mucore import ranking, report
    from mucore.cli import stats as tool
    from mucore.store import open_pack

    chosen = filters or Filters()
    wanted = split_names(methods or []) or ([chosen.method] if chosen.method else [])
    with open_pack(pack) if pack is not None else _open() as store:
        narrowed = dataclasses.replace(chosen, method=None).resolve(store)
        found = ranking.from_store(store, metric=metric, methods=wanted, agreement=split_names([agreement or ""]), **narrowed)
    if as_json:
        print(to_json(tool.content(found), indent=2))
        return
    if format is None:
        tool.print_statistics(found)
        return
    frame = tool.frame(found, table)
    if frame.empty:
        raise BadValue(f"There is no table of {table} to write. {' '.join(found.notes)}".strip())
    text = report.to_csv(frame) if format == "csv" else report.to_latex(frame, caption) if format == "latex" else report.to_markdown(frame)
    print(text, end="")
    for note in found.notes:
        print(note, file=sys.stderr)


@app.command
def analyse(
    kind: str,
    /,
    *,
    params: Annotated[str, Parameter(help="The parameters as a JSON object, the keys of the runs among them.")],
    pack: Annotated[Path | None, Parameter(help="A folder of packed results, such as data/demo, instead of the store.")] = None,
    output: Annotated[
        Path | None, Parameter(help="Keep the file in this folder's analyses, such as the pack's; default: the home's.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute an analysis of stored runs (tsne, layers, neighbours, relearn) and keep it as a file for the dashboard."""
    from mucore import analysis
    from mucore.cli import analyse as tool
    from mucore.store import default_home, open_pack

    parameters = tool.parse(params)
    place = output or analysis.place(default_home(), pack)
    with open_pack(pack) if pack is not None else _open() as store:
        found = tool.compute(kind, parameters, store, place)
    if as_json:
        print(to_json(tool.content(kind, found), indent=2))
    else:
        print(found.path)


@app.command
def remeasure(filters: Filters | None = None, *, device: Device = "auto") -> int:
    """Measure stored results again from their stored predictions, so that older ones get the metrics of this version. Trains nothing."""
    from mucore.runner.reference import Session
    from mucore.runner.remeasure import remeasure as measure_again

    def show(done: int, of: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)

    with _open() as store:
        found = store.results(**(filters or Filters()).resolve(store))
        if not found:
            print("No result matches.", file=sys.stderr)
            return 0
        left = measure_again(found, Session(store, device), on_done=show)
    print(f"{len(found) - len(left)} of {len(found)} results measured again.")
    reasons: dict[str, int] = {}
    for each in left:
        reasons[each.reason] = reasons.get(each.reason, 0) + 1
    for reason, count in reasons.items():
        print(f"{count} left as {'it is' if count == 1 else 'they are'}: {reason}", file=sys.stderr)
    return 0


@app.command
def gc(
    *, keep: Annotated[Literal["all", "outputs", "numbers"], Parameter(help="What stays of each run besides its numbers.")] = "all"
) -> None:
    """Remove files that no record needs (all), the weights too (outputs), or outputs and weights (numbers). Numbers never go.

    Then say what lies in the home, and what may be removed of it by hand."""
    from mucore.store import REMOVAL

    with _open() as store:
        removed = store.gc(keep)
        use, home = store.disk_use(), store.home
    print(f"Removed {removed['files']} files, {size(removed['bytes'])}. {size(sum(use.values()))} are in use in {home}:")
    rows = [(kind, size(count), REMOVAL[kind].replace("`", "")) for kind, count in use.items() if count]
    print_table(("what", "size", "what may be removed"), rows)


# -- jobs


@app.command
def worker(
    *,
    device: Device = "auto",
    threads: Annotated[int | None, Parameter(help="CPU threads; default: all.")] = None,
    idle_exit: Annotated[float | None, Parameter(help="End after so many seconds without work; default: never.")] = None,
    parent_pid: Annotated[int | None, Parameter(help="End when this process is gone and nothing is left to do.")] = None,
) -> None:
    """Take queued jobs and compute them until stopped. Ctrl-C gives the job in hand back to the queue."""
    from mucore.runner.worker import set_threads, stop_on_signals, work

    with _open() as store:
        set_threads(threads)
        work(store, device=device, idle_exit=idle_exit, parent_pid=parent_pid, stop=stop_on_signals())


@app.command
def jobs(
    *,
    state: Annotated[
        list[str] | None, Parameter(help="queued, running, done, failed, cancelled or lost; default: all.", negative="")
    ] = None,
    comparison: str | None = None,
    limit: Annotated[int, Parameter(help="Most rows.")] = 50,
    as_json: Json = False,
) -> None:
    """Show the queue: what waits, runs, and how it ended."""
    from mucore.store.records import JobState

    names = split_names(state or [])
    for name in names:
        if name not in get_args(JobState):
            raise UnknownName("job state", name, get_args(JobState))
    with _open() as store:
        chosen = _comparison_id(store, comparison) if comparison is not None else None
        found = store.jobs(states=[name for name in get_args(JobState) if name in names] or None, comparison=chosen, limit=limit)
    if as_json:
        print(to_json([dataclasses.asdict(job) for job in found], indent=2))
        return
    rows = [(job.id, job.state, f"{job.progress:.0%}", job.label, job.step if job.state == "running" else job.error or "") for job in found]
    print_table(("job", "state", "done", "run", "step or error"), rows)


@app.command
def cancel(job: Annotated[list[int], Parameter(help="Job numbers, as `jobs` shows them.", negative="")]) -> None:
    """Cancel queued jobs at once and running ones at their next step."""
    with _open() as store:
        changes = [(number, store.cancel(number)) for number in job]
    for number, changed in changes:
        print(f"Job {number} {'will stop at its next step' if changed.state == 'running' else 'is ' + changed.state}: {changed.label}")


@app.command
def retry(job: Annotated[list[int], Parameter(help="Job numbers, as `jobs` shows them.", negative="")]) -> None:
    """Queue failed, cancelled or lost jobs again."""
    with _open() as store:
        for number in job:
            print(f"Job {number} is queued again as job {store.retry(number).id}.")


@app.command
def bench(
    *,
    quick: Annotated[bool, Parameter(negative="", help="Tiny data, two epochs: a check of the script, no figures to quote.")] = False,
    write: Annotated[bool, Parameter(negative="", help="Write docs/benchmarks.md.")] = False,
    device: Device = "auto",
) -> int:
    """Measure the speed that the project promises: training, evaluation, store, start of the command line."""
    from mucore.bench import benchmark

    return 0 if benchmark(quick=quick, write=write, device=device) else FAILED
