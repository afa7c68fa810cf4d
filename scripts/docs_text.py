"""Words, lists and tables of the pages in docs/generated. What a page says in words is in
scripts/texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def value(it: Any) -> str:
    """As one would type it on the command line."""
    if it is None or isinstance(it, bool):
        return "none" if it is None else str(it).lower()
    if isinstance(it, float):
        return f"{it:g}"
    return ",".join(value(each) for each in it) if isinstance(it, list | tuple) else str(it)


def listed(texts: Iterable[str], word: str = "and") -> str:
    texts = list(texts)
    return f" {word} ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines
    )


def filled(name: str, **parts: object) -> str:
    """The page of that name with these in its gaps."""
    text = Path(__file__).with_name("texts") / name
    return text.read_text(encoding="utf-8").format(**parts)


def paragraphs(parts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, parts))
