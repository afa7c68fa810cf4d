"""What `analyse` does: an analysis with its progress on stderr and in the file that pages read, and
what it prints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mucore import analysis
from mucore.analysis.background import Reporter
from mucore.errors import BadValue, MucoreError

if TYPE_CHECKING:
    from mucore.store import Store


def parse(text: str) -> dict[str, Any]:
    """A JSON object as a dictionary. Raises `BadValue`."""
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise BadValue(
            f'--params must be a JSON object such as \'{{"keys": ["KEY"]}}\', but got {text!r}.'
        )
    return content


def compute(kind: str, parameters: Mapping[str, Any], results: Store, home: Path) -> analysis.Found:
    """Compute it, or find it. Raises `MucoreError`, which the progress file then says, too."""
    reporter = Reporter(home, analysis.key(kind, parameters))
    shown = sys.stderr.isatty()

    def progress(done: float, step: str) -> None:
        reporter(done, step)
        if shown:
            print(f"\r\033[K{done:4.0%} {step}", end="", file=sys.stderr, flush=True)

    try:
        found = analysis.compute(kind, parameters, results, home, progress)
    except MucoreError as error:
        reporter.failed(str(error))
        raise
    finally:
        if shown:
            print(file=sys.stderr)
    reporter.done()
    return found


def content(kind: str, found: analysis.Found) -> dict[str, Any]:
    """The analysis as JSON; arrays become nested lists."""
    value = {
        name: each.tolist() if isinstance(each, np.ndarray) else each
        for name, each in found.value.items()
    }
    return {"kind": kind, "key": found.key, "path": str(found.path), "value": value}
