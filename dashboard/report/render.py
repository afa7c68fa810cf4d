"""Figures as SVG, PNG and PDF, and pages as PDF, made by the Chromium or Chrome of this machine. No
Streamlit here.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import logging
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import plotly.graph_objects as go
import plotly.io as pio

from mucore.errors import MucoreError

BROWSERS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
FLAGS: Final = (
    "--headless",
    # containers have none; what is printed is a file of our own that may run no script
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
WIDTH: Final = 760  # pixels of a figure, about the text width of an A4 page
PDF_SECONDS: Final = 120
NO_BROWSER: Final = "PDF needs Chromium or Chrome; open the HTML and print it."

Kind = Literal["svg", "png", "pdf"]
MOST_KEPT: Final = 32_000_000  # bytes of files of figures
_one_at_a_time = threading.Lock()  # every call starts a browser of some hundred MB
# the latest files of figures, by all that they are made of: a room asks for the same ones
_kept: OrderedDict[str, bytes] = OrderedDict()


class NotRendered(MucoreError):
    """The browser is missing, failed or took too long; the text says what else to do."""


def browser() -> str | None:
    """The path of a Chromium or Chrome on this machine."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def draws() -> bool:
    """Whether figures can be drawn here: kaleido and a browser are installed."""
    return browser() is not None and importlib.util.find_spec("kaleido") is not None


def images(figures: Sequence[go.Figure], kind: Kind, *, width: int = WIDTH) -> list[bytes | None]:
    """Each figure as a file of that kind, in its own height; None for one that could not be drawn.
    All None without a browser. What was drawn a while ago is not drawn again, and who asks for it
    while it is drawn waits for it.
    """
    if not figures or not draws():
        return [None] * len(figures)
    names = [_name(figure, kind, width) for figure in figures]
    with _one_at_a_time:
        named = dict(zip(names, figures, strict=True))
        missing = {name: figure for name, figure in named.items() if name not in _kept}
        drawn = _drawn(list(missing.values()), kind, width) if missing else []
        found = {name: _kept[name] for name in named if name in _kept}
        found |= {name: file for name, file in zip(missing, drawn, strict=True) if file is not None}
        for name, file in found.items():
            _kept[name] = file
            _kept.move_to_end(name)
        while sum(map(len, _kept.values())) > MOST_KEPT:
            _kept.popitem(last=False)
    return [found.get(name) for name in names]


def _name(figure: go.Figure, kind: Kind, width: int) -> str:
    content = f"{kind} {width} {figure.to_json()}"
    return hashlib.sha256(content.encode(errors="replace")).hexdigest()


def _drawn(figures: Sequence[go.Figure], kind: Kind, width: int) -> list[bytes | None]:
    with tempfile.TemporaryDirectory(prefix="mucore-figures-") as folder:
        paths = [Path(folder) / f"{place}.{kind}" for place in range(len(figures))]
        if not _write(figures, paths, kind, width):
            # one bad figure must not take the others with it
            for figure, path in zip(figures, paths, strict=True):
                _write([figure], [path], kind, width)
        return [
            path.read_bytes() if path.exists() and path.stat().st_size else None for path in paths
        ]


def image(figure: go.Figure, kind: Kind) -> bytes:
    """One figure, as wide as on a page. Raises `NotRendered` with a sentence."""
    made = images([figure], kind, width=900)[0]
    if made is None:
        raise NotRendered(
            "The browser could not draw this figure. Use the camera button of the figure for an "
            "SVG."
        )
    return made


def _write(figures: Sequence[go.Figure], paths: Sequence[Path], kind: Kind, width: int) -> bool:
    scale = 2 if kind == "png" else 1
    heights: list[int | None] = [int(figure.layout.height or 460) for figure in figures]
    try:
        pio.write_images(
            list(figures), list(paths), format=kind, width=width, height=heights, scale=scale
        )
    except Exception:  # kaleido raises many kinds, down to those of the browser's own protocol
        logging.getLogger(__name__).warning(
            "%d figures could not be drawn as %s together", len(figures), kind, exc_info=True
        )
        return False
    return True


def pdf(page: str, *, seconds: float = PDF_SECONDS) -> bytes:
    """A page of HTML printed to PDF. Raises `NotRendered` with a sentence."""
    program = browser()
    if program is None:
        raise NotRendered(NO_BROWSER)
    with (
        _one_at_a_time,
        tempfile.TemporaryDirectory(prefix="mucore-pdf-", ignore_cleanup_errors=True) as folder,
    ):
        source, target = Path(folder) / "report.html", Path(folder) / "report.pdf"
        source.write_text(page, encoding="utf-8")
        command = [
            program,
            *FLAGS,
            f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer",
            "--generate-pdf-document-outline",
        ]
        command += [f"--print-to-pdf={target}", source.as_uri()]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(
            command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
        )
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise NotRendered(
                f"The browser did not finish the PDF within {seconds:g} s. Open the HTML and "
                "print it."
            ) from None
        finally:
            with contextlib.suppress(OSError):  # its own group: the browser and all that it started
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        content = target.read_bytes() if target.exists() else b""
    if not content.startswith(b"%PDF"):
        raise NotRendered("The browser gave no PDF. Open the HTML and print it.")
    return content
