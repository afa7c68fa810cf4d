"""The real application as a process, for tests that use it as a person does."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from playwright.sync_api import Browser, Page
from waiting import wait_for

T = TypeVar("T")
ROOT = Path(__file__).resolve().parents[1]
# Whether nothing of a page is on its way, and nothing has moved since this was asked before.
STILL = """() => {
  const app = document.querySelector('[data-testid=stApp]');
  const coming = document.querySelector('[data-testid=stSkeleton], [data-testid=stStatusWidget]');
  if (coming || app?.dataset.testScriptState !== 'notRunning') return false;
  const main = document.querySelector('[data-testid=stMain]'), before = window.seen;
  const places = [...main.querySelectorAll('.js-plotly-plot, .main-svg, tr, canvas')]
    .map((each) => Object.values(each.getBoundingClientRect().toJSON()));
  window.seen = JSON.stringify([main.scrollHeight, places]);
  return window.seen === before;
}"""


class Application:
    """run_app.py with a store of its own, further `options`, and more in its `environment`."""

    def __init__(self, home: Path, *options: str, **environment: str):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.home = home
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = home.with_suffix(".txt")
        self.environment = environment
        command = [
            sys.executable,
            "run_app.py",
            "--home",
            str(home),
            "--port",
            str(self.port),
            "--no-browser",
            "--device",
            "cpu",
            *options,
        ]
        with self.log.open("wb") as sink:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                stdout=sink,
                stderr=sink,
                env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
            )
        end = time.monotonic() + 90
        while not self.answers():
            assert self.process.poll() is None and time.monotonic() < end, self.log.read_text()
            time.sleep(0.3)

    def presenters_address(self) -> str:
        """With the key that the start prints behind the second address."""
        found = wait_for(lambda: re.search(r"\?presenter=(\S+)$", self.log.read_text(), re.M))
        return f"{self.url}/?presenter={found[1]}"

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2):
                return True
        except (OSError, urllib.error.URLError):
            return False

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(timeout=40) == 0, self.log.read_text()


def new_page(chromium: Browser, *, theme: str = "light") -> Page:
    """A tab of a reader of its own."""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 900},
        color_scheme=theme,  # ty: ignore[invalid-argument-type]
    )
    page = context.new_page()
    page.set_default_timeout(60_000)
    return page


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    page.wait_for_selector("h1")
    return still(page)


def still(page: Page) -> Page:
    """The page, once it is drawn and nothing moves any more."""
    page.wait_for_function(STILL, polling=250)
    return page


def run_apart(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` in a thread of its own: in that of a browser a loop runs already."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(work)).result()


def ground(page: Page) -> str:
    """The colour behind the page, as a hexadecimal number."""
    color = page.evaluate(
        "() => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    )
    return "#" + "".join(f"{int(part):02X}" for part in re.findall(r"\d+", color)[:3])


# Texts in boxes that hide what does not fit, and texts beyond the edge of the window.
CUT = """() => [...document.querySelectorAll('[data-testid="stMain"] *')].filter(e => {
  const box = e.getBoundingClientRect(), look = getComputedStyle(e);
  const written = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!written || !box.width || look.clipPath !== 'none') return false;
  if (e.closest('.st-key-chips')) return false;  // a chip opens on what it has no room for
  const range = document.createRange();
  range.selectNodeContents(e);
  const right = range.getBoundingClientRect().right;
  const scrolled = e.closest('[data-testid="stDataFrame"], [style*="overflow"]');
  if (right > innerWidth + 1 && !scrolled) return true;
  for (let at = e, up = 0; at && up < 6; at = at.parentElement, up++) {
    const over = getComputedStyle(at).overflowX;
    if (['auto', 'scroll'].includes(over)) return false;
    const cuts = ['hidden', 'clip'].includes(over) && at.clientWidth > 20;
    if (cuts && right > at.getBoundingClientRect().right + 2) return true;
  }
  return false;
}).map(e => e.textContent.trim().slice(0, 60))"""
