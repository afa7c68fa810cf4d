"""`python -m mucore bench --methods`: what every method costs, from one original, against Retrain.

Methods take turns, round by round, each round with a Retrain of its own: a machine that gets slower
on the way slows both sides of a ratio. Figures are kept as they come (ledger.py), so an interrupted
pass goes on.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mucore import catalog
from mucore.bench import page
from mucore.bench.clock import Spread
from mucore.bench.ledger import Ledger
from mucore.bench.runs import Setting, compared, kept, one_line, recorded, work
from mucore.errors import MucoreError
from mucore.runner.session import Session
from mucore.spec import make_recipe

# Above these the table asks for a lower bound: of a Retrain's time, and in copies of the model.
SLOW, LARGE = 0.2, 2.0
BOUNDS = Path(__file__).with_name("bounds.toml")


@dataclass(frozen=True)
class Measured:
    """What a method took: seconds and its ratio to Retrain over the rounds; work as a ratio;
    seconds of preparation; memory in copies of the model. `error` where a round failed.
    """

    method: str
    seconds: Spread | None = None
    ratio: Spread | None = None
    work: float = 0.0
    prepared: float = 0.0
    held: float = 0.0
    persistent: float = 0.0
    peak: float = 0.0
    status: str = "ok"
    scenario: str = "class_wise"
    error: str = ""


def benchmark_methods(
    names: list[str] | None = None,
    *,
    quick: bool = False,
    write: bool = False,
    device: str = "auto",
    repeats: int | None = None,
    fresh: bool = False,
) -> list[Measured]:
    """Measure, print, and with `write` put the table into docs/benchmarks.md.

    `quick` takes digits and one epoch. A method that fails is a line that says why. Raises
    `UnknownName` for a method that no card has, `BadValue` for `quick` with `write`.
    """
    page.refuse_quick_figures(quick, write)
    methods = compared(names)
    rounds = repeats or (1 if quick else 3)
    with kept("methods", device, fresh=fresh) as (session, ledger):
        found = measure_methods(methods, setting(quick), session, ledger, rounds)
    print(table(found))
    if write:
        page.put_section(section(found, rounds, page.machine(device)))
        print(f"Written to docs/{page.PAGE.name}.")
    return found


def setting(quick: bool) -> Setting:
    return (
        Setting("digits", "mlp", make_recipe("standard", {"epochs": 1}))
        if quick
        else Setting("fashion-mnist-10k", "resnet9-small", make_recipe("standard"))
    )


def measure_methods(
    methods: Sequence[str], where: Setting, session: Session, ledger: Ledger, rounds: int
) -> list[Measured]:
    """Figures of the methods and of Retrain, the quickest first, failed ones last.

    Raises `MucoreError` where Retrain itself fails.
    """
    figures: dict[str, list[dict[str, Any]]] = {name: [] for name in ("retrain", *methods)}
    problems: dict[str, str] = {}
    for number in range(rounds):
        for name in figures:
            if name in problems:
                continue
            try:
                spec = where.spec(name)
            except MucoreError as refusal:
                problems[name] = one_line(refusal)
                continue
            one = recorded(ledger, spec, session, repeat=number)
            said = one.get("error") or f"{one['seconds']:.2f} s"
            page.note(f"round {number + 1} of {rounds}: {name}, {said}")
            if "error" in one:
                problems[name] = one["error"]
            else:
                figures[name].append(one | {"scenario": spec.scenario})
    if "retrain" in problems:
        raise MucoreError(f"Nothing can be compared, because Retrain failed: {problems['retrain']}")
    found = [
        Measured(name, error=problems[name])
        if name in problems
        else measured(name, figures[name], figures["retrain"])
        for name in ("retrain", *methods)
    ]
    return sorted(found, key=lambda each: each.seconds.median if each.seconds else float("inf"))


def measured(
    name: str, figures: Sequence[Mapping[str, Any]], retrain: Sequence[Mapping[str, Any]]
) -> Measured:
    """The rounds of a method beside those of Retrain, as one line."""
    copy = figures[0]["copy"]
    return Measured(
        name,
        seconds=Spread.of([each["seconds"] for each in figures]),
        ratio=Spread.of(
            [
                each["seconds"] / beside["seconds"]
                for each, beside in zip(figures, retrain, strict=True)
            ]
        ),
        work=work(figures[0]) / work(retrain[0]),
        prepared=figures[0]["prepared"],
        held=figures[0]["scratch"] / copy,
        persistent=figures[0]["persistent"] / copy,
        peak=max(each["peak"] for each in figures) / copy,
        status=figures[0]["status"],
        scenario=figures[0]["scenario"],
    )


def table(found: Sequence[Measured]) -> str:
    """The table in Markdown, and a line for each method that failed."""
    lines = [
        "| method | seconds | of a Retrain | work | prepared | held | kept | peak | its paper |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
        *(_row(each) for each in found if not each.error),
    ]
    lines += [f"\n{each.method} was not measured: {each.error}" for each in found if each.error]
    return "\n".join(lines)


def _row(each: Measured) -> str:
    assert each.seconds is not None and each.ratio is not None
    name = each.method if each.status == "ok" else f"{each.method} ({each.status})"
    if each.scenario != "class_wise":
        name = f"{name}, {each.scenario}"
    storage = catalog.method(each.method).storage
    return (
        f"| {name} | {each.seconds.text()} | {each.ratio.text()} | {each.work:.2f} | "
        f"{f'{each.prepared:.0f} s' if each.prepared else ''} | {each.held:.1f} | "
        f"{each.persistent:.1f} | {each.peak:.0f} | {'' if storage == '0' else storage} |"
    )


def bounds() -> dict[str, dict[str, str]]:
    """What bounds.toml says by method: `bound`, and where known `published` and `official`."""
    return tomllib.loads(BOUNDS.read_text(encoding="utf-8"))


def costs(found: Sequence[Measured]) -> str:
    """The costly ones in Markdown, the cheapest first: what they cost elsewhere and here, and their
    lower bounds.
    """
    known = bounds()
    lines = [
        "| method | published | official code | here | lower bound |",
        "| --- | --- | --- | --- | --- |",
    ]
    shares = [
        (each.ratio.median, each)
        for each in found
        if each.ratio is not None and each.method in known
    ]
    for share, each in sorted(shares, key=lambda one: one[0]):
        said = known[each.method]
        lines.append(
            f"| {catalog.method(each.method).title} | {said.get('published', '–')} | "
            f"{said.get('official', '–')} | {share:.2f}; {each.held:.1f} held, "
            f"{each.persistent:.1f} kept | {said['bound']} |"
        )
    return "\n".join(lines)


def section(found: Sequence[Measured], rounds: int, names: Mapping[str, str]) -> str:
    """The section of docs/benchmarks.md."""
    known = bounds()
    costly = [
        each.method
        for each in found
        if each.ratio is not None
        and each.method != "retrain"
        and (each.ratio.median > SLOW or each.held > LARGE)
    ]
    open_ones = [name for name in costly if name not in known]
    text = [
        "## Methods",
        "",
        (
            "Written by `python -m mucore bench --methods --write`: every method with its authors' "
            "values, scenario `class_wise`, on"
        ),
        (
            "`fashion-mnist-10k` with `resnet9-small`, preset `standard`, from one original. "
            f"Median of {rounds} rounds in which the methods and a"
        ),
        (
            "Retrain take turns, with the least and the greatest. Seconds are of the processor on "
            "a CPU; work is passes of a sample through the"
        ),
        (
            "network, a gradient counting as two more, against Retrain's. Prepared are training "
            "records, made before the request. Memory is in"
        ),
        (
            "copies of the model: what the method holds for itself, what is kept since training, "
            "and the measured peak with activations. What a"
        ),
        "method's paper must keep is the last column.",
        "",
        table(found),
        "",
        (
            f"Above {SLOW:g} of a Retrain or {LARGE:g} copies: {', '.join(costly) or 'none'}. "
            f"Without a lower bound below: {', '.join(open_ones) or 'none'}."
        ),
        "",
        (
            "Published is the share of a Retrain of 200 epochs, with storage, that MUBox measured "
            "for ResNet-18 on CIFAR-10; here, the share of a"
        ),
        "Retrain, and copies of the model held and kept.",
        "",
        costs(found),
        "",
        (
            f"{names['Device']}, {names['Threads of torch']} threads, torch {names['torch']}, "
            f"{names['Measured']}."
        ),
        "",
    ]
    return "\n".join(text)
