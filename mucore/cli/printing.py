"""What the command line writes: JSON, tables, durations and sizes."""

from __future__ import annotations

import json
import math
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from mucore import catalog

if TYPE_CHECKING:
    from mucore.runner.plan import Plan
    from mucore.store.rows import Result
    from mucore.verdicts import Judged


def to_json(content: Any, *, indent: int | None = None) -> str:
    """Strict JSON: numbers that are not finite become null, tuples and sets lists, times ISO
    texts.
    """
    return json.dumps(_plain(content), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(_plain(item) for item in value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# What fits on a screen: MUBox's columns, as far as a result has them.
HEADLINE = (
    "ta",
    "ra",
    "fa",
    "tfa",
    "tra",
    "asr",
    "fa_true",
    "mia_correctness",
    "mia_confidence",
    "mia_entropy",
    "mia_m_entropy",
    "mia_prob",
    "rte",
    "rte_work",
)


def _request(spec: Mapping[str, Any]) -> int:
    """Which request of a sequence a run answers, from 1."""
    return 1 + _request(spec["after"]) if spec.get("after") else 1


def print_results(found: Iterable[Result], judged: Mapping[str, Judged]) -> None:
    """The comparison as a table: verdicts, and MUBox's columns as far as they have values; rows by
    scenario, seed and method.
    """
    order = {
        name: place
        for place, name in enumerate(("original", *(card.id for card in catalog.methods())))
    }
    shown = [result for result in found if result.spec["scenario"] is not None]
    shown.sort(
        key=lambda r: (
            r.spec["training_seed"],
            order.get(r.spec["method"], 99),
            r.spec["unlearning_seed"],
        )
    )
    shown.sort(key=lambda r: (_request(r.spec), r.spec["scenario"]))
    cards = [
        card
        for card in catalog.metrics()
        if card.id in HEADLINE and any(_has(result, card.id) for result in shown)
    ]
    columns, rows = [], []
    for name, cells in (
        (
            "scenario",
            [
                (f"{n}: " if (n := _request(result.spec)) > 1 else "") + result.spec["scenario"]
                for result in shown
            ],
        ),
        ("method", [result.spec["method"] for result in shown]),
        *([("settings", varying)] if any(varying := _varying(shown)) else []),
        (
            "seeds",
            [
                f"{result.spec['training_seed']}/{result.spec['unlearning_seed']}"
                for result in shown
            ],
        ),
        ("verdict", [_verdict(judged.get(result.key)) for result in shown]),
        *(
            [("status", status)]
            if set(status := [result.status for result in shown]) != {"ok"}
            else []
        ),
        (
            "time",
            [
                "" if result.cost.get("missing") else duration(result.cost.get("seconds") or 0.0)
                for result in shown
            ],
        ),
        *(
            (
                card.short,
                [_metric(card, result) if _has(result, card.id) else "" for result in shown],
            )
            for card in cards
        ),
    ):
        columns.append(name)
        rows.append(cells)
    kept = _fitting(columns, rows)
    if shown:
        print_table(columns[:kept], list(zip(*rows[:kept], strict=True)))
        print(
            "Percent; in brackets the gap to Retrain of the same training seed. Seeds: "
            "training/unlearning. A verdict with a question mark is an indication, not shown; "
            "--json gives its reason. –: the attack only guesses.",
            file=sys.stderr,
        )
    for result in shown:
        if result.status != "ok":
            print(
                f"{result.spec['method']} under {result.spec['scenario']} is {result.status}: "
                f"{result.stop_reason}.",
                file=sys.stderr,
            )
    if kept < len(columns):
        print(
            f"Too narrow for {', '.join(columns[kept:])}: widen the window, or pipe into a file.",
            file=sys.stderr,
        )


def _verdict(judged: Judged | None) -> str:
    if judged is None or judged.verdict is None:
        return ""
    return judged.verdict.said + ("?" if judged.verdict.provisional else "")


def _varying(shown: Sequence[Result]) -> list[str]:
    """Of each result the settings in which its method was run more than one way under the scenario,
    as `lr=0.1, gradient_noise=0`.
    """
    from mucore.spec import settings
    from mucore.spec.variants import differing

    alike: dict[tuple[str, str], list[int]] = {}
    for place, result in enumerate(shown):
        alike.setdefault((result.spec["method"], result.spec["scenario"]), []).append(place)
    texts = [""] * len(shown)
    for (method, _), places in alike.items():
        for place, found in zip(
            places, differing(method, [settings(shown[each].spec) for each in places]), strict=True
        ):
            texts[place] = ", ".join(f"{name}={value}" for name, value in found.items())
    return texts


def _fitting(columns: Sequence[str], cells: Sequence[Sequence[str]]) -> int:
    """How many columns from the left fit into the terminal without wrapping; all of them into a
    pipe.
    """
    if not sys.stdout.isatty():
        return len(columns)
    width, kept = shutil.get_terminal_size().columns, 0
    for name, column in zip(columns, cells, strict=True):
        width -= max(map(len, (name, *column))) + 3  # rich's space between two columns
        if width < 0:
            break
        kept += 1
    return max(kept, 1)


def _has(result: Result, metric: str) -> bool:
    return metric in result.metrics and result.metrics[metric].value is not None


def _metric(card: catalog.MetricCard, result: Result) -> str:
    from mucore.metrics.sanity import guesses

    measured = result.metrics[card.id]
    assert measured.value is not None
    if card.id in guesses(result.notes):
        return "–"
    scale, digits = (100, 1) if card.unit == "fraction" else (1, 3)
    return f"{measured.value * scale:.{digits}f}" + (
        f" ({measured.gap * scale:+.{digits}f})" if measured.gap is not None else ""
    )


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """A table on stdout: as wide as the terminal, or one line a row into a pipe, for grep."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 10_000)
    table = Table(*columns, box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for row in rows:
        table.add_row(*(_plain_cell(cell) for cell in row))
    with console.capture() as text:
        console.print(table, highlight=False)
    print("\n".join(line.rstrip() for line in text.get().splitlines()))


def _plain_cell(value: Any) -> Any:
    from rich.text import Text

    return Text("" if value is None else str(value))


def cell(value: Any) -> str:
    if isinstance(value, tuple):
        return " / ".join(f"{item:,}" if isinstance(item, int) else str(item) for item in value)
    return "" if value is None else str(value)


def say_time(plan: Plan) -> str:
    """How long what is missing of a plan takes, as a sentence."""
    from mucore.runner.estimate import about

    ahead = (
        f", with {plan.ahead} {'job' if plan.ahead == 1 else 'jobs'} in the queue before it"
        if plan.ahead
        else ""
    )
    text = about(plan.time) + ahead + "."
    return text[0].upper() + text[1:]


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`, `1 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def size(count: float | None) -> str:
    """Bytes in the largest fitting unit of 1000."""
    count = float(count or 0)
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000 or unit == "GB":
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    raise AssertionError("unreachable")
