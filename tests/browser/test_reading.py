"""What readers do with results, on the demo that comes with the program: select, by mouse and by
keyboard alone.
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
