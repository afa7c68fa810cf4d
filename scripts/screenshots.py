"""Pictures of every page in both themes and two widths, for the README and for looking at.

    python run_app.py --no-browser
    python scripts/screenshots.py OUT [--url http://127.0.0.1:8501]

Needs playwright and Debian's or any other Chromium (`--browser`). Files are named
PAGE-THEME-WIDTH.png.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from dashboard import pages

PAGES = tuple(page.id for page in pages.PAGES)
THEMES, WIDTHS = ("light", "dark"), (1280, 1920)
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
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


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


def take(given: argparse.Namespace) -> Iterator[Path]:
    """Write one picture a page, theme and width, of the whole page; gives their paths."""
    given.out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=given.browser, args=list(FLAGS))
        for theme, width in itertools.product(THEMES, WIDTHS):
            window = ViewportSize(width=width, height=900)
            context = chromium.new_context(viewport=window, color_scheme=theme)
            page = context.new_page()
            for name in given.pages:
                page.goto(f"{given.url}/{'' if name == 'start' else name}{given.query}")
                settle(page)
                _grow(page, width)
                path = given.out / f"{name}-{theme}-{width}.png"
                page.screenshot(path=path)
                # A third of the size; the palette that covers most colours, or a few marks would
                # take the hue of many others.
                Image.open(path).convert("RGB").quantize(
                    192, Image.Quantize.MAXCOVERAGE, kmeans=5
                ).save(path, optimize=True)
                page.set_viewport_size(window)
                yield path
            context.close()
        chromium.close()


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
    parser.add_argument("--url", default="http://127.0.0.1:8501")
    parser.add_argument("--pages", nargs="+", default=PAGES, choices=PAGES)
    parser.add_argument(
        "--query", default="", help="appended to every address, such as ?comparison=1"
    )
    parser.add_argument("--browser", default=find_browser())
    given = parser.parse_args()
    if not given.browser:
        raise SystemExit("No Chromium was found. Install one, or name it with --browser.")
    for path in take(given):
        print(path)


if __name__ == "__main__":
    main()
