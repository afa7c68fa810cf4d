"""Lines of methods by family."""

from __future__ import annotations

CHEATS = "baseline"  # no method: its lines are dotted, always


def dash(family: str, usual: str = "solid") -> str:
    """Plotly's dash of a method's line."""
    return "dot" if family == CHEATS else usual
