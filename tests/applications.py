"""The real application as a process, for tests that use it as a person does."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[1]


# Whether nothing of a page is on its way.
STILL = "() => !document.querySelector('[data-testid=stSkeleton], [data-testid=stStatusWidget]')"


class Application:
    """run_app.py with a store of its own, further `options`, and more in its `environment`."""

    def __init__(self, home: Path, *options: str, **environment: str):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.home = home
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = home.with_suffix(".txt")
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
    page.wait_for_function(STILL)
    return page


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
