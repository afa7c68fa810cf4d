"""Lines of methods by family."""

from __future__ import annotations

from dashboard import theme
from mucore import catalog


def hollow(family: str) -> bool:
    """Whether its lines are always dotted: a baseline that cheats is no method."""
    return theme.family_style(family).symbol.endswith("-open") and family in catalog.FAMILIES


def dash(family: str) -> str:
    """Plotly's dash of a method's line."""
    return theme.family_style(family).dash if hollow(family) else "solid"
