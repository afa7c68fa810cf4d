"""A click on a mark or a line opens its run and brings it into view, wherever on a long page it stands."""

from __future__ import annotations

import re

import pytest
from applications import Application
from builders import make_spec_row, queue_done
from playwright.sync_api import Page, expect

from mucore.store import open_store

DRAWER = ".st-key-run_drawer"
HEIGHT = 900  # of the window


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    page.wait_for_selector("h1")
    page.wait_for_function("() => !document.querySelector('[data-testid=stSkeleton], [data-testid=stStatusWidget]')")
    page.wait_for_timeout(2000)
    return page


def place(page: Page) -> float:
    """Where the drawer begins, in pixels below the top of the window, once it has come to rest."""
    drawer = page.locator(DRAWER)
    expect(drawer).to_be_visible()
    places: list[float] = []
    for _ in range(60):
        page.wait_for_timeout(500)
        box = drawer.bounding_box()
        places.append(box["y"] if box else -1.0)
        if len(places) > 5 and len(set(places[-5:])) == 1:
            break
    return places[-1]


def to_top(page: Page) -> None:
    page.get_by_test_id("stMain").evaluate("node => node.scrollTo(0, 0)")
    page.wait_for_timeout(500)


def click_line(page: Page, number: int) -> None:
    """The box at the head of a line of the first table; its lines are drawn on a canvas and have no elements of their own."""
    table = page.get_by_test_id("stDataFrame").first
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 15, box["y"] + 18 + 35 * number)


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_bar_at_the_top_brings_its_run_into_view_once(demo: Application, page: Page, motion) -> None:
    page.emulate_media(reduced_motion=motion)
    opened(page, f"{demo.url}/depoisoning")
    bars = page.locator("[data-testid=stPlotlyChart] .barlayer .point path")
    bars.nth(2).click(force=True)
    expect(page).to_have_url(re.compile(r"[?&]run="))
    assert 0 <= place(page) < 0.5 * HEIGHT
    to_top(page)
    page.get_by_test_id("stPopover").first.click()  # whatever else a reader does leaves the page where it is
    page.keyboard.press("Escape")
    assert place(page) > HEIGHT
    bars.nth(5).click(force=True)
    assert 0 <= place(page) < 0.5 * HEIGHT
    opened(page, page.url)
    assert place(page) > HEIGHT  # a copied address opens at the top


def test_a_line_of_results_and_of_the_newest_runs_open_in_view(demo: Application, page: Page) -> None:
    opened(page, f"{demo.url}/results?scenario=one_class")
    page.locator("tr[data-row]").nth(3).click()
    assert 0 <= place(page) < 0.5 * HEIGHT
    opened(page, demo.url)
    click_line(page, 2)
    expect(page).to_have_url(re.compile(r"[?&]run="))
    assert 0 <= place(page) < 0.5 * HEIGHT


def test_a_mark_of_the_method_page_opens_its_run(demo: Application, page: Page) -> None:
    opened(page, f"{demo.url}/method?method=scrub")
    page.locator("[data-testid=stPlotlyChart] .scatterlayer .point").nth(3).click(force=True)
    expect(page).to_have_url(re.compile(r"[?&]run="))
    expect(page.locator(f"{DRAWER} h3")).to_have_text(re.compile("^SCRUB"))
    assert 0 <= place(page) < 0.5 * HEIGHT


def test_a_done_run_of_the_queue_opens_while_its_list_is_drawn_every_second(application: Application, page: Page) -> None:
    specs = [make_spec_row(scenario="one_class", method=method) for method in ("finetune", "salun", "scrub")]
    with open_store(application.home) as store:
        queue_done(store, specs)
    opened(page, f"{application.url}/queue?show=done")
    click_line(page, 2)
    expect(page.locator(f"{DRAWER} h3")).to_have_text(re.compile("^SalUn"))
    page.wait_for_timeout(3000)
    page.get_by_role("button", name="Close").click()
    expect(page.locator(DRAWER)).to_have_count(0)
    page.wait_for_timeout(3000)  # the line is still marked, and does not open by itself
    expect(page.locator(DRAWER)).to_have_count(0)
