"""Names beside marks that do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence

Named = tuple[float, float, str]
Span = tuple[float, float]
WIDTH, HEIGHT = 0.24, 0.055  # of a figure half a page wide: what a name takes
_ABOVE = 0.08  # of the figure's height: up to where a name above its mark reaches


def clear(named: Sequence[Named], across: Span, up: Span, *, most: int = 8, avoid: Sequence[tuple[float, float]] = ()) -> list[Named]:
    """The first names, `most` at most, that lie in the window, are not covered by one before and would not cover a mark of `avoid` above
    their own; a mark without says its name on hover."""
    kept: list[Named] = []
    for x, y, title in named:
        inside = across[0] <= x <= across[1] and up[0] <= y <= up[1]
        apart = all(
            abs(x - other) > WIDTH * (across[1] - across[0]) or abs(y - height) > HEIGHT * (up[1] - up[0]) for other, height, _ in kept
        )
        covers = any(
            abs(x - other) < WIDTH / 2 * (across[1] - across[0]) and 0 < height - y < _ABOVE * (up[1] - up[0]) for other, height in avoid
        )
        if inside and apart and not covers and len(kept) < most:
            kept.append((x, y, title))
    return kept
