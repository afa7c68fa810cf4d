"""What answers a drawing: networks, and the data set's images.

Whatever needs PyTorch is read beside the page, which can be used meanwhile: perceptrons answer
without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

import numpy as np
import streamlit as st

from dashboard import data
from dashboard.frames.draw.network import Network, Perceptron
from dashboard.frames.draw.reading import Album
from mucore import catalog
from mucore.errors import BadValue
from mucore.forget_sets import identity
from mucore.spec import RunSpec

T = TypeVar("T")
# one at a time: two that load PyTorch take as long as one after the other
_READER: Final = ThreadPoolExecutor(1, thread_name_prefix="draw")


def album(spec: dict[str, Any]) -> Album | None:
    """The images of a run's data set; None while they are being read. Raises a `MucoreError` where
    they are not on this machine.
    """
    asked = RunSpec.model_validate(spec)
    pending = _album(asked.dataset, tuple(sorted(asked.recipe.cut().items())))
    return _come(pending, _album)


def network(key: str, spec: dict[str, Any]) -> Network | None:
    """The network of a run, `spec` being its setting; None while it is being made ready. Raises a
    `MucoreError` where its weights are gone.
    """
    weights = data.weights(key)
    if weights is None:
        raise BadValue(
            f"The weights of the run {key} are no longer in the store: they were removed to save "
            "space. Choose another run."
        )
    normalisation = _normalisation(spec)
    if normalisation is None:
        return None
    if spec["model"] == "mlp":
        return Perceptron(weights, normalisation)
    pending = _torch_network(key, spec["dataset"], spec["model"], normalisation, weights)
    return _come(pending, _torch_network)


def _normalisation(spec: dict[str, Any]) -> tuple[float, float] | None:
    """That of the training images, from the data set's card where they are all of them; None while
    they are being read.
    """
    known = catalog.dataset(spec["dataset"]).normalisation
    cut = RunSpec.model_validate(spec).recipe.cut()
    usual = (cut["validation_from"], cut["preprocess"]) == ("training", "mucore")
    if known is not None and not cut["per_class"] and usual:
        return known
    found = album(spec)
    return None if found is None else found.normalisation


def _come(pending: Future[T], made: Any) -> T | None:
    """What has come of it; a failure is raised, and tried again next time."""
    if not pending.done():
        return None
    if pending.exception() is not None:
        made.clear()
    return pending.result()


@st.cache_resource(show_spinner=False, max_entries=4)
def _album(dataset: str, cut: tuple[tuple[str, Any], ...]) -> Future[Album]:
    return _READER.submit(_read_album, dataset, dict(cut))


def _read_album(dataset: str, cut: dict[str, Any]) -> Album:
    from mucore.datasets import load

    splits = load(dataset, download=False, **cut)
    train, test = (
        (part.ids.numpy(), part.labels.numpy(), part.pixels[:, 0].numpy())
        for part in (splits.train, splits.test)
    )
    return Album(train, test, (splits.mean[0], splits.std[0]), identity.numbers(splits))


@st.cache_resource(show_spinner=False, max_entries=24)
def _torch_network(
    key: str,
    dataset: str,
    model: str,
    normalisation: tuple[float, float],
    _weights: Mapping[str, np.ndarray],
) -> Future[Network]:
    card = catalog.dataset(dataset)
    assert card.shape is not None and card.classes is not None
    return _READER.submit(_build, model, card.classes, card.shape[1], normalisation, _weights)


def _build(
    model: str,
    classes: int,
    size: int,
    normalisation: tuple[float, float],
    weights: Mapping[str, np.ndarray],
) -> Network:
    import torch

    from mucore.engine.features import features_and_logits
    from mucore.models import build

    made = build(model, in_channels=1, classes=classes, image_size=size, seed=0).eval()
    made.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})
    mean, std = normalisation

    def ask(images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with torch.inference_mode():
            x = (torch.from_numpy(images)[:, None].float() / 255 - mean) / std
            features, logits = features_and_logits(made, x)
        return logits.numpy(), features.numpy()

    return ask
