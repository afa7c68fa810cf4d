"""Figures as SVG, PNG and PDF, made by the Chromium or Chrome of this machine. No Streamlit."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final, Literal

import plotly.graph_objects as go
import psutil

from mucore.errors import MucoreError

BROWSERS: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
)
WIDTH: Final = 760  # pixels of a figure, about the text width of an A4 page
# a figure takes about a second, on a machine that is busy some ten; a browser that hangs takes all
DRAW_SECONDS: Final = 60  # and as many again as these, for each figure:
EACH_SECONDS: Final = 15
DRAW: Final = Path(__file__).with_name("draw.py")

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
    listed, said = paths[0].with_name("figures.json"), paths[0].with_name("said.txt")
    asked = [
        {
            "figure": json.loads(figure.to_json()),
            "height": int(figure.layout.height or 460),
            "path": str(path),
        }
        for figure, path in zip(figures, paths, strict=True)
    ]
    scale = 2 if kind == "png" else 1
    listed.write_text(
        json.dumps({"kind": kind, "width": width, "scale": scale, "figures": asked}),
        encoding="utf-8",
    )
    seconds = DRAW_SECONDS + EACH_SECONDS * len(figures)
    with said.open("wb") as file:
        ended = _run([sys.executable, "-P", str(DRAW), str(listed)], seconds, file)
    if ended == 0:
        return True
    why = f"not within {seconds:g} s" if ended is None else said.read_text(errors="replace")[-2000:]
    logging.getLogger(__name__).warning(
        "%d figures could not be drawn as %s together: %s", len(figures), kind, why
    )
    return False


def _run(command: Sequence[str], seconds: float, said: IO[bytes] | int) -> int | None:
    """The exit status of a command, None where it took longer. It and all that it started are
    ended.
    """
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
    )
    others: list[psutil.Process] = []
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        # some may be in a session of their own, as the browser of kaleido is
        with contextlib.suppress(psutil.NoSuchProcess):
            others = psutil.Process(process.pid).children(recursive=True)
        return None
    finally:
        if hasattr(os, "killpg"):  # its own group, also of what outlived it; Windows has none
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        for other in others:
            with contextlib.suppress(psutil.NoSuchProcess):
                other.kill()
        process.wait()
