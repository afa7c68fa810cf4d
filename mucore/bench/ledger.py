"""Figures of a long pass, kept as they come, so that one that was interrupted goes on.

A file of JSON lines, each with the name of what was measured and its figures. Of two lines with one
name the later counts. A line that a kill cut short is left out.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

import mucore

# What every method rests on. Figures of other code than today's are not taken over.
SHARED = ("engine", "blocks", "training", "models", "datasets", "scenarios", "metrics/cost.py")


class Ledger:
    """Figures by name, in a file that is made where it is missing."""

    def __init__(self, path: Path, *, fresh: bool = False):
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if fresh:
            path.unlink(missing_ok=True)
        self._figures: dict[str, dict[str, Any]] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    content = json.loads(line)
                    self._figures[content["name"]] = content["figures"]
                except (ValueError, KeyError, TypeError):
                    continue

    def get(self, name: str) -> dict[str, Any] | None:
        return self._figures.get(name)

    def put(self, name: str, figures: Mapping[str, Any]) -> None:
        self._figures[name] = dict(figures)
        text = json.dumps({"name": name, "figures": dict(figures)})
        with self.path.open("a+", encoding="utf-8") as file:
            file.seek(0)
            whole = file.read()
            # behind a line that a kill cut short
            file.write(f"{text}\n" if not whole or whole.endswith("\n") else f"\n{text}\n")


def conditions(method: str, device: str) -> str:
    """What figures of a method hold for: device, threads, version of torch, and the code that it
    rests on with its own file. A method that runs another one's function is not looked through.
    """
    threads = torch.get_num_threads()
    return f"{device}/{threads} threads/torch {torch.__version__}/{code_hash(method)}"


@functools.cache
def code_hash(method: str) -> str:
    """Of the shared code's files and of the method's own."""
    root = Path(mucore.__file__).parent
    files = [
        path
        for part in (*SHARED, f"methods/{method}.py")
        for path in ([root / part] if part.endswith(".py") else sorted((root / part).rglob("*.py")))
        if path.exists()  # the references and a user's own methods have no file there
    ]
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]
