"""A click on a mark or a line opens its run at the side of the window, and the page stays where it
is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from applications import Application, opened
from builders import make_spec_row, queue_done
from playwright.sync_api import Page, expect

from mucore.store import open_store

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


def click_line(page: Page, number: int) -> None:
    """The box at the head of a line of the first table; its lines are drawn on a canvas and have no
    elements of their own.
    """
    table = page.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 15, box["y"] + 18 + 35 * number)


def test_bars_open_runs_beside_the_page_one_after_another(demo: Application, page: Page) -> None:
    opened(page, f"{demo.url}/depoisoning")
    bars = page.locator("[data-testid=stPlotlyChart] .barlayer .point path")
    bars.nth(2).scroll_into_view_if_needed()
    before = top(page)
    bars.nth(2).click(force=True)
    expect(page).to_have_url(re.compile(r"[?&]run="))
    assert beside(page) and top(page) == before
    expect(page.locator(DRAWER)).to_be_focused()
    first = page.url
    page.keyboard.press("Escape")
    expect(page.locator(DRAWER)).to_have_count(0)
    expect(page).not_to_have_url(re.compile(r"[?&]run="))
    assert top(page) == before
    bars.nth(5).click(force=True)
    expect(page).to_have_url(re.compile(r"[?&]run="))
    assert beside(page) and page.url != first
    page.get_by_role("button", name="Close").click()
    expect(page.locator(DRAWER)).to_have_count(0)
    page.go_back()
    assert beside(page)


@pytest.fixture
def done(tmp_path: Path) -> Iterator[Application]:
    """An application whose queue has three done runs."""
    specs = [
        make_spec_row(scenario="one_class", method=method)
        for method in ("finetune", "salun", "scrub")
    ]
    with open_store(tmp_path / "home") as store:
        queue_done(store, specs)
    application = Application(tmp_path / "home", "--workers", "0")
    yield application
    application.stop()


def test_a_done_run_of_the_queue_opens_while_its_list_is_drawn_every_second(
    done: Application, page: Page
) -> None:
    opened(page, f"{done.url}/queue?show=done")
    click_line(page, 2)
    expect(page.locator(f"{DRAWER} h3")).to_have_text(re.compile("^SalUn"))
    drawn_anew(page)
    page.get_by_role("button", name="Close").click()
    expect(page.locator(DRAWER)).to_have_count(0)
    drawn_anew(page)  # the line is still marked, and does not open by itself
    expect(page.locator(DRAWER)).to_have_count(0)


def drawn_anew(page: Page) -> None:
    """Until the page has drawn itself twice without a click."""
    page.evaluate(
        """() => new Promise((done) => {
            const app = document.querySelector('[data-testid=stApp]');
            let times = 0;
            const count = () => app.dataset.testScriptState === 'notRunning' && ++times === 2;
            new MutationObserver(() => count() && done()).observe(app, { attributes: true });
        })"""
    )
