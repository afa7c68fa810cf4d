"""The mark of the application: a model, and the part of its data that it is asked to forget.
Vectors in the colours of the theme.
"""

from __future__ import annotations

from dashboard import assets, theme


def svg(dark: bool) -> str:
    """The mark and the name beside it, as an SVG document of 132 by 32."""
    look, taken = theme.ground(dark), theme.family_style("gradient_ascent").color(dark)
    drawn = assets.template("logo.svg.j2")
    return drawn.render(model=look.primary, taken=taken, name=look.text).strip()
