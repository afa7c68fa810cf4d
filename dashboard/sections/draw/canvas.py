"""The canvas with what the networks say beside it, one element of the page: while somebody draws,
only this part is computed again, and the browser changes bars and words in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import assets, data, state, theme
from dashboard.frames.draw import image, reading
from dashboard.sections.draw import networks
from dashboard.sections.draw.choose import Three
from dashboard.widgets import messages
from mucore import catalog
from mucore.analysis.features import Split, gone_classes

KEY: Final = "drawing"
KINDS: Final = {"test": "Test images", "forget": "Forget set", "retain": "Retain set"}
HINT: Final = "Draw a digit here"
INVITATION: Final = "Draw a digit, ideally of a forgotten class: which networks recognise it?"
_CSS: Final = assets.text("draw.css")
_JS: Final = assets.text("draw.js")
_HTML: Final = assets.text("draw.html")


@dataclass(frozen=True, eq=False)
class Material:
    """What answers, read once and kept while somebody draws: a stroke then costs no look at the
    store. `gone` are the classes that were forgotten whole; `starts` the images to begin with.
    """

    album: reading.Album
    networks: tuple[reading.Network, ...]
    galleries: Sequence[Split]
    gone: list[int]
    starts: list[dict[str, Any]]


def show(three: Three) -> None:
    """The canvas and its answers."""
    with messages.guarded():
        album = networks.album(three.spec)
        told = data.outputs(three.keys[1])  # Retrain's: Original knows of no request
        gone = [] if told is None else gone_classes(told).tolist()
        names = catalog.dataset(three.spec["dataset"]).class_names
        offered = {} if told is None else reading.starts(album, told, len(names))
        material = Material(
            album,
            tuple(networks.network(key, three.spec, album.normalisation) for key in three.keys),
            data.training_features(three.keys),
            gone,
            [_start(kind, every, album, names, gone) for kind, every in offered.items()],
        )
        st.fragment(_draw)(three, material)


def _draw(three: Three, material: Material) -> None:
    with messages.guarded():
        _canvas(three, material)


def _canvas(three: Three, material: Material) -> None:
    card, gallery = catalog.dataset(three.spec["dataset"]), material.galleries[0]
    message = getattr(state.uploaded(KEY), "drawing", None)
    drawing = image.received(message)
    component = st.components.v2.component("mucore_draw", html=_HTML, css=_CSS, js=_JS)
    component(
        data={
            "names": list(card.class_names),
            "gone": material.gone,
            "titles": list(three.titles),
            "side": image.MAKINGS[card.id].side,
            "grid": image.SIDE,
            "colors": _colors(three),
            "starts": material.starts,
            "answer": None if drawing is None else _answer(drawing, three, material),
            "number": image.number_of(message),
            "hint": HINT,
            "invitation": INVITATION,
        },
        key=KEY,
        on_drawing_change=lambda: None,
    )
    st.caption(
        f"Nearest among {len(gallery.ids):,} of {gallery.total:,} training images (cosine of "
        "features)."
    )


def _answer(drawing: image.Drawing, three: Three, material: Material) -> dict[str, Any]:
    """What the browser shows of a drawing."""
    card = catalog.dataset(three.spec["dataset"])
    seen = image.image_of(drawing, card.id)
    start = material.album.image(drawing.sample)
    itself = drawing.sample if start is not None and np.array_equal(start, seen) else -1
    found = [
        reading.read(network, gallery, seen, itself)
        for network, gallery in zip(material.networks, material.galleries, strict=True)
    ]
    answers = {title: shares for title, (shares, _) in zip(three.titles, found, strict=True)}
    return {
        "number": drawing.number,
        "seen": image.encoded(seen),
        "said": reading.said(answers, card.class_names, material.gone),
        "models": [
            {
                "probabilities": shares.tolist(),
                "neighbours": _neighbours(near, card.class_names, material.album),
            }
            for shares, near in found
        ],
    }


def _neighbours(
    near: pd.DataFrame, names: Sequence[str], album: reading.Album
) -> list[dict[str, Any]]:
    made = []
    for one in near.to_dict("records"):
        pixels = album.image(one["ids"])
        name, where = names[one["labels"]], "in" if one["forgotten"] else "not in"
        made.append(
            {
                "text": f"Training image {album.numbers[one['ids']]}, class {name}, "
                f"cosine {one['cosine']:.2f}, {where} the forget set",
                "name": name,
                "forgotten": bool(one["forgotten"]),
                "pixels": None if pixels is None else image.encoded(pixels),
            }
        )
    return made


def _start(
    kind: str,
    every: list[tuple[int, int]],
    album: reading.Album,
    names: Sequence[str],
    gone: list[int],
) -> dict[str, Any]:
    """Images of a kind to begin with."""
    pictures = []
    for sample, label in every:
        pixels = album.image(sample)
        assert pixels is not None
        pictures.append(
            {
                "id": sample,
                "text": f"{KINDS[kind]}: image {album.numbers[sample]}, class {names[label]}",
                "pixels": image.encoded(pixels),
                "gone": label in gone,
            }
        )
    return {"title": KINDS[kind], "images": pictures}


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
