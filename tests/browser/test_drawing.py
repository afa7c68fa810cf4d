"""A teacher's first minute with the page: one click makes networks, a forgotten class is drawn by
mouse, and Original says it while Retrain does not; then the same by keyboard.
"""

from __future__ import annotations

import json
import re

import pytest
from applications import Application
from playwright.sync_api import Page, expect

MINUTES = 60_000
# a 3, in dots of the canvas
THREE = ((80, 60), (120, 40), (170, 45), (185, 80), (160, 120), (125, 130), (165, 140))
THREE_ON = ((190, 180), (165, 225), (115, 235), (75, 215))


def draw(page: Page, *places: tuple[int, int]) -> None:
    box = page.locator("canvas.ink").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + places[0][0], box["y"] + places[0][1])
    page.mouse.down()
    for x, y in places[1:]:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=6)
    page.mouse.up()


@pytest.mark.timeout(900)
def test_a_forgotten_class_is_drawn(demo: Application, page: Page) -> None:
    page.goto(f"{demo.url}/draw")
    expect(page.locator("canvas.ink")).to_be_visible(timeout=10 * MINUTES)
    said = page.locator(".said")
    rows = page.locator(".board tbody tr")
    expect(rows).to_have_count(10)
    expect(rows.nth(0).locator("th")).to_have_class("gone")
    # it opens on a zero, which Retrain has never learned
    expect(said).to_have_text(re.compile(r"^Original says 0 \(\d+\s%\), Retrain [^0] "))

    page.get_by_role("button", name="Clear").click()
    draw(page, *THREE, *THREE_ON)
    expect(said).to_have_text(re.compile(r"^Original says 3 \(\d+\s%\)"))
    expect(page.locator(".near figure")).to_have_count(12)
    assert json.loads(page.locator(".board").get_attribute("data-latencies") or "[]")

    # what was drawn can be taken back, and taken away
    page.get_by_role("button", name="Clear").click()
    expect(said).not_to_contain_text("Original says")
    page.get_by_role("button", name="Undo").click()
    expect(said).to_contain_text("Original says 3")

    # an image of the forget set, by keyboard alone
    forgotten = page.locator(".kinds button", has_text="Forget set")
    forgotten.focus()
    page.keyboard.press("Enter")
    page.locator(".images button").first.focus()
    page.keyboard.press("Enter")
    expect(said).to_contain_text("Original says 0")
    expect(page.locator(".fitted")).not_to_be_checked()
    page.locator("canvas.ink").focus()
    page.keyboard.press("Delete")
    expect(said).not_to_contain_text("Original says")
