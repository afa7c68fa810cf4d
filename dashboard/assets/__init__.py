"""Style sheets, scripts and templates of the pages, each a file of its own. No Streamlit."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@cache
def text(name: str) -> str:
    """The file of that name in this folder."""
    return (FOLDER / name).read_text(encoding="utf-8")


def style(name: str) -> str:
    """A style sheet as an element that `st.html` takes."""
    return f"<style>\n{text(name)}</style>"
