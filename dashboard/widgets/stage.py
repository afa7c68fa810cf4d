"""The stage of the playground: points, pictures and player in one element that draws itself, and
the answers to what it asks.

The stage asks for events by the number of those it has, until the last one has come, so a room
never has to find its readers. Page Playground shows all of it, a lesson one scene.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import streamlit as st

from dashboard import access, assets, playroom, state, theme
from dashboard.charts.results_table import marker
from dashboard.frames import playground as frames
from dashboard.widgets import messages
from mucore import catalog
from mucore.errors import MucoreError
from mucore.playground.scene import METHODS, PRESETS

MOST_EVENTS: Final = 60  # in one answer, which come to some hundred kilobytes
PAUSE: Final = 0.15  # seconds between two questions for events
PAGE: Final = "playground"  # key of the stage that follows the address

_HTML: Final = assets.text("playground.html")
_CSS: Final = assets.text("playground.css")
_SCRIPTS: Final = ("playground_points.js", "playground_paint.js", "playground.js")
_JS: Final = "\n".join(assets.text(name) for name in _SCRIPTS)
# Classes are told apart by hue and shape; the hues are those of families that keep their contrast.
_CLASSES: Final = ("influence", "gradient_ascent", "teacher", "relabelling")

_played: dict[str, str] = {}  # the newest ticket of each preset, whoever played it


def show(preset: str = "") -> None:
    """The whole stage, which follows the address; with `preset` that scene alone, to be played."""
    st.fragment(_stage)(preset)


def ticket_of(preset: str, *, shared: bool = False) -> str:
    """The ticket of the scene of a preset where this reader has played it, or with `shared`
    anybody; "" where nobody has.
    """
    if shared:
        return _played.get(preset, "")
    return (state.ticket(f"{_key(preset)}:run") or {}).get("ticket", "")


def _key(preset: str) -> str:
    return f"{PAGE}:{preset}" if preset else PAGE


def _stage(preset: str) -> None:
    with messages.guarded():
        playroom.room()  # its process is warm by the time somebody has chosen
        key = _key(preset)
        draft, problem = _draft(preset)
        run = state.ticket(f"{key}:run")
        if not preset and state.param("played") == "1" and (run or {}).get("scene") != draft:
            problem = problem or _play(key, draft)
            run = state.ticket(f"{key}:run")
        data = {
            "scene": draft,
            "points": frames.points_in(draft),
            "revision": state.ticket(f"{key}:revision") or 0,
            "run": _news(key, run),
            "problem": access.shown(problem or state.ticket(f"{key}:problem") or ""),
            "fixed": bool(preset),
            "pause": 1000 * access.every(PAUSE),
            **_words(),
            "look": _look(),
        }
        _mount(data, key, lambda asked: _answer(preset, asked))
        if state.ticket(f"{key}:ended"):
            state.set_ticket(f"{key}:ended", None)
            st.rerun()  # what stands around the stage may now tell what came of it


def _draft(preset: str) -> tuple[frames.Draft, str]:
    """The scene that the address says, or that of `preset`; and what is wrong with the address."""
    if preset:
        return frames.preset_draft(preset), ""
    try:
        return frames.from_query({name: state.param(name) for name in frames.PARAMETERS}), ""
    except MucoreError as failure:
        return frames.preset_draft(PRESETS[0].id), str(failure)


def _mount(data: dict[str, Any], key: str, on_ask: Callable[[Any], None]) -> None:
    """Draw the stage; `on_ask` gets what it asks for, as its browser sent it."""
    component = st.components.v2.component("mucore_playground", html=_HTML, css=_CSS, js=_JS)
    component(
        data=data,
        key=key,
        on_ask_change=lambda: on_ask(getattr(state.uploaded(key), "ask", None)),
    )


def _answer(preset: str, asked: Any) -> None:
    """Take in what the stage asks for; the fragment that is drawn next answers it."""
    key = _key(preset)
    if not isinstance(asked, Mapping):
        return
    after = asked.get("after", 0)
    state.set_ticket(f"{key}:after", after if isinstance(after, int) and after >= 0 else 0)
    if asked.get("what") == "events":
        return
    if asked.get("what") == "ended":
        state.set_ticket(f"{key}:ended", True)
        return
    revision = asked.get("revision", 0)
    state.set_ticket(f"{key}:revision", revision if isinstance(revision, int) else 0)
    try:
        draft = frames.preset_draft(preset) if preset else frames.drafted(asked.get("scene"))
        problem = ""
        if asked.get("what") == "forget":
            problem = _play(key, draft)
        if not preset:
            query = frames.to_query(draft, played=asked.get("what") == "forget" and not problem)
            for name in frames.PARAMETERS:
                state.set_param(name, query.get(name))
    except MucoreError as failure:
        problem = str(failure)
    state.set_ticket(f"{key}:problem", problem)


def _play(key: str, draft: frames.Draft) -> str:
    """Hand a scene to the room; what is wrong with it, "" where nothing is."""
    try:
        ticket = playroom.room().submit(frames.scene_of(draft), state.session())
    except MucoreError as failure:
        return str(failure)
    state.set_ticket(f"{key}:run", {"ticket": ticket, "scene": draft})
    if draft["preset"]:
        _played[draft["preset"]] = ticket
    return ""


def _news(key: str, run: dict[str, Any] | None) -> dict[str, Any] | None:
    """The events that the stage has asked for."""
    if run is None:
        return None
    after = state.ticket(f"{key}:after")
    state.set_ticket(f"{key}:after", None)
    room = playroom.room()
    found = [] if after is None else room.events(run["ticket"], after)[:MOST_EVENTS]
    return {**run, "after": after or 0, "events": found, "ahead": room.ahead(run["ticket"])}


def _words() -> dict[str, Any]:
    """What stands on the stage whatever is played."""
    dark = state.dark()
    offered = [catalog.method(name) for name in METHODS]
    return {
        "shapes": list(frames.SHAPES.items()),
        "limits": frames.LIMITS,
        "presets": [
            {
                "id": one.id,
                "title": one.title,
                "sentence": one.sentence,
                "scene": frames.preset_draft(one.id),
            }
            for one in PRESETS
        ],
        "methods": [
            {
                "id": card.id,
                "title": card.title,
                "mark": marker(card.family, dark),
                "color": theme.family_style(card.family).color(dark),
            }
            for card in offered
        ],
        "meanings": [
            {"id": name, "title": title, "text": text} for name, title, text in frames.MEANINGS
        ],
        "legend": frames.LEGEND,
        "help": frames.HELP,
    }


def _look() -> dict[str, Any]:
    dark = state.dark()
    look = theme.ground(dark)
    return {
        "ground": look.background,
        "text": look.text,
        "primary": look.primary,
        "strong": theme.family_style("competition").color(dark),
        "classes": [theme.family_style(family).color(dark) for family in _CLASSES],
        "page": {
            "border": theme.blend(look.muted, look.background, 0.6),
            "muted": look.muted,
            "primary-fill": look.primary,
            "on-primary": look.background,
            "wrong": theme.family_style("gradient_ascent").color(dark),
        },
    }
