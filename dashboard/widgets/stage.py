"""The stage of the playground: points, pictures and player in one element that draws itself, and
the answers to what it asks.

The stage asks for events by the number of those it has, until the last one has come, so a room
never has to find its readers. They are those of the scene that was played, or as long as nothing
was forgotten on these points those of Original alone. Page Playground shows all of it, a lesson
one scene.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

import streamlit as st

from dashboard import access, assets, playroom, state, theme
from dashboard.frames import playground as frames
from dashboard.widgets import messages, method_settings
from mucore import catalog
from mucore.errors import MucoreError
from mucore.playground.scene import METHODS, PRESETS
from mucore.points import HUES

MOST_EVENTS: Final = 80  # in one answer, which come to some hundred kilobytes
PAUSE: Final = 0.15  # seconds between two questions for events
PAGE: Final = "playground"  # key of the stage that follows the address

_HTML: Final = assets.text("playground.html")
_CSS: Final = assets.text("playground.css")
_SCRIPTS: Final = ("playground_points.js", "playground_paint.js", "playground.js")
_JS: Final = "\n".join(assets.text(name) for name in _SCRIPTS)
_played: dict[str, str] = {}  # the newest ticket of each preset, whoever played it


def show(preset: str = "") -> None:
    """The whole stage, which follows the address; with `preset` that scene alone, to be played."""
    key = _key(preset)
    # the room keeps the latest scenes alone: a page that is drawn anew asks for its own again
    state.set_ticket(f"{key}:field", None)
    state.set_ticket(f"{key}:again", True)
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
        key = _key(preset)
        draft, problem = _draft(preset)
        # an example plays by itself; what a reader chose is played at a press, and from its address
        asked = bool(draft["preset"]) or state.param("played") == "1"
        wanted = asked and not preset and not problem
        problem = problem or _played_anew(key, draft, wanted=wanted)
        shown = _shown(key, draft)
        data = {
            "scene": draft,
            "points": frames.points_in(draft),
            "revision": state.ticket(f"{key}:revision") or 0,
            "asked": state.ticket(f"{key}:asked"),
            "run": _news(key, shown),
            "problem": access.shown(problem or state.ticket(f"{key}:problem") or ""),
            "fixed": bool(preset),
            "large": state.presenting(),
            "seen": state.ticket(f"{key}:seen"),
            "pause": 1000 * access.every(PAUSE),
            **_words(state.dark()),
            "look": _look(),
        }
        _mount(data, key, lambda asked: _answer(preset, asked))
        if (method := state.ticket(f"{key}:settings")) in draft["methods"]:
            method_settings.show(draft, method, closed=lambda: _close(key))
        if state.ticket(f"{key}:ended"):
            state.set_ticket(f"{key}:ended", None)
            state.set_ticket(f"{key}:seen", ticket_of(preset))
            st.rerun()  # what stands around the stage may now tell what came of it


def _close(key: str) -> None:
    state.set_ticket(f"{key}:settings", None)


def _draft(preset: str) -> tuple[frames.Draft, str]:
    """The scene that the address says, or that of `preset`; and what is wrong with the address."""
    if preset:
        return frames.preset_draft(preset), ""
    query = {name: state.param(name) for name in state.address()}
    try:
        return frames.from_query(query), ""
    except MucoreError as failure:
        problem = str(failure)
    try:  # a setting that is none takes nothing else with it
        return frames.from_query({name: query[name] for name in query if "." not in name}), problem
    except MucoreError:
        return frames.preset_draft(frames.OPENS_ON), problem


def _mount(data: dict[str, Any], key: str, on_ask: Callable[[Any], None]) -> None:
    """Draw the stage; `on_ask` gets what it asks for, as its browser sent it."""
    component = st.components.v2.component("mucore_playground", html=_HTML, css=_CSS, js=_JS)
    component(
        data=data, key=key, on_ask_change=lambda: on_ask(getattr(state.uploaded(key), "ask", None))
    )


def _answer(preset: str, asked: Any) -> None:
    """Take in what the stage asks for; the fragment that is drawn next answers it."""
    key = _key(preset)
    if not isinstance(asked, Mapping):
        return
    # of two answers that are alike the browser would not get the second, and wait for it
    state.set_ticket(f"{key}:asked", str(asked.get("at", ""))[:20])
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
            run = state.ticket(f"{key}:run")
            played = state.param("played") == "1" or asked.get("what") == "forget"
            _say(draft, played=played and run is not None and run["scene"] == draft)
            wanted = asked.get("method") if asked.get("what") == "settings" else None
            state.set_ticket(f"{key}:settings", wanted)
    except MucoreError as failure:
        problem = str(failure)
    state.set_ticket(f"{key}:problem", problem)


def _say(draft: frames.Draft, *, played: bool) -> None:
    """Bring the address in line with a scene."""
    query = frames.to_query(draft, played=played)
    settings = [name for name in state.address() if "." in name]
    for name in (*frames.PARAMETERS, *settings):
        state.set_param(name, query.pop(name, None))
    for name, value in query.items():
        state.set_param(name, value)
    state.leave(PAGE)  # app.py calls it where the whole page is drawn, and this is a part


def _play(key: str, draft: frames.Draft) -> str:
    """Hand a scene to the room; what is wrong with it, "" where nothing is."""
    try:
        ticket = playroom.room().submit(frames.scene_of(draft), _reader(key))
    except MucoreError as failure:
        return str(failure)
    state.set_ticket(f"{key}:run", {"ticket": ticket, "scene": draft})
    if draft["preset"]:
        _played[draft["preset"]] = ticket
    return ""


def _played_anew(key: str, draft: frames.Draft, *, wanted: bool) -> str:
    """Play a scene that its address says is played, and that of a page that was drawn anew; what is
    wrong with it.
    """
    run, again = state.ticket(f"{key}:run"), state.ticket(f"{key}:again")
    state.set_ticket(f"{key}:again", None)
    if wanted and (run is None or run["scene"] != draft):
        return _play(key, draft)
    if again and run is not None and frames.same_points(run["scene"], draft):
        return _play(key, run["scene"])
    return ""


def _shown(key: str, draft: frames.Draft) -> dict[str, Any] | None:
    """The ticket of what the stage shows and its scene: what was played on these points, or else
    Original alone, the `field`; None where that cannot be had.
    """
    run = state.ticket(f"{key}:run")
    if run is not None and frames.same_points(run["scene"], draft):
        return {**run, "field": False}
    field = state.ticket(f"{key}:field")
    if field is not None and frames.same_points(field["scene"], draft):
        return field
    scene = frames.bare(draft)
    try:
        ticket = playroom.room().submit(frames.scene_of(scene), _reader(key))
    except MucoreError:  # points that are still being drawn, or a full room
        return None
    field = {"ticket": ticket, "scene": scene, "field": True}
    state.set_ticket(f"{key}:field", field)
    return field


def _reader(key: str) -> str:
    return f"{state.session()} {key}"


def _news(key: str, shown: dict[str, Any] | None) -> dict[str, Any] | None:
    """The events that the stage has asked for."""
    if shown is None:
        return None
    after = state.ticket(f"{key}:after")
    state.set_ticket(f"{key}:after", None)
    room = playroom.room()
    if not room.knows(shown["ticket"]):  # left for a while, as by a browser that slept
        try:
            room.submit(frames.scene_of(shown["scene"]), _reader(key))
        except MucoreError as failure:
            ended = [{"kind": "error", "who": "", "sentence": str(failure)}, {"kind": "end"}]
            return {**shown, "after": after or 0, "events": ended, "ahead": 0}
    found = [] if after is None else room.events(shown["ticket"], after)[:MOST_EVENTS]
    return {**shown, "after": after or 0, "events": found, "ahead": room.ahead(shown["ticket"])}


@functools.cache
def _words(dark: bool) -> dict[str, Any]:
    """What stands on the stage whatever is played. Every answer has it, so it is made once."""
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
                "color": theme.family_style(card.family).color(dark),
            }
            for card in offered
        ],
        "meanings": [{"id": name, "title": title} for name, title in frames.MEANINGS.items()],
        "colours": HUES,
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
        "classes": theme.FIELDS,
        "points": theme.points(dark),
        "page": {
            "track": look.grid,
            "selected": look.selected,
            "original": theme.FATES["did nothing"].color(dark),
            "retrain": look.text,
            "left": theme.FATES["too little"].color(dark),
            "lost": theme.FATES["damaged"].color(dark),
            "border": look.border,
            "muted": look.muted,
            "primary-fill": look.primary,
            "on-primary": look.background,
            "wrong": theme.family_style("gradient_ascent").color(dark),
        },
    }
