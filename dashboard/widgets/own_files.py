"""Launch: what a reader's own files hold, checked before anything starts: arrays and images,
weights for the chosen model.

What is checked is what a run would find, by the same code; it loads PyTorch, once a server, and
only where there is such a file.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from dashboard import data
from dashboard.text import units
from dashboard.widgets import uploads
from dashboard.widgets.training_set import stamp, training_of
from mucore import catalog
from mucore.errors import BadFile, MucoreError
from mucore.runs import Recipe, make_recipe
from mucore.userfiles import weights

if TYPE_CHECKING:
    from mucore.datasets import Splits


@dataclass(frozen=True)
class Facts:
    """What a network must fit: images of `channels` and `side` pixels a side, `classes` logits; and
    the training samples, 0 to `samples` less 1, None where that is not known before a run.
    """

    channels: int
    side: int
    classes: int
    samples: int | None


def facts_of(dataset: str, recipe: Recipe) -> Facts | None:
    """Of a catalogued data set by its card, of a reader's own by its files; None where a card
    leaves it open.

    Raises a `MucoreError` that says what is wrong with a file or folder.
    """
    card = catalog.dataset(dataset)
    if card.takes_path:
        try:
            splits = _divided(training_of(dataset).splits, recipe)
        except MucoreError as failure:
            raise BadFile(uploads.named(str(failure), dataset.partition(":")[2])) from None
        channels, side, _ = splits.train.pixels.shape[1:]
        return Facts(channels, side, len(splits.class_names), len(splits.train))
    if card.shape is None or card.classes is None:
        return None
    return Facts(1 if recipe.greyscale else card.shape[0], card.shape[1], card.classes, None)


def _divided(splits: Splits, recipe: Recipe) -> Splits:
    from mucore.datasets.cut import cut

    return cut(splits, **recipe.cut())


def facts_text(facts: Facts) -> str:
    """The facts as a line under the field."""
    images = units.count(facts.samples or 0, "training image")
    channels = "grey" if facts.channels == 1 else "in colour"
    return (
        f"{images} of {facts.side} by {facts.side} pixels, {channels}; "
        f"{units.count(facts.classes, 'class', 'classes')}."
    )


def check_weights(
    text: str, dataset: str, model: str, preset: str, changes: dict[str, Any], facts: Facts
) -> None:
    """Raise `BadFile` or `BadValue` where the weights in a file, or in the store's copy of one, do
    not fit the model on this data, preprocessed as the preset with `changes` has it, which must
    say so where the file does not tell.
    """
    path = str(weights.stored(data.own_store().artifacts, text))
    recipe, said = make_recipe(preset, changes), "preprocess" in changes
    if problem := _misfit(path, stamp(path), dataset, model, recipe.model_dump_json(), facts, said):
        raise BadFile(uploads.named(problem, path))


@st.cache_data(show_spinner="Checking the weights", max_entries=32)
def _misfit(
    path: str,
    changed: tuple[int, ...],
    dataset: str,
    model: str,
    recipe: str,
    facts: Facts,
    said: bool,
) -> str:
    """Why the weights do not fit, "" where they do. What the images say is asked where these are on
    this machine.
    """
    from mucore import datasets, models
    from mucore.engine.data import on_device
    from mucore.models.checkpoint_pixels import recognised, stated
    from mucore.models.checkpoints import preprocess_of

    form = {"in_channels": facts.channels, "classes": facts.classes, "image_size": facts.side}
    network = models.build(model, **form, seed=0)
    try:
        found = models.load_checkpoint(path, network)
        if not said:
            preprocess_of(Path(path))
    except MucoreError as failure:
        return str(failure)
    chosen = Recipe.model_validate_json(recipe)
    with contextlib.suppress(MucoreError):
        splits = datasets.load(dataset, download=False, **chosen.cut())
        samples = on_device(splits, "train", "cpu")
        right = "" if found.preprocess else recognised(network, samples, chosen.preprocess)
        return f"{path} was trained on {stated(right)}." if right else ""
    return ""
