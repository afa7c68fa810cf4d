"""What answers a drawing: networks, and the data set's images. Both need PyTorch, and are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from dashboard import data
from dashboard.frames.draw.reading import Album, Network
from mucore import catalog
from mucore.errors import BadValue
from mucore.forget_sets import identity
from mucore.runs import stored_spec

LOADING = "Loading the networks: a few seconds, once"


def album(spec: dict[str, Any]) -> Album:
    """The images of a run's data set. Raises a `MucoreError` where they are not on this machine."""
    asked = stored_spec(spec)
    return _album(asked.dataset, tuple(sorted(asked.recipe.cut().items())))


@st.cache_resource(show_spinner=LOADING, max_entries=4)
def _album(dataset: str, cut: tuple[tuple[str, Any], ...]) -> Album:
    from mucore.datasets import load

    splits = load(dataset, download=False, **dict(cut))
    train, test = (
        (part.ids.numpy(), part.labels.numpy(), part.pixels[:, 0].numpy())
        for part in (splits.train, splits.test)
    )
    return Album(train, test, (splits.mean[0], splits.std[0]), identity.numbers(splits))


def network(key: str, spec: dict[str, Any], normalisation: tuple[float, float]) -> Network:
    """The network of a run, `spec` being its setting. Raises a `MucoreError` where its weights are
    gone.
    """
    weights = data.weights(key)
    if weights is None:
        raise BadValue(
            f"The weights of the run {key} are no longer in the store: they were removed to save "
            "space. Choose another run."
        )
    return _network(key, spec["dataset"], spec["model"], normalisation, weights)


@st.cache_resource(show_spinner=LOADING, max_entries=24)
def _network(
    key: str,
    dataset: str,
    model: str,
    normalisation: tuple[float, float],
    _weights: Mapping[str, np.ndarray],
) -> Network:
    card = catalog.dataset(dataset)
    assert card.shape is not None and card.classes is not None
    return build(model, card.classes, card.shape[1], normalisation, _weights)


def build(
    model: str,
    classes: int,
    size: int,
    normalisation: tuple[float, float],
    weights: Mapping[str, np.ndarray],
) -> Network:
    import torch

    from mucore import models
    from mucore.engine.features import features_and_logits

    made = models.build(model, in_channels=1, classes=classes, image_size=size, seed=0).eval()
    made.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    mean, std = normalisation

    def ask(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with torch.inference_mode():
            x = (torch.from_numpy(images)[:, None].float() / 255 - mean) / std
            features, logits = features_and_logits(made, x)
        return logits.numpy(), features.numpy()

    return ask
