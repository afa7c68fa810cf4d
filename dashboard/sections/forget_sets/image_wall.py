"""Forget sets: images as buttons. Those of the set are framed; a click, or Enter on the one in
focus, takes a sample in or out.

Clicks are shown at once and sent together once they pause, so that ten clicks do not draw the page
ten times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
import streamlit as st

from dashboard import state, theme
from dashboard.charts import image_wall
from dashboard.widgets.training_set import Training, pictures

PAGE: Final = 60  # images at once

_CSS: Final = """
.wall { display: grid; grid-template-columns: repeat(auto-fill, minmax(max(46px, 10.5%), 1fr)); gap: 4px; }
.wall button {
  aspect-ratio: 1; padding: 0; border: 1px solid var(--grid); border-radius: 3px; cursor: pointer; position: relative;
  background-repeat: no-repeat; image-rendering: pixelated; box-sizing: border-box;
}
.wall button:hover { border-color: var(--text); }
.wall button:focus-visible { outline: 2px solid var(--primary); outline-offset: 1px; }
.wall button[aria-pressed="true"] { border: 4px solid var(--strong); }
.wall button[aria-pressed="true"]::after {
  content: ""; position: absolute; top: 0; right: 0; border: 7px solid transparent; border-top-color: var(--strong);
  border-right-color: var(--strong);
}
"""

_JS: Final = """
export default function ({ data, parentElement, setTriggerValue }) {
  const wall = parentElement.querySelector(".wall");
  const waiting = (wall.waiting ??= new Set());
  for (const [name, color] of Object.entries(data.colors)) wall.style.setProperty(`--${name}`, color);
  wall.setAttribute("aria-label", data.label);
  const { url, across, down } = data.sheet;
  const show = (button, pressed) => button.setAttribute("aria-pressed", String(pressed));
  const place = (number, of) => (of > 1 ? `${(100 * number) / (of - 1)}%` : "0%");
  wall.replaceChildren(
    ...data.cells.map(({ id, text, chosen }, number) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = text;
      button.setAttribute("aria-label", text);
      button.dataset.sample = id;
      button.style.backgroundImage = `url(${url})`;
      button.style.backgroundSize = `${100 * across}% ${100 * down}%`;
      button.style.backgroundPosition = `${place(number % across, across)} ${place(Math.floor(number / across), down)}`;
      show(button, chosen !== waiting.has(id));
      button.onclick = () => {
        if (!waiting.delete(id)) waiting.add(id);
        show(button, chosen !== waiting.has(id));
        clearTimeout(wall.timer);
        wall.timer = setTimeout(() => {
          const clicked = [...waiting];
          waiting.clear();
          if (clicked.length) setTriggerValue("clicked", clicked);
        }, 450);
      };
      return button;
    }),
  );
}
"""


def show(
    training: Training,
    ids: Sequence[int],
    chosen: np.ndarray,
    key: str,
    on_click: Callable[[list[int]], None],
) -> None:
    """Images of `ids`, at most `PAGE` of them; those in `chosen` are framed. `on_click` gets the
    samples that a reader clicked.
    """
    ids = [int(each) for each in ids]
    found = image_wall.sheet(pictures(training, ids))
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
        on_clicked_change=lambda: on_click(_clicked(state.uploaded(key))),
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
    asked = state.param(name, "1")
    if not asked.isdecimal() or not 1 <= int(asked) <= pages:
        state.set_param(name, None)
    number = int(
        state.number(f"Page of {pages}", name, default=1, min_value=1, max_value=pages, step=1)
    )
    return slice((number - 1) * PAGE, number * PAGE)
