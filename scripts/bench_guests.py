"""Measure how long the presenter waits for a page while a class reads along.

    python scripts/bench_guests.py             a table on the screen
    python scripts/bench_guests.py --write     and into docs/benchmarks.md, under its own heading
    python scripts/bench_guests.py --guests 30

The real application serves the demo to an audience. The presenter and the guests are programs that
speak the protocol of Streamlit's web page: each asks for a page and waits for the last message of
it. A guest asks again three seconds after it had its page. What a browser takes to draw is not in
it. The machine should do nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import http.cookiejar
import itertools
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import websockets
from docs_text import table
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from mucore.bench.page import PAGE, machine, put_section

ROOT = Path(__file__).resolve().parents[1]
HEAD = "## A class that reads along"
PAUSE = 3.0  # seconds that a guest reads
CLICKS = 20
# What people look at in turn: pages, and filters of them.
PAGES = (
    "results",
    "results?scenario=class_wise",
    "tradeoffs",
    "results?settings=authors",
    "budget",
)


@dataclass
class Waits:
    """Seconds from a request to the page's last message."""

    presenter: list[float] = field(default_factory=list)
    guests: list[float] = field(default_factory=list)


class Reader:
    """One connection, as a browser has it."""

    def __init__(self, url: str, cookie: str = ""):
        self._headers = {"Origin": url, **({"Cookie": cookie} if cookie else {})}
        self._address = url.replace("http", "ws", 1) + "/_stcore/stream"

    async def __aenter__(self) -> Reader:
        self._socket = await websockets.connect(
            self._address,
            subprotocols=[websockets.Subprotocol("streamlit")],
            additional_headers=self._headers,
            max_size=None,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()

    async def ask(self, page: str) -> float:
        """Seconds until the page has been sent. Raises `RuntimeError` where it shows an error."""
        name, _, query = page.partition("?")
        wish = BackMsg()
        wish.rerun_script.page_name = name
        wish.rerun_script.query_string = query
        began = time.perf_counter()
        await self._socket.send(wish.SerializeToString())
        while True:
            message = ForwardMsg()
            content = await asyncio.wait_for(self._socket.recv(), 120)
            assert isinstance(content, bytes)
            message.ParseFromString(content)
            if message.delta.new_element.HasField("exception"):
                raise RuntimeError(message.delta.new_element.exception.message)
            if message.HasField("script_finished"):
                return time.perf_counter() - began


async def listen(url: str, number: int, waits: Waits) -> None:
    """A guest, until it is cancelled."""
    async with Reader(url) as reader:
        await asyncio.sleep(PAUSE * number / 12)  # they did not all come at once
        for page in itertools.cycle(PAGES):
            waits.guests.append(await reader.ask(page))
            await asyncio.sleep(PAUSE)


async def present(url: str, cookie: str, guests: int) -> Waits:
    """The presenter's clicks while so many guests read."""
    waits = Waits()
    readers = [asyncio.create_task(listen(url, number, waits)) for number in range(guests)]
    async with Reader(url, cookie) as reader:
        await asyncio.sleep(3 * PAUSE if guests else 0)
        for page in itertools.islice(itertools.cycle(PAGES), CLICKS):
            waits.presenter.append(await reader.ask(page))
            await asyncio.sleep(1.0)
    for task in readers:
        if task.done():
            task.result()  # raises what ended it
        task.cancel()
    return waits


def start(home: Path) -> tuple[subprocess.Popen[bytes], str, str]:
    """The application, its address and the presenter's cookie."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = home.with_suffix(".txt")
    command = [sys.executable, "run_app.py", "--home", str(home), "--port", str(port)]
    command += ["--host", "127.0.0.1", "--audience", "--no-browser", "--workers", "0"]
    with log.open("wb") as sink:
        app = subprocess.Popen(command, cwd=ROOT, stdout=sink, stderr=sink)
    until = time.monotonic() + 90
    while not (found := re.search(r"^ +(http\S+\?presenter=\S+)$", log.read_text(), re.MULTILINE)):
        if app.poll() is not None or time.monotonic() > until:
            app.terminate()
            raise SystemExit(log.read_text())
        time.sleep(0.2)
    jar = http.cookiejar.CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.open(found[1], timeout=60).close()
    return app, f"http://127.0.0.1:{port}", "; ".join(f"{one.name}={one.value}" for one in jar)


def row(who: str, seconds: Sequence[float]) -> list[str]:
    numbers = (min(seconds), statistics.median(seconds), max(seconds))
    return [who, str(len(seconds)), *(f"{number:.2f}" for number in numbers)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--guests", type=int, default=12)
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mucore-class-") as folder:
        app, url, cookie = start(Path(folder) / "home")
        try:
            asyncio.run(present(url, cookie, 0))  # pages are read from the disk once
            alone = asyncio.run(present(url, cookie, 0))
            beside = asyncio.run(present(url, cookie, given.guests))
        finally:
            app.send_signal(signal.SIGINT)
            app.wait()
    rows = [
        row("the presenter, alone", alone.presenter),
        row(f"the presenter, beside {given.guests} guests", beside.presenter),
        row("a guest", beside.guests),
    ]
    figures = table(["who", "pages", "min, s", "median, s", "max, s"], rows)
    facts = ", ".join(f"{name} {value}" for name, value in machine("cpu").items())
    text = (
        f"{HEAD}\n\nWritten by `python scripts/bench_guests.py --write`: seconds from a click to "
        "the last message of the page, on the demo's results; each guest asks for a page "
        f"{PAUSE:g} s after it had the last.\n\n{figures}\n\n{facts}.\n"
    )
    print(text)
    if given.write:
        put_section(text)
        print(f"Written to {PAGE}.")


if __name__ == "__main__":
    main()
