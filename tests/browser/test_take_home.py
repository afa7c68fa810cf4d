"""A page and a lesson go home as one file, which is opened from the disk without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from applications import Application, opened
from playwright.sync_api import Browser, Page, expect

from dashboard.lessons import LESSONS


def at_home(page: Page, chromium: Browser, file: Path) -> Page:
    """The file, made by a click once the page is drawn whole, in a browser that reaches nothing."""
    page.wait_for_timeout(5_000)  # the side bar is drawn last, and nothing says that it is to be
    page.wait_for_function(
        "() => !document.querySelector('[data-testid=stSkeleton], [data-testid=stStatusWidget]')",
        timeout=60_000,
    )
    with page.expect_download(timeout=180_000) as caught:
        page.get_by_role("button", name="Take home").click()
    caught.value.save_as(file)
    there = chromium.new_context(offline=True).new_page()
    asked: list[str] = []
    there.on("request", lambda request: asked.append(request.url))
    there.goto(file.as_uri())
    assert asked == [file.as_uri()]
    return there


@pytest.mark.timeout(600)
def test_a_page_and_a_lesson_are_read_at_home_without_a_network(
    demo: Application, chromium: Browser, page: Page, tmp_path: Path
) -> None:
    address = f"{demo.url}/results?scenario=one_class"
    opened(page, address)
    expect(page.get_by_text("Provenance").first).to_be_visible()
    there = at_home(page, chromium, tmp_path / "results.html")
    expect(there.locator("h1")).to_have_text(page.locator("h1").inner_text())
    expect(there.locator("figure svg")).not_to_have_count(0)
    expect(there.locator(f'a[href="{address}"]')).to_have_count(1)

    lesson = LESSONS["forget-one-class"]
    opened(page, f"{demo.url}/lessons?lesson={lesson.id}&step=2")
    page.get_by_role("button", name="That is my prediction").click()
    expect(page.get_by_text("You said 50 %").first).to_be_visible()
    there = at_home(page, chromium, tmp_path / "lesson.html")
    expect(there.get_by_text("You said 50 %")).to_be_visible()
    for question in lesson.check:
        expect(there.get_by_text(question.text)).to_be_visible()
        expect(there.get_by_text(question.why)).to_be_visible()
