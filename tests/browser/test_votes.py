"""A lesson before a room, in two real browsers; and what a program without the key can do to it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import sqlalchemy as sa
from applications import Application, new_page
from bench_class import Page as Program
from bench_class import cookie_of
from playwright.sync_api import Browser, expect

from mucore.store import open_store, schema

PATIENT: Final = 300_000  # milliseconds; a busy machine takes its time
LESSON: Final = "forget-one-class"
# Buttons of the presenter, by page.
TEMPTING: Final = {
    f"lessons?lesson={LESSON}&step=2": ("Hold this lesson", "End it", "Reveal", "Run it live"),
    "launch?dataset=digits&model=mlp&preset=quick&scenarios=one_class&methods=finetune": ("Start",),
}


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Application]:
    """The demo before an audience; no worker, so that whatever is launched stays to be seen."""
    application = Application(
        tmp_path / "home", "--host", "0.0.0.0", "--audience", "--workers", "0"
    )
    yield application
    application.stop()


def presenters_address(room: Application) -> str:
    """The key, at the address that the tests use."""
    end = time.monotonic() + 60
    while not (found := re.search(r"\?presenter=(\S+)$", room.log.read_text(), re.M)):
        assert time.monotonic() < end, room.log.read_text()
        time.sleep(0.2)
    return f"{room.url}/?presenter={found[1]}"


def rows(room: Application, table: sa.Table) -> list[tuple[Any, ...]]:
    with open_store(room.home) as store, store.read() as connection:
        return [tuple(row) for row in connection.execute(sa.select(table))]


@pytest.mark.timeout(1200)
def test_a_room_follows_votes_and_sees_the_answer(room: Application, chromium: Browser) -> None:
    mine, theirs = new_page(chromium), new_page(chromium)
    for page in (mine, theirs):
        page.set_default_timeout(PATIENT)
    mine.goto(presenters_address(room))
    expect(mine.get_by_text("You present")).to_be_visible()
    mine.goto(f"{room.url}/lessons?lesson={LESSON}&step=1")
    mine.get_by_role("link", name="Let the room join").click()
    code = mine.get_by_alt_text(re.compile(r"^QR code of http:.*follow=1$"))
    expect(code).to_be_visible(timeout=PATIENT)
    assert "127.0.0.1" not in str(code.get_attribute("alt"))
    mine.get_by_role("link", name="Back").click()

    theirs.goto(f"{room.url}/lessons?follow=1")
    expect(theirs.get_by_text("No lesson is held yet")).to_be_visible(timeout=PATIENT)
    mine.get_by_role("button", name="Hold this lesson").click()
    first = theirs.get_by_role("heading", name="1 · A model that must forget")
    expect(first).to_be_visible(timeout=PATIENT)
    expect(mine.get_by_text("1 reader here")).to_be_visible(timeout=PATIENT)
    for name in ("Hold this lesson", "End it", "Reveal", "Run it live"):
        expect(theirs.get_by_role("button", name=name)).to_have_count(0)

    mine.get_by_role("button", name="Next").click()
    expect(theirs.get_by_role("heading", name="2 · The yardstick")).to_be_visible(timeout=PATIENT)
    expect(theirs.get_by_text("Compare the two models")).to_have_count(0)
    theirs.get_by_role("slider").focus()
    theirs.keyboard.press("ArrowRight")
    theirs.get_by_role("button", name="Send my answer").click()
    expect(theirs.get_by_text("51 %").first).to_be_visible(timeout=PATIENT)
    expect(mine.get_by_text("1 vote", exact=True)).to_be_visible(timeout=PATIENT)
    theirs.reload()  # another session of the same reader
    expect(theirs.get_by_text("51 %").first).to_be_visible(timeout=PATIENT)

    mine.get_by_role("button", name="Reveal").click()
    for page in (mine, theirs):
        expect(page.get_by_text("Compare the two models")).to_be_visible(timeout=PATIENT)
    expect(theirs.get_by_text("You said 51 %")).to_be_visible(timeout=PATIENT)
    (vote,) = rows(room, schema.vote)
    assert vote[1] == "2" and vote[3] == "51"

    theirs.get_by_role("button", name="Back").click()
    expect(first).to_be_visible(timeout=PATIENT)
    expect(theirs.get_by_text("The presenter holds")).to_be_visible(timeout=PATIENT)
    mine.get_by_role("button", name="End it").click()
    expect(mine.get_by_role("button", name="Hold this lesson")).to_be_visible(timeout=PATIENT)
    assert rows(room, schema.vote) == rows(room, schema.talk) == []
    for page in (mine, theirs):
        expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)


@pytest.mark.timeout(1200)
def test_a_program_without_the_key_votes_and_does_nothing_else(room: Application) -> None:
    asyncio.run(tempt(room))


async def tempt(room: Application) -> None:
    key, reader = cookie_of(presenters_address(room)), cookie_of(f"{room.url}/lessons")
    buttons = await buttons_of_the_presenter(room, key)
    assert sum(map(len, buttons.values())) >= 5, buttons
    before = rows(room, schema.talk), rows(room, schema.job), rows(room, schema.comparison)
    assert before[0] and not before[1] and not before[2]

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
            if name == "lessons":
                found[address] = [button.id for button in buttons(page, labels)]
                await page.press("Hold this lesson")
            found[address] = found.get(address, []) + [
                button.id for button in buttons(page, labels)
            ]
    return found


def buttons(page: Program, labels: tuple[str, ...]) -> list[Any]:
    return [
        element.button
        for _, element in page.elements.values()
        if element.WhichOneof("type") == "button" and element.button.label.startswith(labels)
    ]


async def send(guest: Program, value: float) -> None:
    """Press the form's button with that value in the slider."""
    slider, button = guest.find("slider"), guest.find("button", "Send")
    assert slider is not None and button is not None
    part, runs = button[0], guest.part_runs[button[0]]
    await guest.run(
        {"id": slider[1].id, "double_array_value": [value]},
        {"id": button[1].id, "trigger_value": True},
        fragment=part,
    )
    await guest.until(lambda: guest.part_runs[part] > runs)
