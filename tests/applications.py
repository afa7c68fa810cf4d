"""The real application as a process, for tests that use it as a person does."""

from __future__ import annotations

import os
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
