"""Files of a user's own methods for tests: copies of mucore's, and short ones."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path

from mucore import catalog, methods

_SHORT = """
import os, sys, time
import numpy as np
import torch
from torch import nn
from mucore.catalog import MethodCard
from mucore.engine.loop import Optimizer, Phase, fit

CARD = MethodCard(
    id="NAME", title="Mine", family="own", source="A test", summary="Does what its body says.",
    reads=frozenset({"forget", "retain"}),
)


def NAME(model, data, run):
    BODY
"""


def write(folder: Path, name: str, body: str) -> Path:
    """A method without parameters whose function is `body`, one statement or more behind `;`."""
    path = folder / f"{name}.py"
    path.write_text(text(name, body), encoding="utf-8")
    return path


def text(name: str, body: str) -> str:
    """What stands in such a file."""
    return _SHORT.replace("NAME", name).replace("BODY", body)


def copy_of(folder: Path, method: str) -> str:
    """A copy of one of mucore's methods as a user's own; its name, `own_METHOD`."""
    name = f"own_{method}"
    card = replace(catalog.method(method), id=name, family="own", aliases=())
    source = inspect.getsourcefile(methods.load(method))
    assert source is not None
    text = (
        Path(source).read_text(encoding="utf-8").replace(f"def {method}(", f"def {name}(")
        + "\n\nfrom mucore.catalog.cards import Among, Between, Footprint, MethodCard, Parameter\n"
        + f"CARD = {card!r}\n"
    )
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return name
