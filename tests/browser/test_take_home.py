"""A lesson goes home as one file, which is opened from the disk without a network."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Final

import pytest
from applications import Application, opened, run_apart
from page_program import Page as Program
from page_program import cookie_of
from playwright.sync_api import Browser, Page, expect

from dashboard.lessons import LESSONS

READERS: Final = 4


def at_home(page: Page, chromium: Browser, file: Path) -> Page:
    """The file, made by a click as soon as there is a button, in a browser that reaches nothing."""
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
    # at once: the page that shows the answer is still being drawn
    there = at_home(page, chromium, tmp_path / "lesson.html")
    expect(there.get_by_text("You said 50 %")).to_be_visible()
    expect(there.locator("figure svg")).not_to_have_count(0)
    expect(there.locator(f'a[href="{address}"]')).to_have_count(1)
    for question in lesson.check:
        expect(there.get_by_text(question.text)).to_be_visible()
        expect(there.get_by_text(question.why)).to_be_visible()


def asked(reader: Program) -> str | None:
    """The address that the button "Take home" asks, where the page has one."""
    buttons = [
        json.loads(one.element.json)
        for one in reader.of_kind("bidi_component")
        if one.element.component_name.endswith("mucore_take_home")
    ]
    return buttons[0]["address"] if buttons else None


@pytest.mark.timeout(900)
def test_a_room_that_answers_and_presses_at_once_gets_each_readers_file(room: Application) -> None:
    async def file_of(reader: Program, ready: asyncio.Barrier) -> str:
        async with reader:
            address = await reader.until(lambda: asked(reader))
            await ready.wait()
            answers = asyncio.create_task(reader.press("That is my prediction"))
            await asyncio.sleep(0.05)  # the answer is on its way, and the button still of before
            file = await asyncio.to_thread(reader.fetched, address)
            await answers
            assert asked(reader) == address
            return file

    async def together() -> list[str]:
        ready = asyncio.Barrier(READERS)
        query = "lesson=forget-one-class&step=2"
        cookies = [await asyncio.to_thread(cookie_of, room.url) for _ in range(READERS)]
        readers = [Program(room.url, cookie, "lessons", query) for cookie in cookies]
        return await asyncio.gather(*(file_of(reader, ready) for reader in readers))

    files = run_apart(together())
    assert ["You said 50 %" in file for file in files] == [True] * READERS
