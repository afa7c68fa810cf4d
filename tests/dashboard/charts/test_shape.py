"""All figures have one shape: `<Figure>Info`, `<figure>_info`, `draw` and `alt_text`."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import typing
from pathlib import Path
from types import ModuleType

import plotly.graph_objects as go

from dashboard import charts
from dashboard.charts import parts

# HTML, what several figures are drawn with, and modules of several small ones
NO_FIGURES = ("results_table", "scatter", "dots", "start_tiles")
FIGURES = [
    each.name
    for each in pkgutil.iter_modules(charts.__path__)
    if not each.ispkg and each.name not in NO_FIGURES
]


def in_shape(name: str, module: ModuleType) -> bool:
    info = getattr(module, f"{name.title().replace('_', '')}Info")
    # or None, where there is nothing to draw
    made = typing.get_type_hints(getattr(module, f"{name}_info"))["return"]
    draw, alt_text = typing.get_type_hints(module.draw), typing.get_type_hints(module.alt_text)
    given = inspect.signature(module.draw).parameters
    return bool(
        dataclasses.is_dataclass(info)
        and info in (made, *typing.get_args(made))
        and draw["info"] == alt_text["info"] == info
        and (draw["return"], alt_text["return"]) == (go.Figure, str)
        and next(iter(given)) == "info"
        and given["dark"].kind is inspect.Parameter.KEYWORD_ONLY
        and list(inspect.signature(module.alt_text).parameters) == ["info"]
    )


def test_a_figure_says_what_it_draws_then_draws_it_and_tells_it_in_words():
    modules = {name: importlib.import_module(f"{charts.__name__}.{name}") for name in FIGURES}
    assert len(modules) > 30
    assert [name for name, module in modules.items() if not in_shape(name, module)] == []


def test_parts_know_no_figure():
    for part in Path(parts.__file__).parent.glob("*.py"):
        imported = {
            name
            for node in ast.walk(ast.parse(part.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module == charts.__name__
            for name in (alias.name for alias in node.names)
        }
        assert imported <= {"parts"}, part.name
