"""Two browsers on one application that serves an audience: the presenter's, and one without the
key.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from applications import Application, new_page
from playwright.sync_api import Browser, Page, expect

# Loaded by each Python process that finds it: writes down who wants to leave this machine, and
# lets nobody.
GUARD = """
import ipaddress, os, socket, sys

def named(event, arguments):
    if event == "socket.getaddrinfo":
        return arguments[0]
    if event in ("socket.connect", "socket.sendto") and isinstance(arguments[1], tuple):
        return arguments[1][0]

def here(host):
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("", "localhost")

def guard(event, arguments):
    host = named(event, arguments)
    if host is not None and not here(host):
        with open(os.environ["LEAVING"], "a") as file:
            print(event, host, sys.argv, file=file)
        raise OSError(f"{host} is not this machine")

sys.addaudithook(guard)
"""
PATIENT: Final = 300_000  # milliseconds; a busy machine takes its time
START = re.compile(r"Start \d+ runs")
# One comparison of four small runs.
ADDRESS = (
    "launch?dataset=digits&model=mlp&preset=quick&scenarios=one_class&methods=finetune"
    "&training_seeds=0"
)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Application]:
    """An application before an audience, of which is written down who wants to leave."""
    (tmp_path / "guard").mkdir()
    (tmp_path / "guard" / "sitecustomize.py").write_text(GUARD, encoding="utf-8")
    application = Application(
        tmp_path / "secret home",
        *("--host", "127.0.0.1", "--audience", "--workers", "0"),
        PYTHONPATH=str(tmp_path / "guard"),
        LEAVING=str(tmp_path / "leaving.txt"),
    )
    yield application
    application.stop()


@pytest.mark.timeout(600)
def test_the_presenter_works_and_a_guest_reads_along(
    watched: Application, chromium: Browser
) -> None:
    room, received = watched, list[bytes]()
    mine, theirs = new_page(chromium), new_page(chromium)
    for page in (mine, theirs):
        page.set_default_timeout(PATIENT)
    theirs.on("websocket", lambda socket: socket.on("framereceived", lambda f: keep(received, f)))

    address = room.presenters_address()
    mine.goto(address)
    expect(mine.get_by_text("You are presenting")).to_be_visible()
    assert "presenter=" not in mine.url
    mine.goto(f"{room.url}/{ADDRESS}")
    theirs.goto(f"{room.url}/{ADDRESS}")
    expect(theirs.get_by_role("link", name="Follow the runs")).to_be_visible()
    expect(theirs.get_by_role("button", name=START)).to_have_count(0)

    mine.get_by_role("button", name=START).click()
    expect(mine).to_have_url(re.compile(r"/queue\?.*comparison=1"))
    theirs.goto(f"{room.url}/queue?comparison=1")
    expect(theirs.get_by_text("0 of 4 runs done").first).to_be_visible()
    expect(theirs.get_by_role("button", name="Cancel")).to_have_count(0)
    mine.get_by_role("button", name="Cancel all", exact=True).click()
    sure = mine.get_by_role("button", name="Cancel all of these")  # asked where a run has begun
    expect(sure.or_(mine.get_by_text("was cancelled")).first).to_be_visible(timeout=PATIENT)
    if sure.is_visible():
        sure.click()
    # without a reload: the page of a guest, too, draws itself anew
    expect(theirs.get_by_text("was cancelled").first).to_be_visible(timeout=PATIENT)

    theirs.goto(f"{room.url}/results?scenario=one_class")
    with theirs.expect_download() as download:
        theirs.get_by_role("button", name="CSV, full precision").click()
    assert "finetune" in Path(download.value.path()).read_text()
    theirs.locator("tr[data-row]", has_text="Fine-tune").first.click()
    repeats = theirs.get_by_text("The command that repeats this run")
    expect(repeats).to_be_visible(timeout=PATIENT)
    expect(theirs.get_by_role("button", name="Weights")).to_have_count(0)
    for page in (mine, theirs):
        expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)

    refused = theirs.request.put(f"{room.url}/_stcore/upload_file/any/file", data=b"x")
    assert refused.status == 403
    told = b"".join(received)
    assert len(told) > 10_000 and b"runs done" in told
    for secret in (str(room.home.parent), str(Path.home()), address.partition("=")[2]):
        assert secret.encode() not in told, secret

    ask_from_another_site(theirs, room)
    leaving = Path(room.environment["LEAVING"])
    assert not leaving.exists(), leaving.read_text()
    code = "import socket; socket.create_connection(('192.0.2.1', 9), timeout=1)"
    done = subprocess.run([sys.executable, "-c", code], env=room.environment, capture_output=True)
    assert done.returncode != 0 and "192.0.2.1" in leaving.read_text()  # of whoever would


def keep(received: list[bytes], payload: str | bytes) -> None:
    received.append(payload if isinstance(payload, bytes) else payload.encode())


def ask_from_another_site(page: Page, room: Application) -> None:
    """A page of another site tries to connect, at which Streamlit would look for a host on the
    internet that says what this machine is called.
    """
    page.route("http://other.example/", lambda route: route.fulfill(body="<title>other</title>"))
    page.goto("http://other.example/")
    closed = page.evaluate(
        """address => new Promise(resolve => {
            const socket = new WebSocket(address, "streamlit");
            socket.onopen = () => resolve("open");
            socket.onclose = () => resolve("closed");
        })""",
        f"{room.url.replace('http', 'ws')}/_stcore/stream",
    )
    assert closed == "closed"
