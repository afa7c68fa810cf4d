"""Playground: points in the plane, a small network that tells them apart, and methods that make it
forget some of them.
"""

from __future__ import annotations

from dashboard.widgets import header, presenting, stage

QUESTION = "What changes in a model when it forgets a point?"
HOW = "  \n".join(
    [
        "A small network has learned to separate these points.",
        "**Retrain**: the same network trained again without the points to forget.",
        "**Colour**: the class it predicts, paler where it is less sure.",
        "**Bars**: the tick is Retrain. Amber: still remembers. Red: lost something else.",
        "Draw your own: click points in the first picture or draw a line around them.",
    ]
)


def page() -> None:
    header.header(QUESTION, HOW)
    with presenting.slide("playground_stage"):
        stage.show()


page()
