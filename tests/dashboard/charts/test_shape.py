"""All figures have one shape: `draw` and `alt_text` of the same numbers."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import typing
from pathlib import Path
from types import ModuleType

import plotly.graph_objects as go

from dashboard import charts
from dashboard.charts import parts

# HTML, what figures are drawn with, modules of several small ones, and figures of what is there
NO_FIGURES = ("results_table", "scatter", "dots", "start_tiles", "lesson_scatter", "vote_bars")
FIGURES = [
    each.name
    for each in pkgutil.iter_modules(charts.__path__)
    if not each.ispkg and each.name not in NO_FIGURES
]


def in_shape(module: ModuleType) -> bool:
    draw, alt_text = typing.get_type_hints(module.draw), typing.get_type_hints(module.alt_text)
    given, told = (inspect.signature(each).parameters for each in (module.draw, module.alt_text))
    return (
        (draw["return"], alt_text["return"]) == (go.Figure, str)
        and given["dark"].kind is inspect.Parameter.KEYWORD_ONLY
        and list(given)[: len(told)] == list(told)
        and all(draw[name] == alt_text[name] for name in told)
    )


def test_a_figure_says_what_it_draws_then_draws_it_and_tells_it_in_words():
    modules = {name: importlib.import_module(f"{charts.__name__}.{name}") for name in FIGURES}
    assert len(modules) > 15
    assert [name for name, module in modules.items() if not in_shape(module)] == []


def test_parts_know_no_figure():
    for part in Path(parts.__file__).parent.glob("*.py"):
        imported = {
            name
            for node in ast.walk(ast.parse(part.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module == charts.__name__
            for name in (alias.name for alias in node.names)
        }
        assert imported <= {"parts"}, part.name
