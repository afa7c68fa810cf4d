"""What the lists of jobs share."""

from __future__ import annotations

from typing import Literal

import pandas as pd

SHOWN = 200  # rows of a list of jobs


def height(frame: pd.DataFrame) -> int | Literal["content"]:
    return "content" if len(frame) <= 10 else 400
