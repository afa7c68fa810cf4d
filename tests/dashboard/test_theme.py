"""Contrast, distinctness and the agreement of theme.py with .streamlit/config.toml."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path

import pytest

from dashboard import theme
from mucore import catalog

ROOT = Path(__file__).resolve().parents[2]
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
THEMES = [("light", theme.LIGHT), ("dark", theme.DARK)]


def test_contrast_of_known_pairs():
    assert theme.contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    # the value in WCAG's own examples
    assert theme.contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)
    assert theme.contrast("#123456", "#123456") == pytest.approx(1.0)


def test_every_family_of_the_catalogue_has_a_style():
    assert set(theme.STYLES) == set(catalog.FAMILIES)


@pytest.mark.parametrize("name, ground", THEMES)
def test_marks_stand_out_from_ground_and_panel(name, ground):
    for family in theme.STYLES:
        color = theme.family_style(family).color(name == "dark")
        assert theme.contrast(color, ground.background) >= 3, family
        assert theme.contrast(color, ground.panel) >= 3, family


@pytest.mark.parametrize("name, ground", THEMES)
def test_text_is_readable_everywhere(name, ground):
    for text, under in itertools.product(
        (ground.text, ground.muted, ground.primary), (ground.background, ground.panel)
    ):
        assert theme.contrast(text, under) >= 4.5, (text, under)
    # Streamlit draws captions in the text colour at 60 %
    caption = theme.blend(ground.text, ground.background, 0.6)
    assert theme.contrast(caption, ground.background) >= 4.5
    shade = theme.blend(
        theme.STYLES["gradient_ascent"].color(name == "dark"), ground.background, theme.SHADE_LIMIT
    )
    assert theme.contrast(ground.text, shade) >= 4.5


@pytest.mark.parametrize("name, ground", THEMES)
def test_config_shows_the_same_colours(name, ground):
    written = CONFIG["theme"][name]
    assert written["backgroundColor"] == ground.background
    assert written["secondaryBackgroundColor"] == ground.panel
    assert written["textColor"] == ground.text
    assert written["primaryColor"] == ground.primary
    colors = {s.color(name == "dark") for key, s in theme.STYLES.items() if key != "reference"}
    assert set(written["chartCategoricalColors"]) == colors


def test_a_verdict_is_told_by_its_mark_alone():
    symbols = [fate.symbol for fate in theme.FATES.values()]
    assert len(set(symbols)) == len(symbols)


@pytest.mark.parametrize(
    "share, opacity", [(0.5, "0.225"), (7.0, "0.450"), (-1.0, "0.000"), (float("nan"), "0.000")]
)
def test_distance_shade(share, opacity):
    assert theme.distance_shade(share, dark=False) == f"rgba(213, 94, 0, {opacity})"
    assert theme.distance_shade(share, dark=True).endswith(f", {opacity})")


def test_server_and_privacy_settings():
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["client"]["toolbarMode"] == "viewer"
    assert CONFIG["server"]["address"] == "127.0.0.1"
