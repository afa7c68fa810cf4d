"""Forget sets by hand: clicked images, and a lasso on a map."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from applications import Application, opened
from playwright.sync_api import Page, expect

from mucore.forget_sets.saved import forget_hash


def ids(page: Page) -> list[int]:
    found = parse_qs(urlsplit(page.url).query).get("ids", [""])[0]
    return [int(each) for each in found.split(",") if each]


def test_images_are_clicked_and_chosen_by_key(demo: Application, page: Page) -> None:
    opened(page, f"{demo.url}/forget_sets?dataset=digits&way=images")
    wall = page.locator(".wall").first.locator("button")
    expect(wall).to_have_count(60)
    for number in (0, 4, 9, 4):  # the third goes as it came
        wall.nth(number).click()
    expect(page).to_have_url(re.compile(r"ids=0%2C14(&|$)"))
    expect(wall.nth(9)).to_have_attribute("aria-pressed", "true")
    wall.nth(12).focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("ids=0%2C14%2C17"))
    expect(page.get_by_text(forget_hash([0, 9, 12])).first).to_be_visible()
    chosen = page.locator(".wall").nth(1).locator("button")
    expect(chosen).to_have_count(3)
    chosen.first.click()
    expect(page).to_have_url(re.compile("ids=14%2C17"))


def test_a_lasso_on_a_map_of_the_demo(demo: Application, page: Page) -> None:
    opened(page, f"{demo.url}/forget_sets?way=map")
    plot = page.get_by_test_id("stPlotlyChart").first
    plot.scroll_into_view_if_needed()
    box = plot.locator(".nsewdrag").first.bounding_box()
    assert box is not None
    corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.6), (0.02, 0.6), (0.02, 0.03)]
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place, steps=8)
    page.mouse.up()
    add = page.get_by_role("button", name=re.compile(r"^(add )?Add [\d,]+$"))
    expect(add).to_be_visible()
    count = int(re.findall(r"[\d,]+", add.inner_text())[-1].replace(",", ""))
    add.click()
    expect(page).to_have_url(re.compile("ids=|kept="))
    assert count > 10 and (len(ids(page)) == count or "kept=" in page.url)
    expect(page.get_by_text(f"{count:,}", exact=True).first).to_be_visible()
