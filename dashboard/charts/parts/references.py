"""Retrain and Original look alike in every figure: one line dashed and the other dotted."""

from __future__ import annotations

from typing import Any

from dashboard import theme

DASHES = {"Retrain": "dash", "Original": "dot"}


def dash(title: str) -> str:
    """Plotly's dash of a reference's line; more may follow its name in `title`."""
    return DASHES["Retrain" if title.startswith("Retrain") else "Original"]


def line(title: str, look: theme.Ground, width: float) -> dict[str, Any]:
    """A reference's line, `width` pixels wide."""
    return {"dash": dash(title), "width": width, "color": look.text}
