"""A lesson's pictures: a row of images, and below each what it is and what every model says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from PIL import Image, ImageOps

from dashboard import theme
from dashboard.charts.parts import axes, classes, picture_rows, pictures

SIDE, LINE, SIZE = 84, 24, 13  # pixels of an image, of a line of words, and of their type
LONGEST = 12  # characters of a class name that fit below an image


@dataclass(frozen=True, eq=False)
class LessonPicturesInfo:
    """Images (n, h, w, c) uint8; `lines` are (who, class names, which of them are wrong)."""

    images: np.ndarray
    lines: tuple[tuple[str, tuple[str, ...], tuple[bool, ...]], ...]


def lesson_pictures_info(
    images: np.ndarray,
    true: Sequence[int],
    predicted: Sequence[tuple[str, Sequence[int]]],
    names: Sequence[str] = (),
) -> LessonPicturesInfo:
    """`true` and `predicted` are class numbers, one an image; `names` may be empty: then
    numbers.
    """

    def named(label: int) -> str:
        return classes.short(classes.name(names, label), LONGEST)

    lines = [("It is", tuple(named(label) for label in true), (False,) * len(true))]
    for who, labels in predicted:
        wrong = tuple(int(label) != int(right) for label, right in zip(labels, true, strict=True))
        lines.append((who, tuple(named(int(label)) for label in labels), wrong))
    return LessonPicturesInfo(images, tuple(lines))


def draw(info: LessonPicturesInfo, *, dark: bool) -> go.Figure:
    """Wrong answers are bold and coloured."""
    look = theme.ground(dark)
    wrong = theme.family_style("gradient_ascent").color(dark)
    figure = axes.figure(dark=dark)
    for number, pixels in enumerate(info.images):
        place = {
            "x": number,
            "y": 0,
            "sizex": 0.84,
            "sizey": SIDE - 6,
            "xanchor": "center",
            "yanchor": "top",
        }
        figure.add_layout_image(
            source=_framed(pixels, 2 * SIDE, look.muted), xref="x", yref="y", **place
        )
    for row, (who, texts, errors) in enumerate(info.lines):
        y = -(SIDE + LINE * (row + 0.5))
        axes.write(figure, who, look.muted, size=SIZE, x=-0.6, y=y, xanchor="right")
        figure.add_trace(
            picture_rows.words(
                [
                    f"<b>{text}</b>" if error else text
                    for text, error in zip(texts, errors, strict=True)
                ],
                y,
                colors=[wrong if error else look.text for error in errors],
                size=SIZE,
                hoverinfo="skip",
            )
        )
    height = SIDE + LINE * len(info.lines)
    picture_rows.frame(figure, across=(-2.2, max(len(info.images), 8) - 0.4), height=height)
    return figure


def _framed(pixels: np.ndarray, wanted: int, frame: str) -> Image.Image:
    """The frame keeps a white corner apart from a white page."""
    picture = pictures.at_least(pixels, wanted).convert("RGB")
    return ImageOps.expand(picture, border=3, fill=frame)


def alt_text(info: LessonPicturesInfo) -> str:
    told = [f"{who} is wrong on {sum(errors)}" for who, _, errors in info.lines[1:]]
    return f"{len(info.images)} images: {', '.join(info.lines[0][1])}. {'; '.join(told)}."
