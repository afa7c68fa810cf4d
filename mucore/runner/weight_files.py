"""The files of weights that a grid names. Imports no torch."""

from __future__ import annotations

from functools import partial

from mucore import catalog
from mucore.runner.grid import Grid, MethodChoice
from mucore.userfiles import weights


def uploaded_files(grid: Grid) -> list[str]:
    """The files of weights that a grid names, as paths or hashes: the original's and those of
    methods that work on a file.
    """
    named = [choice.parameters.get(name) for choice, name in _files(grid)]
    found = dict.fromkeys(str(text or "") for text in (grid.original, *named))
    return [text for text in found if text.strip()]


def _files(grid: Grid) -> list[tuple[MethodChoice, str]]:
    return [
        (choice, parameter.name)
        for choice in grid.methods
        for parameter in catalog.method(choice.id).parameters
        if parameter.kind == "file"
    ]


def named_by_hash(grid: Grid) -> Grid:
    """The grid with the hashes of its files in place of their paths, which matter no more once the
    store has copies.
    """
    content = grid.model_dump()
    hashed = partial(weights.file_hash, what="A comparison")
    content["original"] = hashed(grid.original)
    for choice, name in _files(grid):
        parameters = content["methods"][grid.methods.index(choice)]["parameters"]
        parameters[name] = hashed(parameters.get(name))
    return Grid.model_validate(content)
