"""What figures are drawn with knows none of them."""

from __future__ import annotations

import ast
from pathlib import Path

from dashboard import charts
from dashboard.charts import parts


def test_parts_know_no_figure():
    for part in Path(parts.__file__).parent.glob("*.py"):
        imported = {
            name
            for node in ast.walk(ast.parse(part.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom) and node.module == charts.__name__
            for name in (alias.name for alias in node.names)
        }
        assert imported <= {"parts"}, part.name
