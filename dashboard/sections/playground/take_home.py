"""What a visitor takes home of the playground: the pictures at the moment that is shown, the
numbers behind them, what was played, and the address that opens the same.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final
from urllib.parse import urlencode

from dashboard import playroom, state
from dashboard.charts import decision_fields
from dashboard.charts.decision_fields import Field
from dashboard.frames import playground as frames
from dashboard.frames import playground_events
from dashboard.frames.playground_events import Look
from dashboard.report import Block, Facts, Picture, Section, Table, Text
from dashboard.text import labels, units
from dashboard.widgets import stage, take_home
from mucore import catalog
from mucore.playground.scene import MODEL, PRESETS

PATIENCE: Final = 30.0  # seconds for a scene that is not at its end
BESIDE: Final = ", which is how far test points lie from those that were drawn"
Events = Sequence[Mapping[str, Any]]


def offer() -> None:
    """The file of this page is what its stage shows when the button is pressed."""
    now, dark = stage.showing(), state.dark()
    page = state.link_back().partition("?")[0]
    take_home.instead(partial(made, now, dark=dark), partial(address, now, page))


def address(now: stage.Showing, page: str) -> str:
    """The one that opens what is shown."""
    return f"{page}?{urlencode(frames.to_query(now.scene, played=now.played))}"


def made(now: stage.Showing, asked: Mapping[str, str], *, dark: bool) -> list[Section]:
    return sections(now.scene, events_of(now), moment_of(asked), dark=dark)


def moment_of(asked: Mapping[str, str]) -> float:
    """The share of the methods' work that is done where the player stands: all of it where it is
    not said.
    """
    try:
        moment = float(asked.get("moment", 1.0))
    except ValueError:
        return 1.0
    return moment if 0 <= moment <= 1 else 1.0


def events_of(now: stage.Showing) -> Events:
    """All that happened in the scene that is shown, played again where the room has let it go."""
    if not now.ticket:
        return []
    room, ticket = playroom.room(), now.ticket
    if not room.knows(ticket):
        scene = now.scene if now.played else frames.bare(now.scene)
        # under a name of its own: of two files, each would end the scene of the other
        ticket = room.submit(frames.scene_of(scene), f"at home {secrets.token_hex(8)}")
    events, ends = room.events(ticket), time.monotonic() + PATIENCE
    while not (events and events[-1]["kind"] == "end") and time.monotonic() < ends:
        time.sleep(0.1)
        events = room.events(ticket)
    return events


def sections(scene: frames.Draft, events: Events, moment: float, *, dark: bool) -> list[Section]:
    looks = playground_events.looks(events, moment)
    found = [Section("What was played", tuple(_scene(scene)))]
    found.append(Section("Pictures", tuple(_pictures(scene, looks, dark=dark))))
    methods = [look for look in looks if look.who not in playground_events.REFERENCES]
    blocks: list[Block] = []
    if looks:
        caption = "Each model where the pictures show it"
        blocks = [Table(caption, playground_events.table(looks), wide=True)]
        blocks.append(Facts(tuple((name, text) for _, name, text in frames.MEANINGS)))
        blocks += [Text(f"{look.title}: {look.error}") for look in looks if look.error]
    if methods:
        running = playground_events.running(events)
        blocks.append(Table("The methods, frame by frame", running, wide=True))
    blocks += [
        Text(each["sentence"]) for each in events if each["kind"] == "error" and not each["who"]
    ]
    return [*found, Section("Numbers", tuple(blocks))] if blocks else found


def _scene(scene: frames.Draft) -> list[Block]:
    count, forget = len(frames.points_in(scene)), scene["forget"]
    drawn = scene["points"] != "own"
    facts = [
        ("Data", frames.SHAPES[scene["points"]]),
        ("Training points", str(count)),
        ("Noise", f"{scene['noise']:g}{'' if drawn else BESIDE}"),
        ("Seed", str(scene["seed"])),
        ("Network", catalog.model(MODEL).title),
        (
            "To forget",
            f"{units.count(len(forget), 'point')} of {count}, by number: {frames.spans(forget)}"
            if forget
            else "nothing yet",
        ),
    ]
    for method in scene["methods"]:
        mine, usual = scene["settings"].get(method, {}), frames.usual(scene, method)
        facts.append((catalog.method(method).title, labels.settings_text({**usual, **mine})))
        if mine:
            before = {name: usual[name] for name in mine}
            facts.append(
                (
                    "Changed",
                    f"{labels.settings_text(mine)}; usual here: {labels.settings_text(before)}",
                )
            )
    taught = [one.sentence for one in PRESETS if one.id == scene["preset"]]
    return [*(Text(each) for each in taught), Facts(tuple(facts))]


def _pictures(scene: frames.Draft, looks: Sequence[Look], *, dark: bool) -> list[Block]:
    """Original beside Retrain, and each method beside its difference from Retrain."""
    there = {look.who: look for look in looks if not look.error}
    first, base = there.get("original"), there.get("retrain")
    rows: list[tuple[str, tuple[Field, ...], str]] = [
        (
            "original",
            tuple(
                Field(playground_events.title(who), look.grid if look else None)
                for who, look in (("original", first), ("retrain", base))
                if look or who == "original"
            ),
            "Original learned from all points, Retrain from those that stay."
            if base
            else "Original learned from all points.",
        )
    ]
    for who, look in there.items():
        if who in playground_events.REFERENCES or base is None:
            continue
        when = "at its end" if look.last else f"after {look.step} of {look.of} steps"
        pair = Field(look.title, look.grid), Field("Difference from Retrain", look.grid, base.grid)
        rows.append((who, pair, f"{look.title} {when}, and where it differs from Retrain."))
    points, blocks = frames.points_in(scene), []
    for who, fields, sentence in rows:
        info = decision_fields.decision_fields_info(fields, points, scene["forget"])
        figure = decision_fields.draw(info, dark=dark)
        alt = decision_fields.alt_text(info)
        heading = " and ".join(field.title for field in fields)
        blocks.append(Picture(who.replace("_", "-"), heading, sentence, figure, alt))
    return [*blocks, Text(frames.LEGEND)]
