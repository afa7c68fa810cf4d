"""What the command line writes: JSON, tables, durations and sizes."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pydantic_core

from mucore import catalog

if TYPE_CHECKING:
    import pandas as pd

    from mucore.runner.plan import Plan
    from mucore.store.records import Result
    from mucore.verdicts import Judged

# What fits on a screen: MUBox's columns, as far as a result has them.
HEADLINE = (
    *("ta", "ra", "fa", "tfa", "tra", "asr", "fa_true"),
    *("mia_correctness", "mia_confidence", "mia_entropy", "mia_m_entropy", "mia_prob"),
    *("rte", "rte_work"),
)


def to_json(content: Any, *, indent: int | None = None) -> str:
    """Strict JSON: numbers that are not finite become null, tuples and arrays lists, times ISO
    texts.
    """
    return pydantic_core.to_json(
        content, indent=indent, inf_nan_mode="null", fallback=lambda value: value.tolist()
    ).decode()


def _request(spec: Mapping[str, Any]) -> int:
    """Which request of a sequence a run answers, from 1."""
    return 1 + _request(spec["after"]) if spec.get("after") else 1


def print_results(found: Iterable[Result], judged: Mapping[str, Judged]) -> None:
    """The comparison as a table: verdicts, and MUBox's columns as far as they have values; rows by
    scenario, seed and method.
    """
    from mucore.runs import settings

    methods = ["original", *(card.id for card in catalog.methods())]
    order = {name: place for place, name in enumerate(methods)}
    shown = sorted(
        (result for result in found if result.spec["scenario"] is not None),
        key=lambda r: (
            *(_request(r.spec), r.spec["scenario"], r.spec["training_seed"]),
            *(order.get(r.spec["method"], len(order)), r.spec["unlearning_seed"]),
        ),
    )
    cards = [card for card in catalog.metrics() if card.id in HEADLINE]
    rows = [
        {
            "scenario": _scenario(result.spec, chosen),
            "method": result.spec["method"],
            "settings": ", ".join(f"{name}={value}" for name, value in different.items()),
            "seeds": f"{result.spec['training_seed']}/{result.spec['unlearning_seed']}",
            "verdict": _verdict(judged.get(result.key)),
            "status": result.status if result.status != "ok" else "",
            "time": "" if result.cost.get("missing") else duration(result.cost.get("seconds") or 0),
            **{card.short: _metric(card, result) for card in cards},
        }
        for result, chosen, different in zip(
            shown,
            _varying(shown, "scenario", lambda spec: spec["scenario_parameters"]),
            _varying(shown, "method", settings),
            strict=True,
        )
    ]
    columns = {
        name: cells for name in (rows or [{}])[0] if any(cells := [row[name] for row in rows])
    }
    kept = _fitting(columns)
    if rows:
        print_table(kept, [[row[name] for name in kept] for row in rows])
        print(
            "Percent; in brackets the gap to Retrain of the same training seed. Seeds: "
            "training/unlearning. Question mark: indicated, more seeds may change the verdict; "
            "--json gives its reason. –: the attack only guesses.",
            file=sys.stderr,
        )
    for result in shown:
        if result.status != "ok":
            print(
                f"{result.spec['method']} is {result.status}: {result.stop_reason}.",
                file=sys.stderr,
            )
    if hidden := [name for name in columns if name not in kept]:
        print(f"Too narrow for {', '.join(hidden)}: widen the window.", file=sys.stderr)


def _scenario(spec: Mapping[str, Any], differing: Mapping[str, Any]) -> str:
    """With the number of a later request and the parameters that differ among what is shown, such
    as `one_class budget=0.1`.
    """
    request = _request(spec)
    head = f"{request}: {spec['scenario']}" if request > 1 else spec["scenario"]
    return " ".join([head, *(f"{name}={value}" for name, value in differing.items())])


def _verdict(judged: Judged | None) -> str:
    if judged is None or judged.verdict is None:
        return ""
    return judged.verdict.said + ("?" if judged.verdict.provisional else "")


def _varying(
    shown: Sequence[Result], owner: str, values: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> list[dict[str, Any]]:
    """Of each result those of the `values` of its method or scenario, the `owner`, that differ
    among the results of that one under the scenario.
    """
    from mucore.runs.variants import differing

    alike: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for spec in (result.spec for result in shown):
        alike.setdefault((spec[owner], spec["scenario"]), []).append(values(spec))
    found = {key: iter(differing(key[0], each)) for key, each in alike.items()}
    return [next(found[each.spec[owner], each.spec["scenario"]]) for each in shown]


def _fitting(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns from the left that fit into the terminal without wrapping; all of them into a
    pipe.
    """
    left = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    kept = []
    for name, cells in columns.items():
        left -= max(map(len, (name, *cells))) + 3  # rich's space between two columns
        if left < 0:
            break
        kept.append(name)
    return kept


def _metric(card: catalog.MetricCard, result: Result) -> str:
    from mucore.metrics.sanity import guesses

    measured = result.metrics.get(card.id)
    if measured is None or measured.value is None:
        return ""
    if card.id in guesses(result.notes):
        return "–"
    scale, digits = (100, 1) if card.unit == "fraction" else (1, 3)
    gap = "" if measured.gap is None else f" ({measured.gap * scale:+.{digits}f})"
    return f"{measured.value * scale:.{digits}f}{gap}"


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table on stdout: as wide as the terminal, or one line a row into a pipe, for grep."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 10_000)
    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for row in rows:
        table.add_row(*(Text("" if value is None else str(value)) for value in row))
    with console.capture() as text:
        console.print(table, highlight=False)
    print("\n".join(line.rstrip() for line in text.get().splitlines()))


def print_frame(frame: pd.DataFrame) -> None:
    """A frame as a table, without the columns that hold nothing."""
    frame = frame.dropna(axis=1, how="all")
    print_table([*frame], [[_cell(each) for each in row] for row in frame.itertuples(index=False)])


def _cell(value: Any) -> str:
    """A number to four digits, an interval, a name; "" for none."""
    if isinstance(value, tuple):
        return " to ".join(map(_cell, value))
    if value is None or value != value:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def say_time(plan: Plan) -> str:
    """How long what is missing of a plan takes, and from what that is estimated."""
    from mucore.runner.estimate import about

    ahead = f", with {plan.ahead} jobs in the queue before it" if plan.ahead else ""
    text = about(plan.time)
    return f"{text[0].upper()}{text[1:]}{ahead}. {plan.basis}"


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`, `1 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 1:
        return f"{rest} s"
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def size(count: float) -> str:
    """Bytes in the largest fitting unit of 1000."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.{0 if unit == 'B' else 1}f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"
