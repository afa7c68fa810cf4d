"""Figures beside what was promised, on the screen and in docs/benchmarks.md, and the bare loop that
training is compared with.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch
from torch import Tensor, nn

from mucore import training
from mucore.engine.device import describe, resolve_device
from mucore.runner.session import Session
from mucore.runs import RunSpec

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"


@dataclass(frozen=True)
class Line:
    """One measured figure beside what was promised; `met` is None where nothing was."""

    what: str
    value: str
    promise: str = ""
    met: bool | None = None


def report(
    heading: str, about: str, lines: Sequence[Line], *, device: str, quick: bool, write: bool
) -> bool:
    """Print figures, with `write` put them into docs/benchmarks.md, what they are `about` above
    them. Returns whether every promise was kept; `quick` ones are not judged.
    """
    marks = {None: "", True: "kept", False: "**not kept**"}
    table = [
        "| measure | here | promise | |",
        "| --- | --- | --- | --- |",
        *(f"| {line.what} | {line.value} | {line.promise} | {marks[line.met]} |" for line in lines),
    ]
    for line in lines:
        promise = f"   (promised: {line.promise})" if line.promise else ""
        print(f"{line.what}: {line.value}{promise}", "" if quick else marks[line.met])
    if write:
        names = machine(device)
        measured = ", ".join(f"{name} {value}" for name, value in names.items())
        put_section("\n".join([heading, "", about, "", *table, "", f"{measured}.", ""]))
        print(f"Written to docs/{PAGE.name}.")
    return quick or all(line.met is not False for line in lines)


def say(what: str) -> None:
    print(f"{what} ...", file=sys.stderr, flush=True)


def machine(device: str) -> dict[str, str]:
    """What the figures depend on, by name."""
    return {
        "Device": describe(resolve_device(device)),
        "CPU cores": str(os.cpu_count()),
        "Threads of torch": str(torch.get_num_threads()),
        "System": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "torch": torch.__version__,
        "Measured": f"{datetime.now(UTC):%Y-%m-%d}",
    }


def put_section(text: str) -> None:
    """Write a section, a heading and what stands under it, into docs/benchmarks.md in the place of
    the one of that heading, else last.
    """
    sections = {
        part.partition("\n")[0]: part
        for part in re.findall(r"^#(?:.|\n(?!#))*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    }
    sections[text.partition("\n")[0]] = text
    PAGE.write_text("\n".join(f"{part.strip()}\n" for part in sections.values()), encoding="utf-8")


def bare_rate(
    session: Session, spec: RunSpec, around: Callable[..., Callable[..., Tensor]] = lambda m: m
) -> float:
    """Images a second of plain SGD steps on one random batch that stays on the device, in the
    precision and the layout of the recipe, over one pass of the training set: what remains of a
    training when loading, augmentation, counting and progress cost nothing. `around` gives what is
    asked in the model's place.
    """
    splits, recipe = session.splits(spec), spec.recipe
    model = training.fresh_model(spec, splits, 0).to(session.device).train()
    asked = around(model)
    optimizer = torch.optim.SGD(
        model.parameters(),
        recipe.lr,
        recipe.momentum,
        nesterov=recipe.nesterov,
        weight_decay=recipe.weight_decay,
    )
    size, classes = recipe.batch_size, len(splits.class_names)
    x = torch.randn((size, *splits.train.pixels.shape[1:])).to(session.device)
    y = torch.randint(classes, (size,)).to(session.device)
    run = session.run(spec, 0)

    def steps(count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad(set_to_none=True)
            with run.autocast():
                loss = nn.functional.cross_entropy(asked(x), y)
            loss.backward()
            optimizer.step()

    count = max(10, round(len(splits.train.ids) / size))
    steps(3)  # the first steps allocate and choose kernels
    with run.clock():
        steps(count)
    return count * size / run.cost.seconds
