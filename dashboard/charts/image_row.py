"""A row of images with what each model says below them; answers that an attacker wants stand
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, classes, picture_rows, pictures

IMAGE = 96  # pixels of height
LINE = 24
LONGEST = 13  # characters of a class name that fit below an image

Kind = Literal["label", "right", "fooled", "wrong"]


@dataclass(frozen=True)
class Answers:
    """One line below the images: who says it, the class names, and how each is to be read."""

    name: str
    texts: tuple[str, ...]
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, eq=False)
class ImageRowInfo:
    """Images (n, h, w, c) uint8 with 1 or 3 channels, their sample ids, and the lines below
    them.
    """

    images: np.ndarray
    ids: tuple[int, ...]
    lines: tuple[Answers, ...]


def image_row_info(
    images: np.ndarray,
    ids: Sequence[int],
    *,
    true: Sequence[int],
    taught: Sequence[int],
    predicted: Sequence[tuple[str, Sequence[int]]],
    names: Sequence[str] = (),
) -> ImageRowInfo:
    """True label, the attacker's label, then each model's answer by class number; `names` are the
    classes' (empty: numbers).
    """

    lines = [
        Answers(
            "True label",
            tuple(classes.name(names, label) for label in true),
            ("label",) * len(true),
        ),
        Answers(
            "Attacker's label",
            tuple(classes.name(names, label) for label in taught),
            ("label",) * len(taught),
        ),
    ]
    for name, answers in predicted:
        kinds = tuple(_kind(*each) for each in zip(answers, true, taught, strict=True))
        lines.append(Answers(name, tuple(classes.name(names, label) for label in answers), kinds))
    return ImageRowInfo(images, tuple(int(each) for each in ids), tuple(lines))


def _kind(answer: int, true: int, taught: int) -> Kind:
    return "right" if answer == true else "fooled" if answer == taught else "wrong"


def draw(info: ImageRowInfo, *, dark: bool) -> go.Figure:
    """Images on top, a line of text for each of the lines; heights in pixels."""
    look = theme.ground(dark)
    colors = {
        "label": look.muted,
        "right": look.text,
        "wrong": look.muted,
        "fooled": theme.family_style("gradient_ascent").color(dark),
    }
    figure = axes.figure(dark=dark)
    for number, pixels in enumerate(info.images):
        figure.add_layout_image(
            source=pictures.at_least(pixels, 2 * IMAGE),
            x=number,
            y=6 - IMAGE,
            xref="x",
            yref="y",
            sizex=0.86,
            sizey=IMAGE - 6,
            xanchor="center",
            yanchor="bottom",
        )
    for row, line in enumerate(info.lines):
        y = -(IMAGE + LINE * (row + 0.5))
        axes.write(
            figure, line.name, look.muted if row < 2 else look.text, x=-0.6, y=y, xanchor="right"
        )
        figure.add_trace(
            picture_rows.words(
                [
                    _styled(classes.short(text, LONGEST), kind)
                    for text, kind in zip(line.texts, line.kinds, strict=True)
                ],
                y,
                colors=[colors[kind] for kind in line.kinds],
                size=12,
                name=line.name,
                customdata=[
                    [f"{line.name}: {text}, sample {each}"]
                    for text, each in zip(line.texts, info.ids, strict=True)
                ],
                hovertemplate="%{customdata[0]}<extra></extra>",
            )
        )
    height = IMAGE + LINE * len(info.lines)
    picture_rows.frame(figure, across=(-2.4, max(len(info.images), 6) - 0.4), height=height)
    return figure


def _styled(text: str, kind: Kind) -> str:
    return {"fooled": f"<b>{text}</b>", "wrong": f"<i>{text}</i>"}.get(kind, text)


def alt_text(info: ImageRowInfo) -> str:
    """The row in words: for each model, how many of the images fool it."""
    parts = [
        (
            f"{line.name} is right on {line.kinds.count('right')} and gives the attacker's label "
            f"on {line.kinds.count('fooled')}"
        )
        for line in info.lines
        if "label" not in line.kinds
    ]
    return (
        f"{len(info.images)} attacked images. {'; '.join(parts)}."
        if len(info.images)
        else "No attacked image."
    )
