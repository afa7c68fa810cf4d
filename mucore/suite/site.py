"""A board as a page of HTML that needs no server, no script and nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import pandas as pd

import mucore
from mucore.errors import BadFile, BadValue
from mucore.files import write
from mucore.suite import frames
from mucore.suite.board import Board, board, suite_of
from mucore.suite.pack import opened
from mucore.suite.verify import verify

FOLDER = Path(__file__).parent


def publish(
    paths: Sequence[Path], out: Path, on_done: Callable[[int, int], None] | None = None
) -> Path:
    """Open and verify packs, and write their board to the folder `out`; returns its index.html.
    Raises `BadFile` for the first pack that does not hold what its predictions say, and as
    `opened`, `board` and `write_site` do.
    """
    with ExitStack() as stack:
        packs = [(path.name, stack.enter_context(opened(path))) for path in paths]
        suite_of(packs)
        for name, pack in packs:
            if problems := verify(pack, on_done).problems:
                raise BadFile(
                    f"{name} does not hold what its predictions say ({problems[0].line}: "
                    f"{problems[0].sentence}) `mucore suite verify` names all that is wrong."
                )
        return write_site(board(packs), out)


def write_site(made: Board, out: Path) -> Path:
    """Write the site to the folder `out` and return its index.html. An earlier board is replaced.
    Raises `BadValue` where `out` is something else, `StoreError` where it cannot be written.
    """
    index = out / "index.html"
    if out.is_dir() and any(out.iterdir()) and not index.exists():
        raise BadValue(f"{out} holds something else. Name another folder with --out.")
    write(index, _page(made).encode())
    return index


def _page(made: Board) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["html"] = _html
    return environment.get_template("board.html.j2").render(
        board=made,
        frames=frames,
        style=(FOLDER / "board.css").read_text(encoding="utf-8"),
        version=mucore.__version__,
    )


def _html(frame: pd.DataFrame) -> str:
    """A table of HTML, escaped, without the run that a line opens on the page."""
    return frame.drop(columns="key", errors="ignore").to_html(
        index=False, border=0, na_rep=frames.NONE, float_format="{:.2f}".format
    )
