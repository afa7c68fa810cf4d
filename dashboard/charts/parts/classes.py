"""Colours of classes."""

from __future__ import annotations

from dashboard import theme

# opacity of what stays, on the ground; the second where there are more classes than hues
_MUTED = (0.4, 0.75)


def color(label: int, dark: bool) -> str:
    """The muted colour of a class that stays."""
    hues = [
        style.color(dark)
        for family, style in theme.STYLES.items()
        if family not in ("reference", "gradient_ascent", "own")
    ]
    return theme.blend(
        hues[label % len(hues)],
        theme.ground(dark).background,
        _MUTED[label // len(hues) % len(_MUTED)],
    )
