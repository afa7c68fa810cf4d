"""A lesson before a room of phones, in a real browser; and what a program without the key
can do to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

import pytest
import sqlalchemy as sa
from applications import CUT, Application, new_page, run_apart
from page_program import Page as Program
from page_program import Shown, cookie_of
from playwright.sync_api import Browser, ViewportSize, expect

from mucore.store import open_store, schema

PATIENT: Final = 300_000  # milliseconds; a busy machine takes its time
LESSON: Final = "forget-one-class"
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
# Buttons of the presenter, by page.
TEMPTING: Final = {
    f"lessons?lesson={LESSON}&step=1": ("Run it live",),
    f"lessons?lesson={LESSON}&step=2": ("Hold this lesson", "End it", "Reveal"),
    "launch?dataset=digits&model=mlp&preset=quick&scenarios=one_class&methods=finetune": ("Start",),
}


def rows(room: Application, table: sa.Table) -> list[tuple[Any, ...]]:
    with open_store(room.home) as store, store.read() as connection:
        return [tuple(row) for row in connection.execute(sa.select(table))]


@pytest.mark.timeout(1200)
def test_a_room_follows_votes_and_sees_the_answer(room: Application, chromium: Browser) -> None:
    mine, phone = new_page(chromium), new_page(chromium)
    for page in (mine, phone):
        page.set_default_timeout(PATIENT)
    mine.goto(room.presenters_address())
    expect(mine.get_by_text("You are presenting")).to_be_visible()
    phone.set_viewport_size(PHONE)
    phone.goto(f"{room.url}/j")
    expect(phone.get_by_text("No lesson is being held yet")).to_be_visible(timeout=PATIENT)

    # by keyboard, as it is presented
    mine.goto(f"{room.url}/lessons?lesson={LESSON}&step=1&present=1")
    foot = mine.locator(".mucore-foot")
    expect(foot.get_by_role("button", name="Hold this lesson")).to_be_visible(timeout=PATIENT)
    mine.keyboard.press("h")
    first = phone.get_by_role("heading", name="1 · A model that must forget")
    expect(first).to_be_visible(timeout=PATIENT)
    expect(foot).to_contain_text("1 reader", timeout=PATIENT)
    assert mine.evaluate(CUT) == []
    for name in ("Hold this lesson", "End it", "Reveal", "Run it live"):
        expect(phone.get_by_role("button", name=name)).to_have_count(0)
    mine.keyboard.press("Escape")
    expect(foot).to_have_count(0, timeout=PATIENT)

    mine.get_by_role("button", name="Next").click()
    send = phone.get_by_role("button", name="Send my answer")
    expect(send).to_be_in_viewport(timeout=PATIENT)
    expect(phone.get_by_text("There is one sure way")).to_have_count(0)
    expect(phone.get_by_text("Compare the two models")).to_have_count(0)
    phone.get_by_role("slider").focus()
    phone.keyboard.press("ArrowRight")
    phone.get_by_role("button", name="Send my answer").click()
    expect(phone.get_by_text("51 %").first).to_be_visible(timeout=PATIENT)
    expect(mine.get_by_text("1 vote", exact=True)).to_be_visible(timeout=PATIENT)
    phone.reload()  # another session of the same reader
    expect(phone.get_by_text("51 %").first).to_be_visible(timeout=PATIENT)

    mine.get_by_role("button", name="Reveal").click()
    for page in (mine, phone):
        expect(page.get_by_text("Compare the two models")).to_be_visible(timeout=PATIENT)
    expect(phone.get_by_text("You said 51 %")).to_be_visible(timeout=PATIENT)
    assert [(vote[1], vote[3]) for vote in rows(room, schema.vote)] == [("2", "51")]

    phone.get_by_role("button", name="Back").click()
    expect(first).to_be_visible(timeout=PATIENT)
    expect(phone.get_by_text("The presenter is holding")).to_be_visible(timeout=PATIENT)
    mine.get_by_role("button", name="End it").click()
    expect(mine.get_by_role("button", name="Hold this lesson")).to_be_visible(timeout=PATIENT)
    assert rows(room, schema.vote) == rows(room, schema.talk) == []
    for page in (mine, phone):
        expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)


@pytest.mark.timeout(1200)
def test_a_program_without_the_key_votes_and_does_nothing_else(room: Application) -> None:
    run_apart(tempt(room))


async def tempt(room: Application) -> None:
    key, reader = cookie_of(room.presenters_address()), cookie_of(f"{room.url}/lessons")
    buttons = await buttons_of_the_presenter(room, key)
    assert sum(map(len, buttons.values())) >= 5, buttons
    before = rows(room, schema.talk), rows(room, schema.job), rows(room, schema.comparison)
    assert before[0]

    # the presenter's buttons, pressed by a session without the key
    for address, ids in buttons.items():
        name, _, query = address.partition("?")
        async with Program(room.url, reader, name, query) as guest:
            await guest.until(lambda guest=guest: guest.full_runs)
            for one in ids:
                runs = guest.full_runs
                await guest.run({"id": one, "trigger_value": True})
                await guest.until(lambda guest=guest, runs=runs: guest.full_runs > runs)
    assert before == (
        rows(room, schema.talk),
        rows(room, schema.job),
        rows(room, schema.comparison),
    )

    # votes that nobody can choose, votes of others, and more than one
    query = f"lesson={LESSON}&step=2"
    async with Program(room.url, reader, "lessons", query) as guest:
        await guest.until(guest.forms)
        for value in (150.0, -1.0, 50.5, float("nan")):
            await send(guest, value)
        assert {row[3] for row in rows(room, schema.vote)} <= {str(n) for n in range(101)}
        for value in (10.0, 20.0, 30.0):
            await asyncio.sleep(1.1)
            await send(guest, value)
    for value in (40.0, 60.0):  # the same browser, loaded again
        async with Program(room.url, reader, "lessons", query) as guest:
            await guest.until(guest.forms)
            await asyncio.sleep(1.1)
            await send(guest, value)
    name = reader.partition("=")[0]
    for cookie in ("", f"{name}=forged", f"{name}={'x' * 22}.{'0' * 32}"):
        async with Program(room.url, cookie, "lessons", query) as guest:
            await guest.until(guest.forms)
            await send(guest, 70.0)
    (vote,) = rows(room, schema.vote)
    assert vote[1] == "2" and vote[3] == "60" and reader.partition("=")[2][:22] not in str(vote)


async def buttons_of_the_presenter(room: Application, key: str) -> Mapping[str, list[str]]:
    """Their ids, by address: the same for everybody, so anybody can know them. The lesson is held
    afterwards.
    """
    found: dict[str, list[str]] = {}
    for address, labels in TEMPTING.items():
        name, _, query = address.partition("?")
        async with Program(room.url, key, name, query) as page:
            await page.until(lambda page=page: page.full_runs)
            if "Hold this lesson" in labels:
                found[address] = buttons(page, labels)
                await page.press("Hold this lesson")
            found[address] = found.get(address, []) + buttons(page, labels)
    return found


def buttons(page: Program, labels: tuple[str, ...]) -> list[str]:
    found = [one.element for one in page.of_kind("button")]
    return [button.id for button in found if button.label.startswith(labels)]


async def send(guest: Program, value: float) -> None:
    """Press the form's button with that value in the slider."""
    slider, button = guest.find("slider"), guest.find("button", "Send")
    assert isinstance(slider, Shown) and isinstance(button, Shown)
    runs = guest.part_runs[button.part]
    await guest.run(
        {"id": slider.element.id, "double_array_value": [value]},
        {"id": button.element.id, "trigger_value": True},
        part=button.part,
    )
    await guest.until(lambda: guest.part_runs[button.part] > runs)
