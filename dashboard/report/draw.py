"""Draws the figures that a file lists: `python -P draw.py LIST`. A process of its own for
`render.py`, so that a browser that hangs can be ended with all that it started. Imports no module
of ours.
"""

import json
import sys
from pathlib import Path

import plotly.graph_objects as go
import plotly.io as pio


def draw(listed: Path) -> None:
    """`listed` is JSON: `kind` (svg, png or pdf), `width` (pixels), `scale`, and `figures`, each
    with `figure` (as plotly's JSON), `height` (pixels) and `path`. Raises what kaleido raises.
    """
    asked = json.loads(listed.read_text(encoding="utf-8"))
    pio.write_images(
        [go.Figure(each["figure"]) for each in asked["figures"]],
        [Path(each["path"]) for each in asked["figures"]],
        format=asked["kind"],
        width=asked["width"],
        height=[each["height"] for each in asked["figures"]],
        scale=asked["scale"],
    )


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
