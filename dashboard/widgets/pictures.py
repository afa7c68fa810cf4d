"""Images of samples, and what they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image

from dashboard import access, data
from dashboard.charts.parts.pictures import address
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.errors import MucoreError
from mucore.store.records import Result

THUMBNAIL = 64  # pixels, the side of a shown image


def thumbnails(result: Result | None, ids: Sequence[int]) -> dict[int, np.ndarray]:
    """Images by id, enlarged without blur; empty, with a sentence on the page, where the data set
    is not on this machine.
    """
    if result is None or not ids:
        return {}
    try:
        found = data.images(result.spec, ids)
    except MucoreError as failure:
        st.caption(escape(access.shown(f"The images cannot be shown. {failure}")))
        return {}
    factor = max(1, round(THUMBNAIL / found.shape[1]))
    return {each: enlarged(image, factor) for each, image in zip(ids, found, strict=True)}


def enlarged(picture: np.ndarray, factor: int) -> np.ndarray:
    """(h, w, c) uint8 with whole pixels repeated; grey without its channel axis."""
    large = picture.repeat(factor, axis=0).repeat(factor, axis=1)
    return large[..., 0] if large.shape[-1] == 1 else large


def class_name(result: Result, label: Any) -> str:
    """The name of a label, or the names of all attributes that an image has."""
    names = catalog.dataset(result.spec["dataset"]).class_names
    if np.ndim(label):
        return (
            " ".join(names[place] if names else str(place) for place in np.flatnonzero(label))
            or "none"
        )
    return names[int(label)] if names else str(label)


def picture_url(image: np.ndarray | None) -> str:
    """An image as a data address, for a table's cell."""
    return "" if image is None else address(Image.fromarray(image))
