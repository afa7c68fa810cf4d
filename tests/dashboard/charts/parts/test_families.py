"""A baseline that cheats looks like no method."""

from __future__ import annotations

from dashboard import theme
from dashboard.charts.parts import families
from dashboard.charts.results_table import marker
from mucore import catalog


def test_only_the_baseline_is_hollow_and_dotted():
    assert [family for family in catalog.FAMILIES if families.hollow(family)] == ["baseline"]
    assert families.dash("baseline") == "dot" and families.dash("teacher") == "solid"
    for dark in (False, True):
        look = theme.ground(dark)
        empty = families.bar("baseline", look, dark, [False, True])
        full = families.bar("teacher", look, dark, [False, True])
        assert empty["color"] == "rgba(0,0,0,0)" != full["color"]
        assert empty["line"]["width"] == [1.5, 2] and full["line"]["width"] == [0, 2]
        color = theme.family_style("baseline").color(dark)
        assert empty["line"]["color"] == [color, look.text]
        assert f'fill="none" stroke="{color}"' in marker("baseline", dark)
        assert 'fill="none"' not in marker("teacher", dark)
