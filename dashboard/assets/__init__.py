"""Style sheets, scripts and templates of the pages, each a file of its own. No Streamlit."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

FOLDER = Path(__file__).parent


@cache
def text(name: str) -> str:
    """The file of that name in this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


@cache
def played() -> list[dict[str, Any]]:
    """The scenes of the playground that pages open on, with their events, as
    `scripts/make_opening.py` wrote them: that of Start, then that of the Playground.
    """
    return json.loads(gzip.decompress((FOLDER / "opening.json.gz").read_bytes()))


def style(name: str) -> str:
    """A style sheet as an element that `st.html` takes."""
    return f"<style>\n{text(name)}</style>"


@cache
def template(name: str) -> Template:
    """A template of this folder. It escapes what it is given, unless that is marked as safe."""
    return _environment().get_template(name)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
