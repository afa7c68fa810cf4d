"""Names and colours of classes."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard import theme

# opacity of what stays, on the ground; the second where there are more classes than hues
_MUTED = (0.4, 0.75)


def names(known: Sequence[str], count: int) -> tuple[str, ...]:
    """The names of `count` classes: the known ones, or numbers where these are of other classes."""
    return tuple(known) if len(known) == count else tuple(str(number) for number in range(count))


def name(known: Sequence[str], label: int) -> str:
    """The name of one class, or its number where it has none."""
    return known[label] if label < len(known) else str(label)


def short(text: str, longest: int) -> str:
    """A name of at most `longest` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def color(label: int, dark: bool) -> str:
    """The muted colour of a class that stays."""
    hues = [
        style.color(dark)
        for family, style in theme.STYLES.items()
        if family not in ("reference", "gradient_ascent", "baseline", "own")
    ]
    return theme.blend(
        hues[label % len(hues)],
        theme.ground(dark).background,
        _MUTED[label // len(hues) % len(_MUTED)],
    )
