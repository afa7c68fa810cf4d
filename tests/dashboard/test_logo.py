"""The mark in the side bar."""

from xml.etree import ElementTree

import pytest

from dashboard import logo, theme


@pytest.mark.parametrize("dark", [False, True])
def test_the_mark_has_the_colours_of_its_theme_and_says_its_name(dark):
    root = ElementTree.fromstring(logo.svg(dark))
    colors = [shape.attrib["fill"] for shape in root]
    assert colors == [
        theme.ground(dark).primary,
        theme.family_style("gradient_ascent").color(dark),
        theme.ground(dark).text,
    ]
    assert root.attrib["aria-label"] == "mucore" and "".join(root.itertext()) == "mucore"
    assert all(theme.contrast(color, theme.ground(dark).panel) >= 3 for color in colors)
