"""Filters go along when a reader clicks on the page list, and the back button leads from page to
page with them.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager

from applications import Application
from playwright.sync_api import Page, expect


@contextmanager
def turned(page: Page) -> Generator[None]:
    """What leads to another page, between a page that is drawn whole and one that has begun: what
    the page list takes along comes last, and Streamlit goes back to a page that it is still drawing
    when the reader has gone on.
    """
    expect(page.get_by_test_id("stApp")).to_have_attribute(
        "data-test-script-state", "notRunning", timeout=120_000
    )
    head = page.get_by_role("heading", level=1).first
    before = head.inner_text()
    yield
    expect(head).not_to_have_text(before, timeout=120_000)


def go(page: Page, name: str) -> None:
    with turned(page):
        page.get_by_test_id("stSidebarNavLink").filter(has_text=name).click()


def test_a_click_on_the_page_list_takes_the_filters_along_in_one_step(
    demo: Application, page: Page
) -> None:
    page.goto(f"{demo.url}/results?scenario=class_wise&settings=tuned")
    # the first page of all reads the whole pack
    expect(page.locator(".st-key-along a").first).to_be_attached(timeout=120_000)
    kept = r"\?scenario=class_wise&settings=tuned$"
    go(page, "Trade-offs")
    expect(page).to_have_url(re.compile(f"/tradeoffs{kept}"))
    expect(page.get_by_role("button", name="Reset filters")).to_be_visible()
    go(page, "Queue")
    expect(page).to_have_url(re.compile("/queue$"))
    expect(page.get_by_role("button", name="Reset filters")).to_have_count(0)
    for name in ("tradeoffs", "results"):
        with turned(page):
            page.go_back()
        expect(page).to_have_url(re.compile(f"/{name}"))
    expect(page).to_have_url(re.compile(f"/results{kept}"))
    page.get_by_role("button", name="Reset filters").click()
    expect(page).to_have_url(re.compile("/results$"))
    page.goto(f"{demo.url}/lessons")
    page.get_by_role("link", name="2 · Forget one class").click()  # of this very page
    expect(page).to_have_url(re.compile("lesson=forget-one-class"))
