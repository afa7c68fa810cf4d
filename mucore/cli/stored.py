"""Commands on stored results: tables, statistics, analyses, new metrics, room on the disk."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mucore import catalog
from mucore.cli.base import Device, Json, comparison_id, end_progress, open_home, progress
from mucore.cli.flags import split_names
from mucore.cli.printing import print_results, print_table, size, to_json
from mucore.errors import BadValue
from mucore.userfiles import datasets

if TYPE_CHECKING:
    from mucore.store import Store

Format = Literal["csv", "latex", "markdown"]
Pack = Annotated[
    Path | None,
    Parameter(help="A folder or zip of packed results instead of the store: data/demo."),
]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Filters:
    """Which results; none given: all.

    Parameters
    ----------
    comparison
        A comparison's number or name.
    """

    dataset: str | None = None
    model: str | None = None
    scenario: str | None = None
    method: str | None = None
    comparison: str | None = None

    def resolve(self, store: Store) -> dict[str, Any]:
        """As the store takes them; names may be aliases. Raises `UnknownName`."""
        chosen = {name: value for name, value in vars(self).items() if value is not None}
        if self.dataset is not None:
            catalog.dataset(self.dataset)
            chosen["dataset"] = datasets.stored(self.dataset)
        for name in ("model", "scenario", "method"):
            if name in chosen:
                chosen[name] = getattr(catalog, name)(chosen[name]).id
        if self.comparison is not None:
            chosen["comparison"] = comparison_id(store, self.comparison)
        return chosen


def results(filters: Filters | None = None, *, as_json: Json = False) -> None:
    """Print stored results: a table, or a JSON list of what `run` prints one by one."""
    from mucore.export.records import describe
    from mucore.verdicts import judge_stored

    with open_home() as store:
        chosen = (filters or Filters()).resolve(store)
        found, judged = store.results(**chosen), judge_stored(store, **chosen)
    if as_json:
        print(
            to_json([describe(result, judged=judged.get(result.key)) for result in found], indent=2)
        )
    elif found:
        print_results(found, judged)
    else:
        print("No result matches.", file=sys.stderr)


def export(
    filters: Filters | None = None,
    *,
    format: Literal["csv", "latex", "markdown", "json"],
    means: bool = False,
    metrics: str | None = None,
    output: Path | None = None,
    caption: str | None = None,
) -> None:
    """Write stored results as a table for a paper or a spreadsheet: values and gaps to Retrain of
    each run, or means over training seeds with their intervals.

    Parameters
    ----------
    format
        csv and json have a row a run; the other two are means over seeds.
    means
        csv of means over seeds, with half of the 95 % intervals.
    metrics
        Metric ids, separated by commas; default: all for csv, otherwise those that verdicts rest
        on, and RTE.
    output
        A file instead of stdout.
    caption
        Caption of the LaTeX table.
    """
    from mucore.export.tables import text

    chosen = split_names([metrics]) if metrics else []
    with open_home() as store:
        wanted = (filters or Filters()).resolve(store)
        found = text(store, format, means=means, metrics=chosen, caption=caption, **wanted)
    _write(found, output)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        print(text, end="")
    else:
        output.write_text(text, encoding="utf-8")
        print(f"Written to {output}.", file=sys.stderr)


def report(
    filters: Filters | None = None,
    *,
    pack: Pack = None,
    demo: bool = False,
    output: Path | None = None,
) -> None:
    """Write a request to forget as a report: forget list, Original, Retrain and methods with their
    verdicts and costs, an attack on each person, and what all this cannot show.

    Parameters
    ----------
    demo
        Of the demo results: which methods forgot such a request here?
    output
        A file instead of stdout.
    """
    from mucore import shipped
    from mucore.export.request import report as made
    from mucore.suite.pack import results_in

    with results_in(shipped.DATA / "demo" if demo else pack) as store:
        found = made(store, **(filters or Filters()).resolve(store))
    _write(found, output)


def stats(
    filters: Filters | None = None,
    *,
    metric: str = "ta",
    methods: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    agreement: str | None = None,
    pack: Pack = None,
    table: Literal["intervals", "pairs", "ranks", "agreement", "tau"] = "intervals",
    format: Format | None = None,
    caption: str | None = None,
    as_json: Json = False,
) -> None:
    """Say what several seeds and scenarios show: intervals, paired tests, average ranks, and
    whether metrics rank methods alike.

    Parameters
    ----------
    metric
        The metric of intervals, tests and ranks.
    methods
        Only these methods, separated by commas or spaces.
    agreement
        Metrics whose rankings are compared, separated by commas.
    table
        Which table --format writes.
    format
        One table for a paper or a spreadsheet.
    caption
        Caption of the LaTeX table.
    """
    from mucore import statistics
    from mucore.cli import stats as tool
    from mucore.export import tables
    from mucore.suite.pack import results_in

    chosen = filters or Filters()
    wanted = split_names(methods or []) or ([chosen.method] if chosen.method else [])
    with results_in(pack) as store:
        narrowed = dataclasses.replace(chosen, method=None).resolve(store)
        found = statistics.from_store(
            store,
            metric=metric,
            methods=wanted,
            agreement=split_names([agreement or ""]),
            **narrowed,
        )
    if as_json:
        print(to_json(tool.content(found), indent=2))
        return
    if format is None:
        tool.print_statistics(found)
        return
    frame = tool.frame(found, table)
    if frame.empty:
        raise BadValue(f"There is no table of {table} to write. {' '.join(found.notes)}".strip())
    writers = {"csv": tables.to_csv, "markdown": tables.to_markdown}
    latex = format == "latex"
    print(tables.to_latex(frame, caption) if latex else writers[format](frame), end="")
    for note in found.notes:
        print(note, file=sys.stderr)


def analyse(
    kind: str,
    /,
    *,
    params: str,
    pack: Pack = None,
    output: Path | None = None,
    as_json: Json = False,
) -> None:
    """Compute an analysis of stored runs (tsne, samples, layers, neighbours, relearn, replay,
    requests; docs/cli.md has their parameters) and keep it as a file for the dashboard.

    Parameters
    ----------
    params
        The parameters as a JSON object, the keys of the runs among them.
    output
        Keep the file in this folder's analyses, such as the pack's; default: the home's.
    """
    from mucore import analysis
    from mucore.cli import analyse as tool
    from mucore.suite.pack import results_in

    parameters = tool.parse(params)
    with results_in(pack) as results:
        known = tool.numbers(parameters, results)
    parameters = tool.internal(parameters, known)
    try:
        if output is None:
            with open_home() as store:
                found = tool.compute(kind, parameters, store, pack)
        else:
            with results_in(pack) as store:
                found = analysis.compute(kind, parameters, store, output, progress)
    finally:
        end_progress()
    if as_json:
        print(to_json(tool.content(kind, found, known), indent=2))
    else:
        print(found.path)


def remeasure(filters: Filters | None = None, *, device: Device = "auto") -> int:
    """Measure stored results again from their stored predictions, so that older ones get the
    metrics of this version. Trains nothing.
    """
    from mucore.runner.remeasure import remeasure as measure_again
    from mucore.runner.session import Session

    with open_home() as store:
        found = store.results(**(filters or Filters()).resolve(store))
        if not found:
            print("No result matches.", file=sys.stderr)
            return 0
        left = measure_again(
            found, Session(store, device), on_done=lambda done, of: progress(done / of, "measured")
        )
    end_progress()
    print(f"{len(found) - len(left)} of {len(found)} results measured again.")
    for reason, count in Counter(left).items():
        print(f"{count} left: {reason}", file=sys.stderr)
    return 0


def weights(key: str, /, output: Path) -> None:
    """Write the weights of a stored run to a file, for --original, the method uploaded, or another
    program.

    Parameters
    ----------
    output
        The file to write: .safetensors, .pt or .pth.
    """
    from mucore.export import weights as files

    with open_home() as store:
        path = files.save(store, key, output)
    print(f"{path}: {size(path.stat().st_size)}", file=sys.stderr)


def gc(*, keep: Literal["all", "outputs", "numbers"] = "all") -> None:
    """Remove files that no record needs (all), the weights too (outputs), or outputs and weights
    (numbers). Numbers never go.

    Then say what lies in the home, and what may be removed of it by hand.

    Parameters
    ----------
    keep
        What stays of each run besides its numbers.
    """
    from mucore.store import REMOVAL

    with open_home() as store:
        removed = store.gc(keep)
        use, home = store.disk_use(), store.home
    print(
        f"Removed {removed['files']} files, {size(removed['bytes'])}. {size(sum(use.values()))} "
        f"are in use in {home}:"
    )
    rows = [
        (kind, size(count), REMOVAL[kind].replace("`", "")) for kind, count in use.items() if count
    ]
    print_table(("what", "size", "what may be removed"), rows)


def backup(folder: Path, /) -> None:
    """Copy the home into a new folder, which is a home then (--home FOLDER); work may go on."""
    with open_home() as store:
        store.back_up(folder.absolute())
    print(f"Copied to {folder}.")


def purge(
    *,
    dataset: str,
    ids: str = "",
    persons: str = "",
    yes: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """List what samples left in the home, and with --yes remove it: predictions and features of
    them, networks that were trained on them, forget sets, analyses. The record names no sample.

    Parameters
    ----------
    dataset
        The data set that the samples are of.
    ids
        Rows with commas and ranges, @FILE of them, or set:NAME.
    persons
        Persons instead, with commas, by name.
    yes
        Remove it; else it is listed.
    """
    from mucore import purge as work
    from mucore.forget_sets import identity
    from mucore.forget_sets import persons as people

    if bool(ids) == bool(persons):
        raise BadValue("Say what must be gone: either --ids or --persons.")
    rows = people.rows(persons, dataset) if persons else identity.chosen(ids, dataset)
    with open_home() as store:
        found = work.left(store, dataset, rows)
        lines = [
            ("predictions and features", len(found.outputs), "of every sample in these runs"),
            ("networks", len(found.models), "all but those known to be made without them"),
            ("forget sets", len(found.sets), ", ".join(found.sets)),
            ("analyses, unfinished trainings", len(found.files), "made anew when asked for"),
        ]
        print_table(("what", "count", "which"), lines)
        print(
            "Yours to remove: the data themselves, packs, exports, backups, what `evaluate --keep` "
            "kept. The descriptions of runs keep the rows that they forgot."
        )
        if not yes:
            print("Nothing was removed. Say --yes to remove it.")
            return
        work.remove(store, found)
        print(f"Removed. {store.home / work.RECORD} says when and how much.")
