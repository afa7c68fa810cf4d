"""Figures beside what was promised, on the screen and in docs/benchmarks.md."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import torch

from mucore.engine.device import describe, resolve_device

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
