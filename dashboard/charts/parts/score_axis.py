"""The axis of an attack's scores: places are those of `frames.membership`, labels are in the
attack's own unit.
"""

from __future__ import annotations

import numpy as np

from dashboard.text.labels import MINUS


def ticks(attack: str, low: float, high: float) -> list[tuple[float, str]]:
    """Places on the axis and their names in the attack's own unit, seven at most; none where the
    axis is plain.
    """
    if attack == "correctness":
        return [(0.0, "wrong"), (1.0, "right")]
    if attack == "confidence":
        low_half = [*(10.0**power for power in range(-16, -1)), 0.03, 0.1, 0.3]
        odds = [float(np.log(p / (1 - p))) for p in low_half]
        everything = [(place, _share(p)) for place, p in zip(odds, low_half, strict=True)] + [
            (0.0, "50 %")
        ]
        everything += [
            (-place, _share(1 - p) if p >= 1e-4 else f"1 {MINUS} {_power(p)}")
            for place, p in zip(odds, low_half, strict=True)
        ]
    elif attack in ("entropy", "m_entropy"):
        # a short axis would have too few whole powers
        digits = (1, 2, 5) if high - low < 3 else (1,)
        values = [digit * 10.0**power for power in range(-17, 3) for digit in digits]
        everything = [(-float(np.log10(value)), _entropy(value)) for value in values]
    else:
        return []
    inside = sorted((place, text) for place, text in everything if low <= place <= high)
    return inside[:: max(1, -(-len(inside) // 7))]


def _share(p: float) -> str:
    return f"{100 * p:g} %" if p >= 1e-4 else _power(p)


def _entropy(value: float) -> str:
    power = int(np.floor(np.log10(value) + 1e-9))
    if power >= -3:
        return f"{value:g}"
    digit = round(value / 10.0**power)
    return _power(value) if digit == 1 else f"{digit} · {_power(10.0**power)}"


def _power(p: float) -> str:
    return f"10<sup>{MINUS}{-round(np.log10(p))}</sup>"
