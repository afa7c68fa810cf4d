"""Commands on stored results: tables, statistics, analyses, new metrics, room on the disk."""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from mucore import catalog
from mucore.cli.base import Device, Json, comparison_id, open_home
from mucore.cli.flags import split_names
from mucore.cli.printing import HEADLINE, print_results, print_table, size, to_json
from mucore.errors import BadValue

if TYPE_CHECKING:
    from mucore.store import Store


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
            chosen["comparison"] = comparison_id(store, self.comparison)
        return {name: value for name, value in chosen.items() if value is not None}


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
    format: Annotated[
        Literal["csv", "latex", "markdown"],
        Parameter(help="csv has every column; the other two only those that tell rows apart."),
    ],
    metrics: Annotated[
        str | None,
        Parameter(
            help="Metric ids, separated by commas; default: all for csv, otherwise the accuracies, "
            "attacks and RTE."
        ),
    ] = None,
    output: Annotated[Path | None, Parameter(help="A file instead of stdout.")] = None,
    caption: Annotated[str | None, Parameter(help="Caption of the LaTeX table.")] = None,
) -> None:
    """Write stored results as a table for a paper or a spreadsheet: values and gaps to Retrain, as
    fractions.
    """
    from mucore.export import tables

    chosen = split_names([metrics]) if metrics else None
    if chosen is None and format != "csv":
        chosen = [card.id for card in catalog.metrics() if card.id in HEADLINE]
    with open_home() as store:
        frame = tables.comparison_frame(
            store, metrics=chosen, **(filters or Filters()).resolve(store)
        )
    if frame.empty:
        raise BadValue(
            "No result matches, so there is nothing to export. See `python -m mucore results`."
        )
    if format == "csv":
        text = tables.to_csv(frame)
    else:
        narrow = tables.compact_frame(frame, chosen or [])
        text = tables.to_latex(narrow, caption) if format == "latex" else tables.to_markdown(narrow)
    if output is None:
        print(text, end="")
    else:
        try:
            output.write_text(text, encoding="utf-8")
        except OSError as error:
            raise BadValue(
                f"The table could not be written to {output}: {error.strerror}. Choose another "
                "file."
            ) from None
        print(f"{len(frame)} results written to {output}.", file=sys.stderr)


def stats(
    filters: Filters | None = None,
    *,
    metric: Annotated[str, Parameter(help="The metric of intervals, tests and ranks.")] = "ta",
    methods: Annotated[
        list[str] | None,
        Parameter(
            negative="",
            consume_multiple=True,
            help="Only these methods, separated by commas or spaces.",
        ),
    ] = None,
    agreement: Annotated[
        str | None, Parameter(help="Metrics whose rankings are compared, separated by commas.")
    ] = None,
    pack: Annotated[
        Path | None,
        Parameter(help="A folder of packed results, such as data/demo, instead of the store."),
    ] = None,
    table: Annotated[
        Literal["intervals", "pairs", "ranks", "agreement", "tau"],
        Parameter(help="Which table --format writes."),
    ] = "intervals",
    format: Annotated[
        Literal["csv", "latex", "markdown"] | None,
        Parameter(help="One table for a paper or a spreadsheet."),
    ] = None,
    caption: Annotated[str | None, Parameter(help="Caption of the LaTeX table.")] = None,
    as_json: Json = False,
) -> None:
    """Say what several seeds and scenarios show: intervals, paired tests, average ranks, and
    whether metrics rank methods alike.
    """
    from mucore import statistics
    from mucore.cli import stats as tool
    from mucore.export import tables
    from mucore.store import open_pack

    chosen = filters or Filters()
    wanted = split_names(methods or []) or ([chosen.method] if chosen.method else [])
    with open_pack(pack) if pack is not None else open_home() as store:
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
    text = (
        tables.to_csv(frame)
        if format == "csv"
        else tables.to_latex(frame, caption)
        if format == "latex"
        else tables.to_markdown(frame)
    )
    print(text, end="")
    for note in found.notes:
        print(note, file=sys.stderr)


def analyse(
    kind: str,
    /,
    *,
    params: Annotated[
        str, Parameter(help="The parameters as a JSON object, the keys of the runs among them.")
    ],
    pack: Annotated[
        Path | None,
        Parameter(help="A folder of packed results, such as data/demo, instead of the store."),
    ] = None,
    output: Annotated[
        Path | None,
        Parameter(
            help="Keep the file in this folder's analyses, such as the pack's; default: the home's."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute an analysis of stored runs (tsne, samples, layers, neighbours, relearn, replay,
    requests; docs/cli.md has their parameters) and keep it as a file for the dashboard.
    """
    from mucore import analysis
    from mucore.cli import analyse as tool
    from mucore.store import open_pack

    parameters = tool.parse(params)
    with open_pack(pack) if pack is not None else open_home() as results:
        known = tool.numbers(parameters, results)
    parameters = tool.internal(parameters, known)
    try:
        if output is None:
            with open_home() as store:
                found = tool.compute(kind, parameters, store, pack)
        else:
            with open_pack(pack) if pack is not None else open_home() as store:
                found = analysis.compute(kind, parameters, store, output, tool.progress)
    finally:
        tool.end_progress()
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

    def show(done: int, of: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} of {of}", end="\n" if done == of else "", file=sys.stderr, flush=True)

    with open_home() as store:
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


def weights(
    key: str,
    /,
    output: Annotated[Path, Parameter(help="The file to write: .safetensors, .pt or .pth.")],
) -> None:
    """Write the weights of a stored run to a file, for --original, the method uploaded, or another
    program.
    """
    from mucore.export import weights as files

    with open_home() as store:
        path = files.save(store, key, output)
    print(f"{path}: {size(path.stat().st_size)}", file=sys.stderr)


def gc(
    *,
    keep: Annotated[
        Literal["all", "outputs", "numbers"],
        Parameter(help="What stays of each run besides its numbers."),
    ] = "all",
) -> None:
    """Remove files that no record needs (all), the weights too (outputs), or outputs and weights
    (numbers). Numbers never go.

    Then say what lies in the home, and what may be removed of it by hand.
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
