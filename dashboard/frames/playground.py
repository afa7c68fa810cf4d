"""The playground's scenes as the address says them and as the stage draws them.

A draft is a scene as JSON with the id of its preset, None for a scene of one's own making, and by
method the `settings` that differ from the playground's. A visitor may still be choosing, so a draft
need not be a scene that can be played.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np
from pydantic import ValidationError

from dashboard.text import units
from mucore import catalog, points
from mucore.errors import BadValue
from mucore.playground.scene import (
    MOST_METHODS,
    OWN_CLASSES,
    OWN_POINTS,
    PRESETS,
    Pick,
    Scene,
    points_of,
)
from mucore.runs.recipe import first_problem
from mucore.runs.values import resolve

Draft = dict[str, Any]
PARAMETERS: Final = ("preset", "points", "noise", "seed", "own", "forget", "methods", "played")
OPENS_ON: Final = "cluster"  # the preset; it is shipped played
LIMITS: Final = {"points": OWN_POINTS[1], "classes": OWN_CLASSES[1], "noise": points.MOST_NOISE}
# entries of what a browser sends; an address may name points by four digits, of which few are there
_MOST: Final = {"own": OWN_POINTS[1], "forget": 10_000, "methods": MOST_METHODS}
SHAPES: Final = {
    "moons": "Two moons",
    "blobs": "Three clouds",
    "spiral": "Spiral",
    "xor": "Four squares",
    "own": "Your own points",
}
# what the numbers on the stage are called, by their ids in events
MEANINGS: Final = {
    "fa": "Forgotten points correct",
    "ra": "Kept points correct",
    "ta": "New points correct",
}
HELP: Final = "When the picture has focus, arrow keys move from point to point and Enter selects."


def drafted(content: Any) -> Draft:
    """The draft in what a browser sent. Raises `BadValue` where it is anything else."""
    if not isinstance(content, Mapping):
        raise BadValue(f"A scene is a table of its parts, but got {type(content).__name__}.")
    if (preset := content.get("preset")) in [one.id for one in PRESETS]:
        return preset_draft(str(preset))
    named = {name: content[name] for name in Scene.model_fields if name in content}
    for name, most in _MOST.items():
        # before anything is made of it: it is kept for its reader whether it can be played or not
        if isinstance(named.get(name), list) and len(named[name]) > most:
            raise BadValue(
                f"scene: {name} has {most:,} entries at most, but got {len(named[name]):,}."
            )
    methods, settings = named.get("methods"), content.get("settings")
    if isinstance(methods, list):
        given = settings if isinstance(settings, Mapping) else {}
        named["methods"] = [
            {"id": each, "parameters": given.get(each, {}) if isinstance(each, str) else {}}
            for each in methods
        ]
    try:
        scene = Scene.model_validate(named)
    except ValidationError as error:
        raise BadValue(first_problem("scene: ", error)) from None
    return _draft(scene, None)


def preset_draft(preset: str) -> Draft:
    """The scene of a preset, which must be there."""
    found = next(one for one in PRESETS if one.id == preset)
    return _draft(found.scene, preset)


def _draft(scene: Scene, preset: str | None) -> Draft:
    count = len(scene.own) if scene.points == "own" else len(scene.train.labels)
    forget = sorted(each for each in set(scene.forget) if each < count)
    scene = scene.model_copy(update={"forget": tuple(forget)})
    return {
        "preset": preset,
        "points": scene.points,
        "noise": scene.noise,
        "seed": scene.seed,
        "own": [[round(x, 4), round(y, 4), label] for x, y, label in scene.own],
        "forget": forget,
        "methods": [pick.id for pick in scene.methods],
        "settings": {
            pick.id: changed
            for pick in scene.methods
            if pick.parameters and (changed := _changed(scene, pick))
        },
    }


def _changed(scene: Scene, pick: Pick) -> dict[str, Any]:
    """The settings of a method that differ from those it is played with otherwise. Raises a
    `MucoreError` for a value that it does not take.
    """
    card = catalog.method(pick.id)
    usual = scene.usual(card.id)
    found = resolve(card.parameters, {**usual, **pick.parameters}, owner=card.title)
    return {name: value for name, value in found.items() if value != usual[name]}


def usual(draft: Draft, method: str) -> dict[str, Any]:
    """What a method of the draft is played with unless a visitor changes it."""
    return _scene(draft).usual(method)


def kind(draft: Draft) -> str:
    """Which of a method's settings are for its request, "few" or "many"."""
    return _scene(draft).kind


def _scene(draft: Draft) -> Scene:
    """The draft's points and choice, whether it can be played or not."""
    return Scene.model_validate(
        {name: draft[name] for name in Scene.model_fields} | {"methods": ()}
    )


def scene_of(draft: Draft) -> Scene:
    """The scene to play. Raises a `MucoreError` with a sentence where it cannot be."""
    if draft["preset"]:
        return next(one for one in PRESETS if one.id == draft["preset"]).scene
    parts = {name: draft[name] for name in Scene.model_fields}
    settings = draft["settings"]
    picks = [{"id": each, "parameters": settings.get(each, {})} for each in draft["methods"]]
    return Scene.read({**parts, "methods": picks})


def bare(draft: Draft) -> Draft:
    """The same points with nothing to forget."""
    return {**draft, "preset": None, "forget": [], "methods": [], "settings": {}}


def same_points(one: Draft, other: Draft) -> bool:
    return all(one[name] == other[name] for name in ("points", "noise", "seed", "own"))


def points_in(draft: Draft) -> list[list[float]]:
    """The training points [x, y, class] of a draft."""
    if draft["points"] == "own":
        return draft["own"]
    return points_of(Scene(points=draft["points"], noise=draft["noise"], seed=draft["seed"]))


def to_query(draft: Draft, *, played: bool) -> dict[str, str]:
    """The parameters that say a draft in an address, and whether it is played there at once."""
    said = {"played": "1"} if played else {}
    if draft["preset"]:
        return {"preset": draft["preset"], **said}
    own = {"own": packed(draft["own"])} if draft["points"] == "own" else {}
    return {
        "points": draft["points"],
        "noise": f"{draft['noise']:g}",
        "seed": str(draft["seed"]),
        **own,
        "forget": spans(draft["forget"]),
        "methods": ",".join(draft["methods"]),
        **{
            f"{method}.{name}": _said(value)
            for method, changed in draft["settings"].items()
            for name, value in changed.items()
        },
        **said,
    }


def _said(value: Any) -> str:
    """A setting as its field of a form writes it to the address."""
    return str(int(value)) if isinstance(value, bool) else units.plain(value)


def from_query(query: Mapping[str, str]) -> Draft:
    """The draft that an address says, the preset `OPENS_ON` where it says none. Settings stand
    there as METHOD.PARAMETER, as on Launch. Raises a `MucoreError`.
    """
    settings: dict[str, dict[str, str]] = {}
    for place, value in query.items():
        method, dot, name = place.partition(".")
        if dot:
            settings.setdefault(method, {})[name] = value
    if not query.get("points"):
        wanted = query.get("preset")
        known = [one.id for one in PRESETS]
        found = preset_draft(wanted if wanted in known else OPENS_ON)
        mine = {method: settings[method] for method in found["methods"] if method in settings}
        changed = drafted({**found, "preset": None, "settings": mine})
        return changed if changed["settings"] else found
    content: dict[str, Any] = {"points": query["points"]}
    content |= {name: query[name] for name in ("noise", "seed") if query.get(name)}
    if query["points"] == "own":
        content["own"] = unpacked(query.get("own", ""))
    content["forget"] = from_spans(query.get("forget", ""))
    content["methods"] = [each for each in query.get("methods", "").split(",") if each]
    return drafted({**content, "settings": settings})


def spans(ids: Iterable[int]) -> str:
    """Numbers in rising order as people write them: "3,7-9"."""
    runs: list[list[int]] = []
    for each in sorted(set(ids)):
        if runs and each == runs[-1][-1] + 1:
            runs[-1].append(each)
        else:
            runs.append([each])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def from_spans(text: str) -> list[int]:
    """The numbers that `spans` wrote. Raises `BadValue`."""
    found: set[int] = set()
    for part in filter(None, text.split(",")):
        low, dash, high = part.partition("-")
        ends = low, high if dash else low
        # four digits are more than any scene has points
        if not all(end.isascii() and end.isdigit() and len(end) <= 4 for end in ends):
            raise BadValue(f"Points to forget are numbers such as 3,7-9, but got {text[:60]!r}.")
        found |= set(range(int(ends[0]), int(ends[1]) + 1))
    return sorted(found)


def packed(own: Iterable[Iterable[float]]) -> str:
    """Own points [x, y, class] as letters that an address takes, three bytes a point."""
    rows = np.array(list(own), float).reshape(-1, 3)
    places = np.column_stack([points.to_bytes(rows[:, :2]), rows[:, 2].astype(np.uint8)])
    return base64.urlsafe_b64encode(places.tobytes()).decode()


def unpacked(text: str) -> list[list[float]]:
    """The points that `packed` wrote. Raises `BadValue`."""
    try:
        content = base64.b64decode(text, altchars=b"-_", validate=True)
        places = np.frombuffer(content, np.uint8).reshape(-1, 3)
    except (binascii.Error, ValueError):
        raise BadValue(
            "The points drawn by hand in this address are cut off or damaged. Copy the whole "
            "address, or draw them again."
        ) from None
    xy = points.from_bytes(places[:, :2])
    return [[*place, int(label)] for place, label in zip(xy.tolist(), places[:, 2], strict=True)]
