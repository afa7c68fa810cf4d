"""Words and numbers of docs/findings.md."""

from __future__ import annotations

import math
from collections.abc import Sequence


def sentences(parts: Sequence[str]) -> str:
    return " ".join(f"{upper(part)}." for part in parts)


def upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def nothing(what: str) -> str:
    return f"Not answered yet: it takes {what}."


def number(value: float, digits: int = 2) -> str:
    """With a minus sign; what rounds to nothing has none."""
    if math.isnan(value):
        return "–"
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def span(low: float, high: float, digits: int = 2) -> str:
    one, other = number(low, digits), number(high, digits)
    return "–" if "–" in (one, other) else f"{one} to {other}"


def between(values: Sequence[float], digits: int = 2) -> str:
    """From the lowest to the highest, one number where these read alike."""
    one, other = number(min(values), digits), number(max(values), digits)
    return one if one == other else f"{one} to {other}"


def percent(part: float) -> str:
    """All is said of all alone."""
    return "> 99 %" if 0.995 <= part < 1 else f"{100 * part:.0f} %"


def p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"
