"""Sensitivity: what a measure depends on, one line a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import sensitivity
from dashboard.frames import representation as computed
from dashboard.text import labels
from dashboard.widgets import clicks, figures
from mucore import catalog


def show(runs: pd.DataFrame, values: pd.DataFrame, split: str) -> None:
    """Lines over the setting in which most runs of a method differ; nothing where none do."""
    runs = computed.whole_network(runs)
    present = set(runs["method"])
    methods = [
        card.id for card in catalog.methods() if card.family != "reference" and card.id in present
    ]
    found = {name: axes_by_kind(runs[runs["method"] == name]) for name in methods}
    able = sorted(
        (name for name in methods if found[name]),
        key=lambda name: -_most(next(iter(found[name].values()))),
    )
    if able:
        st.markdown("**What the result depends on**")
        show_lines(runs, values, able, found, split)


def axes_by_kind(runs: pd.DataFrame) -> dict[str, tuple[computed.Axis, ...]]:
    """What varies among the runs of one method, separately for each of `computed.kinds`; those in
    which nothing does are left out, the one with most values comes first.
    """
    kinds = runs["key"].map(computed.kinds(runs))
    found = {str(kind): computed.varied(runs[kinds == kind]) for kind in sorted(set(kinds))}
    return {
        kind: found[kind]
        for kind in sorted(found, key=lambda kind: -_most(found[kind]))
        if found[kind]
    }


def _most(axes: Sequence[computed.Axis]) -> int:
    return max((axis.distinct for axis in axes), default=0)


def show_lines(
    runs: pd.DataFrame,
    values: pd.DataFrame,
    able: Sequence[str],
    found: Mapping[str, Mapping[str, Sequence[computed.Axis]]],
    split: str,
) -> None:
    look: dict[str, Any] = {"label_visibility": "collapsed", "width": 230}
    with st.container(horizontal=True, gap="small"):
        method = state.select(
            "Method", "of", able, format_func=lambda name: labels.method_names(name)[0], **look
        )
        kinds = {labels.short_id(kind): kind for kind in found[method]}
        kind = next(iter(kinds.values()))
        if len(kinds) > 1:
            kind = kinds[
                state.select(
                    "Runs with", "kind", list(kinds), format_func=kinds.__getitem__, **look
                )
            ]
        axes = {
            axis.name: axis for axis in sorted(found[method][kind], key=lambda axis: -axis.distinct)
        }
        axis = axes[
            state.select(
                "Setting", "over", list(axes), format_func=lambda name: axes[name].title, **look
            )
        ]
    mine = runs[runs["method"] == method]
    own = computed.comparable(
        mine[mine["key"].map(computed.kinds(mine)) == kind], axis, found[method][kind]
    )
    knn = computed.KNN if split in computed.SPLITS else f"knn_{split}"
    metrics = ["h_lr", "agl", "agr", knn, f"cka_retrain_{split}", f"cka_original_{split}"]
    table = computed.along(own, values, axis, metrics)
    lines = {computed.metric_title(name): table[table["metric"] == name] for name in metrics}
    # agreements and CKA to Retrain are 1 of every Retrain, so it has no line of these
    references = {
        "Original and Retrain: CKA": f"cka_original_{split}",
        f"Retrain: {computed.metric_title(knn)}": knn,
    }
    retrains = runs[runs["method"] == "retrain"]
    for name, metric in references.items():
        lines[name] = computed.retrains_along(retrains, values, own, axis, metric)
    info = sensitivity.sensitivity_info(
        axis.title,
        lines,
        names={value: computed.axis_value(value, axis) for value in set(axis.values.values())},
        references={name: computed.metric_title(metric) for name, metric in references.items()},
    )
    if all(line.reference for line in info.lines):
        st.markdown("These runs have none of H-LR, AGL, AGR and CKA.")
        return
    figure = sensitivity.draw(info, dark=state.dark())
    clicks.chart(figure, "sensitivity", alt=sensitivity.alt_text(info))
    figures.numbers(table.drop(columns="key"), f"sensitivity-{method}", figure, of="this setting")
