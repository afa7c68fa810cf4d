"""A lesson goes home as one file, which is opened from the disk without a network."""

from __future__ import annotations

from pathlib import Path

import pytest
from applications import Application, opened
from playwright.sync_api import Browser, Page, expect

from dashboard.lessons import LESSONS


def at_home(page: Page, chromium: Browser, file: Path) -> Page:
    """The file, made by a click in a browser that reaches nothing."""
    page.get_by_role("button", name="Share").click()
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
def test_a_lesson_is_read_at_home_without_a_network(
    demo: Application, chromium: Browser, page: Page, tmp_path: Path
) -> None:
    lesson = LESSONS["forget-one-class"]
    address = f"{demo.url}/lessons?lesson={lesson.id}&step=2"
    opened(page, address)
    page.get_by_role("button", name="That is my prediction").click()
    expect(page.get_by_text("You said 50 %")).to_be_visible()
    there = at_home(page, chromium, tmp_path / "lesson.html")
    expect(there.get_by_text("You said 50 %")).to_be_visible()
    expect(there.locator("figure svg")).not_to_have_count(0)
    expect(there.locator(f'a[href="{address}"]')).to_have_count(1)
    for question in lesson.check:
        expect(there.get_by_text(question.text)).to_be_visible()
        expect(there.get_by_text(question.why)).to_be_visible()
