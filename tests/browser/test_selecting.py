"""A click on a mark or a line opens its run at the side of the window, and the page stays where it
is.
"""

from __future__ import annotations

import re

import pytest
from applications import Application, opened
from playwright.sync_api import Page, expect

DRAWER = ".st-key-run_drawer"


def top(page: Page) -> float:
    """How far the page is scrolled down, in pixels."""
    return page.get_by_test_id("stMain").evaluate("node => node.scrollTop")


def beside(page: Page) -> bool:
    """Whether the drawer stands at the right of the window, from the bar at the top to the bottom,
    over at most two fifths of the width.
    """
    drawer = page.locator(DRAWER)
    expect(drawer).to_be_visible()
    box, window = drawer.bounding_box(), page.viewport_size
    assert box is not None and window is not None
    ends = box["x"] + box["width"], box["y"] + box["height"]
    return (
        ends == pytest.approx((window["width"], window["height"]), abs=1)
        and box["y"] < 100
        and box["width"] <= 0.4 * window["width"] + 1
    )


def test_a_mark_opens_its_run_beside_the_page(demo: Application, page: Page) -> None:
    opened(page, f"{demo.url}/depoisoning")
    mark = page.locator(".st-key-wide_poison_bars .scatterlayer path.point").last
    mark.scroll_into_view_if_needed()
    before = top(page)
    mark.click(force=True)
    expect(page).to_have_url(re.compile(r"[?&]run="))
    assert beside(page) and top(page) == before
    expect(page.locator(DRAWER)).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(DRAWER)).to_have_count(0)
    expect(page).not_to_have_url(re.compile(r"[?&]run="))
    assert top(page) == before
