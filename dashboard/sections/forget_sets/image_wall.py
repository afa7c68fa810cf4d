"""Forget sets: images as buttons. Those of the set are framed; a click, or Enter on the one in
focus, takes a sample in or out.

Clicks are shown at once and sent together once they pause, so that ten clicks do not draw the page
ten times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import streamlit as st

from dashboard import assets, state, theme
from dashboard.charts.parts.pictures import sheet
from dashboard.sections.forget_sets import working_set
from dashboard.widgets.training_set import Training, pictures

PAGE: Final = 60  # images at once

_CSS: Final = assets.text("image_wall.css")

_JS: Final = assets.text("image_wall.js")


def show(training: Training, ids: Sequence[int], chosen: np.ndarray, key: str) -> None:
    """Images of `ids`, at most `PAGE` of them; those in `chosen`, the set in hand, are framed."""
    found = sheet(pictures(training, ids))
    look = theme.ground(state.dark())
    inside = set(np.intersect1d(ids, chosen).tolist())
    cells = [
        {
            "id": each,
            "text": f"Sample {each}, {text}{', in the set' if each in inside else ''}",
            "chosen": each in inside,
        }
        for each, text in zip(ids, training.label_texts(ids), strict=True)
    ]
    component = st.components.v2.component(
        "mucore_image_wall", html='<div class="wall" role="group"></div>', css=_CSS, js=_JS
    )
    component(
        data={
            "sheet": {"url": found.url, "across": found.across, "down": found.down},
            "cells": cells,
            "label": f"{len(ids)} images, {len(inside)} of them in the set; click to change",
            "colors": {
                "grid": look.grid,
                "text": look.text,
                "primary": look.primary,
                "strong": theme.family_style("gradient_ascent").color(state.dark()),
            },
        },
        key=key,
        on_clicked_change=lambda: working_set.toggle(training, _clicked(state.uploaded(key))),
    )


def _clicked(event: object) -> list[int]:
    """The ids in what the browser sent; nothing where it is anything else."""
    found = getattr(event, "clicked", None)
    return [each for each in found if isinstance(each, int)] if isinstance(found, list) else []


def pick_page(count: int, name: str) -> slice:
    """Which of `count` images are shown: parameter `name`, a page of `PAGE` from 1; a field where
    there is more than one page.
    """
    pages = max(1, -(-count // PAGE))
    if pages == 1:
        return slice(0, PAGE)
    number = int(
        state.number(f"Page of {pages}", name, default=1, min_value=1, max_value=pages, step=1)
    )
    return slice((number - 1) * PAGE, number * PAGE)
