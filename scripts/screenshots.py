"""Pictures of every page in both themes and two widths, for the README and for looking at.

    python scripts/screenshots.py OUT --home FOLDER     starts the application on a store of its own
    python scripts/screenshots.py OUT --url http://127.0.0.1:8501    of one that runs

Needs playwright and Debian's or any other Chromium (`--browser`). Files are named
PAGE-THEME-WIDTH.png.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from dashboard import pages

ROOT = Path(__file__).resolve().parents[1]
PAGES = tuple(page.id for page in pages.PAGES)
WIDTHS = (1280, 1920)
Theme = Literal["light", "dark"]
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def find_browser() -> str | None:
    """The path of a Chromium or Chrome on this machine."""
    return next(
        (
            path
            for name in ("chromium", "chromium-browser", "google-chrome")
            if (path := shutil.which(name))
        ),
        None,
    )


@contextmanager
def application(home: Path) -> Generator[str]:
    """The dashboard on a free port of the loopback address with the store in `home`; gives its
    address and ends it.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        "dashboard/app.py",
        "--server.headless=true",
        f"--server.port={port}",
    ]
    server = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "MUCORE_HOME": str(home), "PYTHONPATH": str(ROOT)}
    )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_up(url, server)
        yield url
    finally:
        server.terminate()
        server.wait(timeout=20)


def wait_until_up(url: str, server: subprocess.Popen, *, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.poll() is not None:
            raise SystemExit(
                f"The application ended with code {server.returncode} before it answered."
            )
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"The application did not answer at {url} within {seconds:g} s.")


def settle(page: Page) -> None:
    """Wait until the page has been drawn: its title is there and nothing outside a live fragment is
    still to come.
    """
    page.wait_for_selector("h1", timeout=30_000)
    page.wait_for_timeout(1000)
    page.wait_for_function(
        "() => !document.querySelector('[data-testid=stSkeleton], [data-testid=stStatusWidget]')",
        timeout=60_000,
    )
    page.wait_for_timeout(1000)


def take(
    url: str,
    out: Path,
    *,
    pages: Sequence[str],
    widths: Sequence[int],
    themes: Sequence[Theme],
    browser: str,
    query: str = "",
) -> list[Path]:
    """Write one picture a page, theme and width, of the whole page; gives their paths."""
    out.mkdir(parents=True, exist_ok=True)
    written = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=list(FLAGS))
        for theme in themes:
            for width in widths:
                context = chromium.new_context(
                    viewport={"width": width, "height": 900}, color_scheme=theme
                )
                page = context.new_page()
                for name in pages:
                    page.goto(f"{url}/{'' if name == 'start' else name}{query}")
                    settle(page)
                    _grow(page, width)
                    path = out / f"{name}-{theme}-{width}.png"
                    page.screenshot(path=path)
                    # A third of the size; the palette that covers most colours, or a few marks
                    # would take the hue of many others.
                    Image.open(path).convert("RGB").quantize(
                        192, Image.Quantize.MAXCOVERAGE, kmeans=5
                    ).save(path, optimize=True)
                    page.set_viewport_size({"width": width, "height": 900})
                    written.append(path)
                context.close()
        chromium.close()
    return written


def _grow(page: Page, width: int, *, limit: int = 4000) -> None:
    """Streamlit scrolls inside the page, so the window is made as high as the content."""
    height = page.evaluate(
        "() => Math.ceil((document.querySelector('[data-testid=stMain]') || "
        "document.body).scrollHeight)"
    )
    page.set_viewport_size({"width": width, "height": max(900, min(height, limit))})
    page.wait_for_timeout(700)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--url")
    where.add_argument("--home", type=Path)
    parser.add_argument("--pages", nargs="+", default=PAGES, choices=PAGES)
    parser.add_argument("--widths", nargs="+", type=int, default=WIDTHS)
    parser.add_argument("--themes", nargs="+", default=("light", "dark"), choices=("light", "dark"))
    parser.add_argument(
        "--query", default="", help="appended to every address, such as ?comparison=1"
    )
    parser.add_argument("--browser", default=find_browser())
    given = parser.parse_args()
    if not given.browser:
        raise SystemExit("No Chromium was found. Install one, or name it with --browser.")
    choice = {
        "pages": given.pages,
        "widths": given.widths,
        "themes": given.themes,
        "browser": given.browser,
        "query": given.query,
    }
    if given.url:
        files = take(given.url.rstrip("/"), given.out, **choice)
    else:
        with application(given.home) as url:
            files = take(url, given.out, **choice)
    print("\n".join(str(path) for path in files))


if __name__ == "__main__":
    main()
