"""Forget sets: losses of an original on every training sample, where a run of the reader's kept its
predictions on all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dashboard import data, state
from dashboard.sections.forget_sets.links import to_launch
from dashboard.text import labels
from dashboard.widgets.training_set import Training
from mucore import catalog, titles
from mucore.outputs import cross_entropy


@dataclass(frozen=True, eq=False)
class Losses:
    """`values` (n,) in the order of the training samples, under the original that `title` names."""

    title: str
    values: np.ndarray


def pick(training: Training, scenario: str) -> Losses | None:
    """The losses under an original that the reader chose; None, with the reason and a way out on
    the page, where there are none.
    """
    titles = _originals(training)
    if titles:
        key = state.select(
            "By the losses of", "original", list(titles), format_func=titles.__getitem__
        )
        values = _values(training, key)
        if values is not None:
            return Losses(titles[key], values)
        st.markdown(
            "The predictions kept of this original cover only part of the training samples, so "
            "they cannot put all of them in order."
        )
    else:
        st.markdown(
            "This scenario orders samples by their losses under the trained original, and no run "
            "kept those of this data set. If you choose it where runs are launched, the original "
            "is trained first."
        )
    to_launch(training.dataset, "Choose it on the Launch page", scenarios=[scenario])
    return None


def _originals(training: Training) -> dict[str, str]:
    """Originals of this data set, trained on true labels, whose predictions were kept: a title by
    the key of a run, one each model.
    """
    runs = data.summaries()
    if runs.empty:
        return {}
    clean = [card.id for card in catalog.scenarios() if not card.poisons]
    chosen = (
        (runs["method"] == "original")
        & (runs["dataset"] == training.dataset)
        & runs["scenario"].isin(clean)
    )
    runs = runs[chosen & runs["key"].isin(data.predicted())].drop_duplicates(
        ["model", "recipe", "training_seed"]
    )
    return {
        str(line["key"]): (
            f"{titles.model(str(line['model']))}, {labels.recipe_text(str(line['recipe']))}, "
            f"training seed {line['training_seed']}"
        )
        for _, line in runs.iterrows()
    }


def _values(training: Training, key: str) -> np.ndarray | None:
    outputs, result = data.outputs(key), data.result(key)
    if outputs is None or result is None or result.spec.get("data_hash", "") != training.data_hash:
        return None
    kept = [outputs[name] for name in ("train", "forget", "retain") if name in outputs]
    ids = np.concatenate([part.ids for part in kept]) if kept else np.empty(0, np.int64)
    if not np.array_equal(np.sort(ids), training.internal):
        return None
    found = np.concatenate([cross_entropy(part.logits, part.labels) for part in kept])
    return found[np.argsort(ids)]
