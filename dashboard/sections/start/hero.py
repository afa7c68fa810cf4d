"""The living picture of Start: a class of points leaves a small network, again and again."""

from __future__ import annotations

import base64
import gzip
import json
from functools import cache
from typing import Final

import streamlit as st

from dashboard import assets, state, theme
from mucore.playground.scene import Scene, points_of
from mucore.points import HUES

_HTML: Final = assets.text("hero.html")
_CSS: Final = assets.text("hero.css")
_JS: Final = "\n".join(assets.text(name) for name in ("playground_paint.js", "hero.js"))


def show() -> None:
    dark = state.dark()
    look = theme.ground(dark)
    component = st.components.v2.component("mucore_hero", html=_HTML, css=_CSS, js=_JS)
    component(
        data={
            "played": _played(),
            "look": {
                "ground": look.background,
                "text": look.text,
                "muted": look.muted,
                "border": look.border,
                "classes": theme.FIELDS,
                "points": theme.points(dark),
            },
        },
        key="hero",
    )


@cache
def _played() -> str:
    """Points, frames and numbers of the scene, packed: base64 of gzip of JSON."""
    played = assets.played()[0]
    scene, events = Scene.model_validate(played["scene"]), played["events"]
    points, forget = points_of(scene), set(scene.forget)
    frames = [each for each in events if each["kind"] == "frame"]
    content = {
        "points": points,
        "forget": sorted(forget),
        "classes": scene.classes,
        "hue": HUES[int(points[scene.forget[0]][2])],
        "models": {
            who: [
                {"grid": each["grid"], "share": each["share"], "left": each["numbers"]["fa"]}
                for each in frames
                if each["who"] == who
            ]
            for who in ("original", "retrain", "finetune")
        },
        "work": _steps(frames, "finetune") / _steps(frames, "retrain"),
    }
    return base64.b64encode(gzip.compress(json.dumps(content).encode(), mtime=0)).decode()


def _steps(frames: list[dict], who: str) -> int:
    return next(each["of"] for each in frames if each["who"] == who)
