"""What readers do with results, on the demo that comes with the program: select, read in the dark,
alone with a keyboard.
"""

from __future__ import annotations

import re

import pytest
from applications import Application, opened, still
from playwright.sync_api import Page, expect


@pytest.mark.smoke
def test_results_are_found_from_start_and_narrowed_to_a_scenario(
    demo: Application, page: Page
) -> None:
    opened(page, demo.url)
    page.locator(".st-key-start_line").get_by_role("link", name="Results").click()
    expect(page).to_have_url(re.compile("/results"))
    page.get_by_role("button", name="Forget the whole class").click()
    page.locator(".st-key-url-scenario").get_by_role("combobox").focus()
    page.keyboard.type("part of one")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("scenario=one_class"))
    assert "present" not in page.url  # which the key P does, but not in a field
    expect(page.locator("tr[data-row]", has_text="SCRUB").first).to_be_visible()
    expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)


def test_figures_and_logo_follow_the_theme_at_once(demo: Application, page: Page) -> None:
    """Both change without a reload, when the system goes over to the other theme and when the
    reader does in the menu.
    """
    page.emulate_media(color_scheme="light")
    opened(page, f"{demo.url}/replay")
    logo = page.get_by_test_id("stSidebarLogo").or_(page.get_by_test_id("stHeaderLogo")).first
    label = page.locator("[data-testid=stPlotlyChart] .slider-label").first
    expect(label).to_be_visible()

    def colors() -> tuple[str | None, str]:
        return logo.get_attribute("src"), label.evaluate("node => getComputedStyle(node).fill")

    light = colors()
    page.emulate_media(color_scheme="dark")
    expect(logo).not_to_have_attribute("src", light[0] or "")
    expect(label).not_to_have_css("fill", light[1])
    dark = colors()
    page.get_by_test_id("stMainMenu").locator("button").or_(
        page.get_by_test_id("stMainMenuButton")
    ).first.click()
    page.get_by_test_id("stMainMenuItem-theme-Light").click()
    expect(logo).not_to_have_attribute("src", dark[0] or "")
    expect(label).to_have_css("fill", light[1])
    assert colors() == light


def test_a_cell_of_a_heat_map_selects_its_run_wherever_in_the_cell_the_click_is(
    demo: Application, page: Page
) -> None:
    opened(page, f"{demo.url}/compare?view=classes")
    cells = page.locator("[data-testid=stPlotlyChart] .scatterlayer .point")
    expect(cells.first).to_be_attached()
    boxes = [
        box
        for box in cells.evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
        if box["width"]
    ]
    x, y = (boxes[0][side] + boxes[0][size] / 2 for side, size in (("x", "width"), ("y", "height")))
    # near the right edge of the first cell
    page.mouse.click(x + 0.4 * (boxes[1]["x"] - boxes[0]["x"]), y)
    expect(page).to_have_url(re.compile(r"[?&]run="))
    expect(page.get_by_text("python -m mucore run").first).to_be_visible()
    expect(page.locator("h3").first).to_have_text(re.compile("^Original"))


def test_a_keyboard_is_enough_to_reach_a_page_and_open_a_run(demo: Application, page: Page) -> None:
    opened(page, demo.url)
    tab_to(page, "node => node.matches('a') && node.innerText.trim().endsWith('Results')")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/results"))
    expect(page.locator("tr[data-row]").first).to_be_visible()
    still(page)
    tab_to(page, "node => node.matches('tr[data-row]')")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("row="))
    expect(page.get_by_text("python -m mucore run").first).to_be_visible()


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until the focused element is the one wanted; the table stands in a shadow root,
    which hides its own focus.
    """
    focused = (
        "() => { let node = document.activeElement; while (node && node.shadowRoot) node = "
        "node.shadowRoot.activeElement; return node }"
    )
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate(
            f"() => {{ const node = ({focused})(); return Boolean(node) && ({wanted})(node) }}"
        ):
            return
    pytest.fail(f"The Tab key never reached what {wanted} describes.")
