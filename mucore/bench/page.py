"""docs/benchmarks.md, which every part of the benchmark writes a section of, and what all of them
say: what the machine is, and what is under way.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil
import torch

from mucore.engine.device import describe, resolve_device
from mucore.errors import BadValue

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "benchmarks.md"


@dataclass(frozen=True)
class Line:
    """One measured figure beside what was promised; `met` is None where nothing was."""

    what: str
    value: str
    promise: str = ""
    met: bool | None = None


def show(lines: Sequence[Line], *, judge: bool) -> None:
    """Print figures, with `judge` whether each promise was kept."""
    for line in lines:
        mark = "" if line.met is None or not judge else "kept     " if line.met else "NOT KEPT "
        print(
            f"{mark}{line.what}: {line.value}"
            + (f"   (promised: {line.promise})" if line.promise else "")
        )


def rows(lines: Sequence[Line]) -> list[str]:
    """Figures as a table of docs/benchmarks.md."""
    marks = {None: "", True: "kept", False: "**not kept**"}
    return [
        "| measure | here | promise | |",
        "| --- | --- | --- | --- |",
        *(f"| {line.what} | {line.value} | {line.promise} | {marks[line.met]} |" for line in lines),
    ]


def refuse_quick_figures(quick: bool, write: bool) -> None:
    """Raise `BadValue` where figures of a check of the code were to be written down."""
    if quick and write:
        raise BadValue(
            "The quick figures say nothing about speed, so they are not written down. Leave "
            "--quick or --write out."
        )


def say(what: str) -> None:
    print(f"{what} ...", file=sys.stderr, flush=True)


def machine(device: str) -> dict[str, str]:
    """What the figures depend on, by name."""
    return {
        "Device": describe(resolve_device(device)),
        "CPU cores": str(os.cpu_count()),
        "Threads of torch": str(torch.get_num_threads()),
        "Memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
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
