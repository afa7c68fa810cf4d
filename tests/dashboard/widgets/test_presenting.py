"""Presenting: what is a screen of its own, what stands above a figure, and where keys lead."""

from __future__ import annotations

from functools import partial

import plotly.graph_objects as go
import pytest
from facts import numbers, tells
from pages import fill, open_page, table_html
from streamlit.testing.v1 import AppTest

from dashboard.sections.results import methods_table
from dashboard.widgets import presenting

presented = partial(open_page, present="1")


def screens(at: AppTest) -> list[str]:
    """The keys of the page's screens, in order."""
    found = []

    def walk(block) -> None:
        for child in getattr(block, "children", {}).values():
            name = getattr(child.proto, "id", "") if child.type == "flex_container" else ""
            if "slide-" in name:
                found.append(name.partition("slide-")[2])
            walk(child)

    walk(at.main)
    return found


def test_figures_are_screens_while_presenting_alone(home):
    fill(home, "full")
    assert screens(open_page("results")) == []
    at = presented("results")
    assert not at.exception and screens(at) == ["cost_distance", "results_table"]


@pytest.mark.parametrize("page", ["queue"])
def test_a_page_without_figures_is_shown_as_a_whole(home, page):
    fill(home, "one")
    at = presented(page)
    assert not at.exception and not at.error and screens(at) == []
    assert at.query_params["present"] == "1"


def bars(count: int, **axis) -> go.Figure:
    figure = go.Figure(go.Bar(x=[1] * count, y=[f"m{number}" for number in range(count)]))
    return figure.update_layout(height=100 + 24 * count).update_yaxes(**axis)


@pytest.mark.parametrize(
    ("axis", "shown"), [({"autorange": "reversed"}, (14.5, -0.5)), ({}, (24.5, 39.5))]
)
def test_of_a_figure_of_many_lines_a_room_sees_the_first(axis, shown):
    whole = bars(40, **axis)
    part, rest = presenting.lower(whole)
    assert part.layout.yaxis.range == shown and part.layout.height == presenting.LOW
    assert numbers(rest) == ["15", "40"]
    assert whole.layout.height > presenting.LOW  # what is taken home stays whole


def test_a_room_sees_as_many_lines_of_the_table_as_it_can_read(demo_home):
    def lines(at: AppTest) -> int:
        return table_html(at).count("data-row=")

    whole, shown = lines(open_page("results")), lines(at := presented("results"))
    assert whole > shown == methods_table.LINES + 2  # with Original and Retrain
    (rest,) = [one.value for one in at.caption if one.value.startswith("The first ")]
    assert tells(rest, methods_table.LINES, whole - 2)
