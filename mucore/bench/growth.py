"""`python -m mucore bench --growth`: how a method's time grows with the forget set, with the model
and with the data.

Time is taken to be a power of size, whose exponent is the slope of a line through the logarithms:
0 is no growth, 1 proportional. Sizes are small, so that the whole pass takes minutes; what does
not depend on size (a copy of the model, the first step) lowers the exponents of the quickest.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from mucore import catalog
from mucore.bench import page
from mucore.bench.clock import Spread
from mucore.bench.runs import SHARE, Setting, compared, kept, one_line, recorded
from mucore.errors import MucoreError
from mucore.models import resnet9
from mucore.spec import RunSpec, make_recipe

Axis = Literal["forgotten", "copy", "samples"]  # as runs.py names these sizes
AXES: Mapping[Axis, str] = {"forgotten": "forget set", "copy": "weights", "samples": "data"}
ENOUGH = 1.0  # seconds of measurement that need no further round
LIMIT = 90.0  # seconds after which a run is ended, and what is larger is left out
# What takes hours. GKT makes 4,000 batches, all alike: a thousandth of them tells how it grows.
# NTK scrubbing's two systems have a row for each logit of 500 retained samples.
CHANGES: Mapping[str, Mapping[str, Any]] = {
    "gkt": {"batches": 4},
    "ntk": {"retain_samples": 100},
}


@dataclass(frozen=True)
class Point:
    """One size: images a class, share of them that goes, and how wide the model is."""

    axis: Axis
    per_class: int
    share: float = SHARE
    width: float = 1.0

    def spec(self, method: str, quick: bool) -> RunSpec | None:
        """With a share of all classes, or with whole classes for a method that serves no such
        request; None where that would be less than a class. Raises `MucoreError`.
        """
        changes = {"per_class": self.per_class} | ({"epochs": 1} if quick else {})
        dataset = "digits" if quick else "fashion-mnist-10k"
        where = Setting(dataset, "resnet9-small", make_recipe("quick", changes))
        ask = functools.partial(where.of, method, parameters=CHANGES.get(method))
        if catalog.serves(catalog.method(method), "all_classes"):
            return ask("all_classes", {"budget": self.share})
        classes = range(int(10 * self.share))  # of ten in both data sets
        return ask("class_wise", {"class_ids": tuple(classes)}) if classes else None

    def __str__(self) -> str:
        return (
            f"{AXES[self.axis]}, {self.per_class} images a class, {self.share:.0%} forgotten, "
            f"width {self.width:g}"
        )


@dataclass(frozen=True)
class Exponent:
    """The slope of log seconds over log size, and its standard error."""

    slope: float
    error: float


@dataclass
class Growth:
    """What was measured of a method, by size, and what was left out and why."""

    method: str
    scenario: str = ""
    figures: dict[Point, list[dict[str, Any]]] = field(default_factory=dict)
    left_out: dict[Axis, str] = field(default_factory=dict)

    def wants(self, point: Point) -> bool:
        """Whether to measure at this size, once more: not where a smaller one failed or took too
        long, nor where there are seconds enough.
        """
        seconds = sum(one["seconds"] for one in self.figures.get(point, []))
        return point.axis not in self.left_out and seconds < ENOUGH

    def take(self, point: Point, one: dict[str, Any]) -> None:
        if "seconds" in one:
            self.figures.setdefault(point, []).append(one)
        else:
            why = one.get("error") or f"longer than {LIMIT:.0f} s"
            self.left_out[point.axis] = f"{point}: {why}"

    def median(self, point: Point) -> float:
        return Spread.of([one["seconds"] for one in self.figures[point]]).median

    @property
    def exponents(self) -> dict[Axis, Exponent | None]:
        return {
            axis: exponent(
                [
                    (float(measured[0][axis]), self.median(point))
                    for point, measured in self.figures.items()
                    if point.axis == axis
                ]
            )
            for axis in AXES
        }

    @property
    def seconds(self) -> float | None:
        """At the size that all axes have in common."""
        common = [
            point for point in self.figures if point.axis == "forgotten" and point.share == SHARE
        ]
        return self.median(common[0]) if common else None


def points(quick: bool) -> list[Point]:
    """The sizes of each axis, rising. One size is common to all three."""
    images = 20 if quick else 50
    shares = (0.1, 0.2, 0.5) if quick else (0.01, 0.05, 0.1, 0.2, 0.5)
    widths = (0.25, 0.5, 1.0) if quick else (0.5, 1.0, 1.5)
    counts = (10, 20, 40) if quick else (20, 50, 120)
    return [
        *(Point("forgotten", images, share=each) for each in shares),
        *(Point("copy", images, width=each) for each in widths),
        *(Point("samples", each) for each in counts),
    ]


def benchmark_growth(
    names: list[str] | None = None,
    *,
    quick: bool = False,
    write: bool = False,
    device: str = "auto",
    repeats: int | None = None,
    fresh: bool = False,
) -> list[Growth]:
    """Measure, print, and with `write` put the table into docs/benchmarks.md.

    `quick` takes digits and three sizes an axis. Raises `UnknownName` for a method that no card
    has, `BadValue` for `quick` with `write`.
    """
    page.refuse_quick_figures(quick, write)
    found = [Growth(name) for name in ("retrain", *compared(names))]
    for number in range(repeats or (1 if quick else 3)):
        measure_growth(found, points(quick), number, quick, device, fresh and not number)
    print(table(found))
    if write:
        page.put_section(section(found, page.machine(device)))
        print(f"Written to docs/{page.PAGE.name}.")
    return found


def measure_growth(
    found: Sequence[Growth],
    sizes: Sequence[Point],
    number: int,
    quick: bool,
    device: str,
    fresh: bool = False,
) -> None:
    """One round: every method at every size, the smallest of an axis first."""
    for width in sorted({point.width for point in sizes}):
        store = kept("growth", device, fresh=fresh, folder=f"width-{width:g}")
        with wide(width), store as (session, ledger):
            for point in (each for each in sizes if each.width == width):
                page.say(f"round {number + 1}: {point}")
                for growth in (each for each in found if each.wants(point)):
                    try:
                        spec = point.spec(growth.method, quick)
                    except MucoreError as refusal:
                        growth.take(point, {"error": one_line(refusal)})
                        continue
                    if spec is not None:
                        growth.scenario = spec.scenario or ""
                        one = recorded(ledger, spec, session, repeat=number, limit=LIMIT)
                        growth.take(point, one)


def exponent(measured: Sequence[tuple[float, float]]) -> Exponent | None:
    """Least squares through (log size, log seconds), with the standard error of the slope; None
    with fewer than three different sizes.
    """
    logs = [(math.log(size), math.log(seconds)) for size, seconds in measured if seconds > 0]
    if len({x for x, _ in logs}) < 3:
        return None
    count = len(logs)
    mean_x, mean_y = (sum(each) / count for each in zip(*logs, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread
    left = sum((y - mean_y - slope * (x - mean_x)) ** 2 for x, y in logs)
    return Exponent(slope, math.sqrt(left / (count - 2) / spread))


@contextmanager
def wide(factor: float) -> Generator[None]:
    """Inside, `resnet9-small` is `factor` times as wide. No recipe asks for that: it is a way to
    have one network in several sizes, in a store of their own.
    """
    kept_widths = resnet9.WIDTHS
    first, second, third, fourth = (max(1, round(factor * each)) for each in kept_widths)
    resnet9.WIDTHS = (first, second, third, fourth)
    try:
        yield
    finally:
        resnet9.WIDTHS = kept_widths


def table(found: Sequence[Growth]) -> str:
    """The table in Markdown, and below it what was left out."""
    lines = [
        f"| method | scenario | {' | '.join(AXES.values())} | seconds |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
        *(
            f"| {each.method} | {each.scenario} | "
            f"{' | '.join(map(_cell, each.exponents.values()))} | "
            f"{'' if each.seconds is None else f'{each.seconds:.2f}'} |"
            for each in found
        ),
    ]
    lines += [
        f"\n{each.method} was not measured from here on: {'; '.join(each.left_out.values())}."
        for each in found
        if each.left_out
    ]
    return "\n".join(lines)


def _cell(fitted: Exponent | None) -> str:
    return "" if fitted is None else f"{fitted.slope:.2f} ± {fitted.error:.2f}"


def _range(values: Sequence[float]) -> str:
    return f"{values[0]:g} to {values[-1]:g}"


def section(found: Sequence[Growth], names: Mapping[str, str]) -> str:
    """The section of docs/benchmarks.md."""
    sizes = points(quick=False)
    counts = [point.per_class for point in sizes if point.axis == "samples"]
    widths = [point.width for point in sizes if point.axis == "copy"]
    images = sizes[0].per_class
    text = [
        "## Growth",
        "",
        (
            "Written by `python -m mucore bench --growth --write`: the exponent p in seconds ~ "
            "size^p, by least squares through the logarithms,"
        ),
        (
            "with its standard error. 0 is no growth, 1 proportional. `fashion-mnist-10k` cut to "
            f"{images} images a class, preset `quick`, authors' values."
        ),
        (
            "Forget set: 1 to 50 % of the data (10 to 50 % where whole classes go). Weights: "
            f"`resnet9-small`, {_range(widths)} times as wide. Data: {_range(counts)}"
        ),
        (
            f"images a class, of which a tenth goes. Seconds are those of {images} images a class "
            f"and a tenth. A run of more than {LIMIT:.0f} s was ended."
        ),
        (
            "Or it would take hours: GKT makes 4 of its 4,000 batches and NTK scrubbing sees 100 "
            "retained samples"
        ),
        (
            "instead of 500: its exponents against the forget set and the data are those of 100 "
            "samples and the forget set."
        ),
        "",
        table(found),
        "",
        (
            f"{names['Device']}, {names['Threads of torch']} threads, torch {names['torch']}, "
            f"{names['Measured']}."
        ),
        "",
    ]
    return "\n".join(text)
