"""The mark of the application: a model, and the part of its data that it is asked to forget.
Vectors in the colours of the theme.
"""

from __future__ import annotations

from dashboard import theme


def svg(dark: bool) -> str:
    """The mark and the name beside it, as an SVG document of 132 by 32."""
    look, taken = theme.ground(dark), theme.family_style("gradient_ascent").color(dark)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="132" height="32" viewBox="0 0 132 32" '
        f'role="img" aria-label="mucore"><path fill="{look.primary}" d="M14 17V4A13 13 0 1 0 27 '
        f'17Z"/><path fill="{taken}" d="M17 14V1A13 13 0 0 1 30 14Z"/><text x="40" y="23" '
        f'fill="{look.text}" font-family="Source Sans Pro, Segoe UI, Helvetica, Arial, '
        'sans-serif" font-size="21" font-weight="600">mucore</text></svg>'
    )
