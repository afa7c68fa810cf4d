"""The axis of an attack's scores: places are those of `frames.membership`, labels are in the
attack's own unit.
"""

from __future__ import annotations

import math
from typing import Final

from dashboard.text.labels import MINUS

# probabilities of the true class, on a scale of log-odds
SHARES: Final = (1e-12, 1e-8, 1e-6, 1e-4, 0.01, 0.1, 0.5, 0.9, 0.99, 0.9999, 1 - 1e-6, 1 - 1e-8)


def ticks(attack: str, low: float, high: float) -> list[tuple[float, str]]:
    """Places on the axis and their names in the attack's own unit, seven at most; none where the
    axis is plain.
    """
    if attack == "correctness":
        return [(0.0, "wrong"), (1.0, "right")]
    if attack == "confidence":
        every = [(math.log(share / (1 - share)), _share(share)) for share in SHARES]
    elif attack in ("entropy", "m_entropy"):
        values = [digit * 10.0**power for power in range(2, -18, -1) for digit in (5, 2, 1)]
        short = high - low < 3  # such an axis would have too few whole powers
        every = [(-math.log10(value), _number(value)) for value in values if short or _whole(value)]
    else:
        return []
    inside = sorted((place, text) for place, text in every if low <= place <= high)
    return inside[:: max(1, -(-len(inside) // 7))]


def _whole(value: float) -> bool:
    return math.isclose(math.log10(value), round(math.log10(value)), abs_tol=1e-9)


def _share(share: float) -> str:
    percent = 100 * share
    return f"{percent:.10g} %" if percent >= 0.01 else _power(share)


def _number(value: float) -> str:
    return f"{value:g}" if value >= 1e-3 else _power(value)


def _power(value: float) -> str:
    power = math.floor(math.log10(value) + 1e-9)
    digit = round(value / 10.0**power)
    return f"{'' if digit == 1 else f'{digit} · '}10<sup>{MINUS}{-power}</sup>"
