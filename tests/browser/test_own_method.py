"""An own method, written on the page, checked there, and chosen beside another."""

from __future__ import annotations

import re

import pytest
from applications import Application
from playwright.sync_api import Page, expect

MINUTES = 5 * 60_000  # milliseconds: a check, on a machine that does much else


@pytest.mark.timeout(1500)
def test_a_method_is_written_checked_and_chosen(application: Application, page: Page) -> None:
    page.set_default_timeout(MINUTES)
    page.goto(
        f"{application.url}/launch?dataset=digits&model=mlp&preset=quick&scenarios=one_class"
        "&methods=finetune"
    )
    page.get_by_role("button", name="Write your own").click()
    code = page.get_by_role("textbox", name="Python code of the method")
    expect(code).to_have_value(re.compile("def my_method"))
    use = page.get_by_role("button", name="Use it")
    expect(use).to_be_disabled()

    # a mistake is named by its line, which is red beside the code
    right = code.input_value().replace('title="My method"', 'title="Noise of mine"')
    place = right[: right.index("return fit(")].count("\n") + 1
    code.fill(right.replace("return fit(", "return fitt("))
    code.press("Control+Enter")
    expect(page.get_by_text(f"(line {place})")).to_be_visible(timeout=MINUTES)
    expect(page.locator(".numbers b")).to_have_text(str(place))
    expect(use).to_be_disabled()

    # what is typed outlives the page
    code.fill(right)
    code.blur()
    expect(page.get_by_text("has changed since it was checked")).to_be_visible()
    page.reload()
    expect(code).to_have_value(right)

    # typing as a programmer does: indented, and taken back
    code.press("Control+End")
    page.keyboard.type("if x:\ny")
    expect(code).to_have_value(f"{right}if x:\n    y")
    code.fill(right)
    page.get_by_role("button", name="Check", exact=True).click()
    expect(use).to_be_enabled(timeout=MINUTES)
    use.click()
    expect(page.get_by_role("checkbox", name="Noise of mine")).to_be_checked()
    expect(page).to_have_url(re.compile("methods=finetune&methods=my_method"))
    assert "own=" not in page.url
    start = page.get_by_role("button", name=re.compile(r"^Start \d+ runs|rocket_launch Start"))
    expect(start).to_be_enabled()
