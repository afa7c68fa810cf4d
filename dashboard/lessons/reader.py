"""Lessons are Markdown files. Between two lines of plus signs stands TOML: title, question,
minutes, takeaway, links, the grid of the comparison. A step is a heading `##` with its text; its
guess, figures and terms are TOML in a fence, its further parts headings `###`: Words, See, Found (a
list of sentences about the results, each maybe after a condition in brackets), Say, Notes. The last
heading `##` is Check yourself: a question a heading, the right option marked with an x.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dashboard.lessons.records import Figure, Guess, Lesson, Question, Step
from mucore import catalog

FENCE = re.compile(r"```toml\n(.*?)```\n", re.DOTALL)
RIGHT = "[x] "


def read(path: Path) -> Lesson:
    """The lesson of a file, whose name is its id."""
    _, front, body = path.read_text("utf-8").split("+++\n", 2)
    head = tomllib.loads(front)
    _, steps = _parts(body, "##")
    check = steps.pop("Check yourself")
    return Lesson(
        id=path.stem,
        steps=tuple(_step(title, text, head.get("grid", {})) for title, text in steps.items()),
        check=tuple(_question(title, text) for title, text in _parts(check, "###")[1].items()),
        **head,
    )


def _parts(text: str, mark: str) -> tuple[str, dict[str, str]]:
    """What stands before the first heading, and the text below each."""
    first, *rest = re.split(rf"^{mark} (.+)\n", text, flags=re.MULTILINE)
    return first, dict(zip(rest[::2], rest[1::2], strict=True))


def _step(title: str, text: str, grid: Mapping[str, Any]) -> Step:
    text, parts = _parts(text, "###")
    fenced = FENCE.search(text)
    told = tomllib.loads(fenced[1]) if fenced else {}
    if "moving" in told:
        told["moving"] = _figure({"kind": "pictures", **told["moving"]}, grid)
    if "guess" in told:
        told["guess"] = _guess(told["guess"], grid)
    told["figures"] = tuple(_figure(figure, grid) for figure in told.get("figures", ()))
    kinds = told.get("terms", {})
    told["terms"] = tuple((kind, name) for kind, names in kinds.items() for name in names)
    found = _items(parts.pop("Found", ""))
    said = {name.lower(): _unwrapped(part) for name, part in parts.items()}
    return Step(title=title, text=_unwrapped(FENCE.sub("", text)), found=found, **told, **said)


def _figure(told: Mapping[str, Any], grid: Mapping[str, Any]) -> Figure:
    """Where it names none: the first scenario; all methods for dots and scatter, Retrain's share of
    right answers for a scene.
    """
    made: dict[str, Any] = {
        name: tuple(each) if isinstance(each, list) else each for name, each in told.items()
    }
    methods = [choice["id"] for choice in grid.get("methods", ())]
    if made["kind"] in ("dots", "scatter"):
        made.setdefault("methods", tuple(methods))
    if made["kind"] == "scene":
        made.setdefault("metrics", ("fa",))
    if grid:
        made.setdefault("scenarios", (grid["scenarios"][0]["id"],))
    return Figure(**made)


def _guess(told: dict[str, Any], grid: Mapping[str, Any]) -> Guess:
    """What ranks the methods is answered by one of them."""
    if " " in told.get("answer", ""):
        titles = {choice["id"]: catalog.method(choice["id"]).title for choice in grid["methods"]}
        told.setdefault("options", titles)
    return Guess(**told)


def _question(title: str, text: str) -> Question:
    options, _, why = text.strip().partition("\n\n")
    listed = _items(options)
    return Question(
        text=title,
        options=tuple(option.removeprefix(RIGHT) for option in listed),
        right=next(place for place, option in enumerate(listed) if option.startswith(RIGHT)),
        why=_unwrapped(why),
    )


def _items(text: str) -> tuple[str, ...]:
    return tuple(" ".join(item.split()) for item in re.split(r"^- ", text, flags=re.M)[1:])


def _unwrapped(text: str) -> str:
    """Each paragraph on a line of its own."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))
