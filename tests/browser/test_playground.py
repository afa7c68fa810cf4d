"""Page Playground as a visitor uses it: an example, Forget, frames that move, a line around points,
keys, and an address that opens the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from applications import Application
from playwright.sync_api import Browser, Locator, Page, expect

PATIENT = 300_000  # milliseconds; a busy machine takes its time to load PyTorch
PERCENT = re.compile(r"\d %")


def opened(page: Page, address: str) -> Locator:
    page.goto(address)
    stage = page.locator(".playground")
    expect(stage.locator(".original .numbers b").first).to_have_text(PERCENT, timeout=PATIENT)
    return stage


def played(stage: Locator) -> None:
    """Until every model is done and the last frame is shown."""
    expect(stage).to_have_attribute("aria-busy", "false", timeout=PATIENT)
    expect(stage.locator(".again")).to_be_visible()
    expect(stage.locator(".play")).to_have_text("Play", timeout=PATIENT)


def picture(card: Locator) -> str:
    return str(card.locator("canvas").evaluate("canvas => canvas.toDataURL()"))


def chosen(stage: Locator) -> int:
    return int(re.findall(r"(\d+) of", str(stage.locator(".said").text_content()))[0])


def time(stage: Locator) -> int:
    return int(stage.locator(".time").input_value())


def place(stage: Locator, right: float, down: float) -> tuple[float, float]:
    """A place in the first picture, as shares of its sides."""
    canvas = stage.locator(".original canvas")
    # away from the upper edge, where Streamlit's head lies over the page
    canvas.evaluate("canvas => canvas.scrollIntoView({ block: 'center' })")
    box = canvas.bounding_box()
    assert box is not None
    return box["x"] + right * box["width"], box["y"] + down * box["height"]


def drawn_line(page: Page, stage: Locator, corners: Sequence[tuple[float, float]]) -> None:
    page.mouse.move(*place(stage, *corners[0]))
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*place(stage, *corner), steps=4)
    page.mouse.up()


@pytest.mark.timeout(1200)
def test_an_example_is_played_and_a_phone_opens_the_same(
    demo: Application, page: Page, chromium: Browser
) -> None:
    stage = opened(page, f"{demo.url}/playground")
    expect(stage.locator(".tools")).to_be_hidden()
    outlier = stage.get_by_role("button", name="An outlier")
    outlier.click()
    expect(outlier).to_have_attribute("aria-pressed", "true")
    expect(page).to_have_url(re.compile("preset=outlier"))
    # references and three methods with four numbers each, without PyTorch
    played(stage)
    expect(stage.locator(".card")).to_have_count(5)
    stage.locator("summary").click()
    stage.get_by_role("button", name="Remove SSD").click()
    expect(page).to_have_url(re.compile(r"methods=finetune%2Cneggrad_plus(&|$)"))
    stage.locator("summary").click()
    first = stage.locator('[data-who="finetune"]')
    stage.get_by_role("button", name="Forget", exact=True).click()
    played(stage)
    for card in ("original", "retrain", "finetune", "neggrad_plus"):
        numbers = stage.locator(f'[data-who="{card}"] .numbers b')
        expect(numbers).to_have_count(4)
        expect(numbers.first).to_have_text(PERCENT)
    field = picture(first)
    stage.get_by_role("button", name="Show difference").click()
    assert picture(first) != field
    stage.get_by_role("button", name="Show difference").click()
    assert picture(first) == field
    # Retrain never saw the outlier, so the two references differ where it lies
    assert picture(stage.locator(".original")) != picture(stage.locator(".retrain"))

    # as slow as can be, so that it still plays when it is looked at
    stage.locator(".speed").select_option("0.25")
    stage.focus()
    page.keyboard.press("r")
    expect(stage.locator(".play")).to_have_text("Pause")
    page.keyboard.press(" ")
    expect(stage.locator(".play")).to_have_text("Play")
    stage.locator(".time").fill("0")
    assert first.get_attribute("data-step") == "0" and picture(first) != field
    page.keyboard.press("ArrowRight")
    once = time(stage)
    page.keyboard.press("ArrowRight")
    assert 0 < once < time(stage)
    page.keyboard.press("ArrowLeft")
    assert time(stage) == once

    expect(page).to_have_url(re.compile("played=1"))
    context = chromium.new_context(
        viewport={"width": 360, "height": 740}, has_touch=True, reduced_motion="reduce"
    )
    phone = context.new_page()
    phone.set_default_timeout(PATIENT)
    again = opened(phone, page.url)
    played(again)
    # nothing moves by itself: the last frame is there at once
    assert again.locator(".time").input_value() == "1000"
    assert chosen(again) == chosen(stage) == 1
    assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    edges = again.locator(".bar :is(button, select):visible").evaluate_all(
        "all => all.filter(one => !one.closest('.examples'))  // these scroll\n"
        ".map(one => one.getBoundingClientRect().right)"
    )
    assert max(edges) <= 360
    again.get_by_role("radio", name="Cluster").tap()
    point = again.evaluate("node => node.playground.points[3]")
    phone.touchscreen.tap(*place(again, (point[0] + 1) / 2, (1 - point[1]) / 2))
    assert chosen(again) > 1


@pytest.mark.timeout(1200)
def test_points_are_chosen_by_line_cluster_key_and_drawn(demo: Application, page: Page) -> None:
    stage = opened(page, f"{demo.url}/playground?points=blobs&forget=1-3")
    stage.get_by_role("button", name="None").click()
    assert chosen(stage) == 0
    expect(stage.get_by_role("button", name="Forget", exact=True)).to_be_disabled()
    drawn_line(page, stage, [(0.02, 0.02), (0.98, 0.02), (0.98, 0.5), (0.02, 0.5), (0.02, 0.03)])
    upper = chosen(stage)
    assert 0 < upper < 240
    expect(page).to_have_url(re.compile(r"forget=\d"))
    stage.get_by_role("button", name="None").click()
    canvas = stage.locator(".original canvas")
    canvas.focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert chosen(stage) == 1
    expect(stage.locator(".said")).to_have_text(re.compile("to be forgotten"))
    page.keyboard.press("Enter")
    assert chosen(stage) == 0
    stage.get_by_role("button", name="Outliers").click()
    assert chosen(stage) > 0

    stage.get_by_role("radio", name="Draw").click()
    stage.get_by_role("button", name="Clear all points").click()
    for label, corner in ((1, (0.2, 0.2)), (1, (0.3, 0.2)), (2, (0.8, 0.8)), (2, (0.7, 0.8))):
        stage.get_by_role("radio", name=f"Class {label}").click()
        page.mouse.click(*place(stage, *corner))
    expect(stage.locator(".said")).to_have_text("0 of 4 points to forget.")
    # three bytes a point, so that the last one is in it, too; parameters are written one by one, so
    # those that were to be forgotten before may stand there a moment longer
    expect(page).to_have_url(re.compile(r"^(?!.*forget=\d).*points=own.*own=[^&]{16}(&|$)"))
    page.reload()
    expect(stage.locator(".said")).to_have_text("0 of 4 points to forget.", timeout=PATIENT)
    stage.get_by_role("radio", name="Cluster").click()
    page.mouse.click(*place(stage, 0.2, 0.2))
    assert chosen(stage) >= 1
