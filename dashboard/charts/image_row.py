"""A row of images with what each model says below them; answers that an attacker wants stand
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, classes, picture_rows, pictures

IMAGE = 96  # pixels of height
LINE = 24
LONGEST = 13  # characters of a class name that fit below an image
NAMES: Final = {"true": "True label", "taught": "Attacker's label"}


def draw(told: pd.DataFrame, images: np.ndarray, names: Sequence[str], *, dark: bool) -> go.Figure:
    """`images` (n, h, w, c) uint8 with 1 or 3 channels; `told` by sample number the class `true`,
    the one that the attacker `taught`, and a column of answers a model; `names` of the classes, if
    any. A line of text below the images for each column; heights in pixels.
    """
    look = theme.ground(dark)
    fooled = theme.family_style("gradient_ascent").color(dark)
    figure = axes.figure(dark=dark)
    for number, pixels in enumerate(images):
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
    for row, column in enumerate(told):
        y, name = -(IMAGE + LINE * (row + 0.5)), NAMES.get(column, column)
        quiet = column in NAMES
        wrong = (told[column] != told["true"]) & (not quiet)
        won = wrong & (told[column] == told["taught"])
        said = [classes.name(names, label) for label in told[column]]
        axes.write(figure, name, look.muted if quiet else look.text, x=-0.6, y=y, xanchor="right")
        figure.add_trace(
            picture_rows.words(
                [
                    _styled(classes.short(text, LONGEST), *how)
                    for text, *how in zip(said, wrong, won, strict=True)
                ],
                y,
                colors=[
                    fooled if by else look.muted if quiet or miss else look.text
                    for miss, by in zip(wrong, won, strict=True)
                ],
                size=12,
                name=name,
                customdata=[
                    [f"{name}: {text}, sample {each}"]
                    for text, each in zip(said, told.index, strict=True)
                ],
                hovertemplate="%{customdata[0]}<extra></extra>",
            )
        )
    height = IMAGE + LINE * len(told.columns)
    picture_rows.frame(figure, across=(-2.4, max(len(images), 6) - 0.4), height=height)
    return figure


def _styled(text: str, wrong: bool, won: bool) -> str:
    return f"<b>{text}</b>" if won else f"<i>{text}</i>" if wrong else text


def alt_text(told: pd.DataFrame) -> str:
    """The row in words: for each model, how many of the images fool it."""
    models = told.drop(columns=["true", "taught"])
    right, won = (models.eq(told[name], axis=0).sum() for name in ("true", "taught"))
    parts = [
        f"{name} is right on {right[name]} and gives the attacker's label on {won[name]}"
        for name in models
    ]
    return f"{len(told)} attacked images. {'; '.join(parts)}."
