"""A talk with a clicker and a keyboard, and no mouse, on a projector of 1024 x 768 pixels."""

from __future__ import annotations

import json
import re

import pytest
from applications import CUT, Application, opened, still
from playwright.sync_api import Page, expect

SEEN = "[data-on]"
# What of the screen that is shown does not fit the window.
OUTSIDE = """() => {
  const slide = document.querySelector('[data-on]'), root = document.documentElement, found = [];
  if (root.scrollHeight > innerHeight || root.scrollWidth > innerWidth) found.push('the window');
  if (!slide) return found;
  if (slide.scrollHeight > slide.clientHeight + 1) found.push('the screen');
  const foot = document.querySelector('.mucore-foot')?.offsetHeight ?? 0;
  const room = innerHeight - foot + 12;
  const shown = 'svg.main-svg, img, [data-testid^="stBidiComponent"]';
  for (const each of slide.querySelectorAll(shown)) {
    const box = each.getBoundingClientRect();
    if (box.bottom > room || box.right > innerWidth + 1) found.push(each.tagName);
  }
  return found;
}"""
# Which screen it is, and what the next key waits for.
WHERE = """() => {
  const slide = document.querySelector('[data-on]');
  return JSON.stringify([
    slide?.className.match(/st-key-slide-(\\S+)/)?.[1] ?? '',
    document.querySelector('.mucore-foot span')?.textContent ?? '',
    Boolean(slide?.querySelector('[class*="reveal"] button')),
  ]);
}"""


@pytest.fixture
def projector(page: Page) -> Page:
    page.set_viewport_size({"width": 1024, "height": 768})
    return page


def begin(page: Page) -> None:
    """By the key P, once the page says that it is heard."""
    expect(page.locator("button[aria-keyshortcuts=P]")).to_be_visible()
    page.keyboard.press("p")
    expect(page).to_have_url(re.compile("present=1"))


def seen(page: Page) -> str:
    """The name of the screen that is shown."""
    found = page.locator(SEEN)
    expect(found).to_have_count(1)
    (name,) = re.findall(r"st-key-slide-(\S+)", found.get_attribute("class") or "")
    return name


def where(page: Page) -> str:
    return page.locator(".mucore-foot span").inner_text()


def misfits(page: Page) -> list[str]:
    """What of the screen that is shown is cut or does not fit the window."""
    still(page)
    return page.evaluate(f"[...({OUTSIDE})(), ...({CUT})()]")


def test_every_screen_of_a_lesson_fits_a_small_projector(
    demo: Application, projector: Page
) -> None:
    page = opened(projector, f"{demo.url}/lessons?lesson=forget-one-class&present=1")
    notes = page.locator(f"{SEEN} details")
    expect(notes).not_to_have_attribute("open", "")
    page.keyboard.press("n")
    expect(notes).to_have_attribute("open", "")
    expect(page.locator(SEEN)).to_have_count(1)
    shown = [0, 0]  # step and screen
    for _ in range(60):
        assert misfits(page) == []
        before = page.evaluate(WHERE)
        place = json.loads(before)
        numbers = [int(number) for number in re.findall(r"\d+", place[1])]
        assert numbers[::2] >= shown, "A key led back."
        shown = numbers[::2]
        if shown == numbers[1::2] and not place[2]:
            page.keyboard.press("ArrowRight")  # leads back to the page
            expect(page).not_to_have_url(re.compile("present=1"))
            return
        # a view without a figure, as where a map waits to be drawn, scrolls before it moves on
        page.keyboard.press("PageDown" if place[0] else "ArrowRight")
        page.wait_for_function(f"({WHERE})() !== {json.dumps(before)}")
    raise AssertionError("It has no last screen.")


def test_a_page_is_presented_and_left_by_keyboard_alone(demo: Application, projector: Page) -> None:
    page = opened(projector, f"{demo.url}/results")
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    begin(page)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    assert seen(page) == "cost_distance" and where(page) == "1 of 2"
    assert misfits(page) == []
    page.keyboard.press("PageDown")
    expect(page).to_have_url(re.compile("figure=2"))
    assert seen(page) == "results_table" and where(page) == "2 of 2" and misfits(page) == []
    page.keyboard.press("PageUp")
    assert seen(page) == "cost_distance"
    page.keyboard.press("Escape")
    expect(page).not_to_have_url(re.compile("present=1|figure="))
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    expect(page.locator(".mucore-foot")).to_have_count(0)
