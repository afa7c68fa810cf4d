"""The canvas with what the networks say beside it, one element of the page: while somebody draws,
only this part is computed again, and the browser changes bars and words in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import streamlit as st

from dashboard import assets, data, state, theme
from dashboard.frames.draw import image, reading
from dashboard.frames.draw.network import Network
from dashboard.sections.draw import networks
from dashboard.sections.draw.choose import Three
from dashboard.widgets import guests, messages
from mucore import catalog
from mucore.analysis.features import Split, gone_classes

KEY: Final = "drawing"
KINDS: Final = {"test": "Test images", "forget": "Forget set", "retain": "Retain set"}
HINTS: Final = {"digit": "Draw a digit here", "fashion": "Draw a piece of clothing here, filled"}
INVITATIONS: Final = {
    "digit": "Draw a digit, ideally of a forgotten class, and see which networks recognise it.",
    "fashion": "The images are photographs of clothes: draw a filled shape, or begin with an "
    "image below.",
}
WAITING: Final = "The networks are being prepared. PyTorch is loading, which takes a few seconds."
READING: Final = "The images are being read. PyTorch is loading, which takes a few seconds."
WAIT: Final = 3.0  # seconds between two looks at what is being read
_CSS: Final = assets.text("draw.css")
_JS: Final = assets.text("draw.js")
_HTML: Final = assets.text("draw.html")


@dataclass(frozen=True, eq=False)
class Material:
    """What answers, read once and kept while somebody draws: a stroke then costs no look at the
    store. `networks`, `album` and `request` are None while they are being read; `gone` are the
    classes that were forgotten whole; `starts` the images to begin with, by kind.
    """

    networks: tuple[Network | None, ...]
    galleries: Sequence[Split]
    gone: list[int]
    album: reading.Album | None
    request: reading.Request | None
    starts: dict[str, list[tuple[int, int]]]

    @property
    def whole(self) -> bool:
        return self.album is not None and None not in self.networks


def show(three: Three) -> None:
    """The canvas and its answers, drawn again while images or networks are on their way."""
    material = _gather(three)
    if material.whole:
        st.fragment(_draw)(three, material)
    else:
        _live(three)


@guests.live(WAIT)
def _live(three: Three) -> None:
    with messages.guarded():
        material = _gather(three)
        if material.whole:
            st.rerun()
        _canvas(three, material)


def _gather(three: Three) -> Material:
    album = networks.album(three.spec)
    galleries = data.training_features(three.keys)
    card = catalog.dataset(three.spec["dataset"])
    told = data.outputs(three.keys[1])  # Retrain's: Original knows of no request
    request = None if album is None or told is None else reading.request_of(album, told)
    return Material(
        tuple(networks.network(key, three.spec) for key in three.keys),
        galleries,
        [] if told is None else gone_classes(told).tolist(),
        album,
        request,
        {}
        if album is None or request is None
        else reading.starts(album, request, len(card.class_names)),
    )


def _draw(three: Three, material: Material) -> None:
    with messages.guarded():
        _canvas(three, material)


def _canvas(three: Three, material: Material) -> None:
    card, gallery = catalog.dataset(three.spec["dataset"]), material.galleries[0]
    wide = "fashion" in card.id
    message = getattr(state.uploaded(KEY), "drawing", None)
    drawing = image.received(message)
    number, page = (image.counted(message, name) for name in ("number", "page"))
    component = st.components.v2.component("mucore_draw", html=_HTML, css=_CSS, js=_JS)
    component(
        data={
            "names": list(card.class_names),
            "gone": material.gone,
            "titles": list(three.titles),
            "side": image.MAKINGS[card.id].side,
            "grid": image.SIDE,
            "wide": wide,
            "colors": _colors(three),
            "starts": _starts(material, card, page),
            "answer": None if drawing is None else _answer(drawing, three, material),
            "number": number,
            "hint": HINTS["fashion" if wide else "digit"],
            "invitation": INVITATIONS["fashion" if wide else "digit"],
            "wait": WAITING,
            "reading": READING,
        },
        key=KEY,
        on_drawing_change=lambda: None,
    )
    st.caption(
        f"Searched for nearest images: {len(gallery.ids):,} of {gallery.total:,} training "
        f"images, {int(gallery.forgotten.sum()):,} of them in the forget set. Near means a "
        "small angle between the features, the numbers before a network's last layer."
    )


def _answer(drawing: image.Drawing, three: Three, material: Material) -> dict[str, Any]:
    """What the browser shows of a drawing; without readings while a network is on its way."""
    card = catalog.dataset(three.spec["dataset"])
    seen = image.image_of(drawing, card.id)
    start = None if material.album is None else material.album.image(drawing.sample)
    same = start is not None and np.array_equal(start[2], seen)
    told: dict[str, Any] = {"number": drawing.number, "seen": image.encoded(seen)}
    if None in material.networks:
        return told
    found = [
        reading.read(title, one, each, seen, drawing.sample if same else -1)
        for title, one, each in zip(
            three.titles, material.networks, material.galleries, strict=True
        )
        if one is not None
    ]
    return told | {
        "said": reading.said(found, card.class_names, material.gone),
        "membership": reading.membership(
            found[0],
            card.class_names,
            sample=_number(material.album, drawing.sample) if same else -1,
            found=start[:2] if same and start is not None else None,
            forgotten=None if material.request is None else material.request.has(drawing.sample),
        ),
        "models": [
            {
                "probabilities": each.probabilities,
                "neighbours": [
                    _neighbour(one, card.class_names, material.album) for one in each.neighbours
                ],
            }
            for each in found
        ],
    }


def _number(album: reading.Album | None, sample: int) -> int | str:
    """What a sample is called; nothing while its data are being read."""
    return "" if album is None else int(album.numbers[sample])


def _neighbour(
    one: reading.Neighbour, names: Sequence[str], album: reading.Album | None
) -> dict[str, Any]:
    picture = None if album is None else album.image(one.id)
    return {
        "text": f"Training image {_number(album, one.id)}, class {names[one.label]}, "
        f"cosine {one.cosine:.2f}, "
        + ("in the forget set" if one.forgotten else "not in the forget set"),
        "name": names[one.label],
        "forgotten": one.forgotten,
        "pixels": None if picture is None else image.encoded(picture[2]),
    }


def _starts(
    material: Material, card: catalog.DatasetCard, page: int
) -> list[dict[str, Any]] | None:
    """The images to begin with, by kind; None while they are being read."""
    if material.album is None:
        return None
    made = []
    for kind, every in material.starts.items():
        pictures = []
        for sample, label in reading.page_of(every, page):
            found = material.album.image(sample)
            assert found is not None
            pictures.append(
                {
                    "id": sample,
                    "text": f"{KINDS[kind]}: image {_number(material.album, sample)}, "
                    f"class {card.class_names[label]}",
                    "pixels": image.encoded(found[2]),
                    "gone": label in material.gone,
                }
            )
        made.append({"title": KINDS[kind], "images": pictures})
    return made


def _colors(three: Three) -> dict[str, Any]:
    dark = state.dark()
    look = theme.ground(dark)
    family = catalog.method(three.method).family
    return {
        "models": [look.muted, look.primary, theme.family_style(family).color(dark)],
        "grid": look.grid,
        "text": look.text,
        "muted": look.muted,
        "panel": look.panel,
        "primary": look.primary,
        "strong": theme.family_style("gradient_ascent").color(dark),
    }
