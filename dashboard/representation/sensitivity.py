"""Sensitivity: what a measure depends on, and whether Retrain itself moves when more classes go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard import data, describe, drawer, state, widgets
from dashboard import representation_frames as computed
from dashboard.charts import sensitivity
from dashboard.representation.parts import PAPER, REMEASURE, say
from mucore import catalog


def show(runs: pd.DataFrame, values: pd.DataFrame, everything: pd.DataFrame, split: str) -> None:
    runs = computed.whole_network(runs)
    present = set(runs["method"])
    methods = [card.id for card in catalog.methods() if card.family != "reference" and card.id in present]
    found = {name: computed.varied(runs[runs["method"] == name]) for name in methods}
    able = sorted((name for name in methods if found[name]), key=lambda name: -max(axis.distinct for axis in found[name]))
    st.markdown(
        f"**What does the result depend on?** One line a measure; everything else that varies is held at its most common value. "
        f"({PAPER} Figures 8, 10, 11 and 13)"
    )
    if not able:
        widgets.empty(
            "No method of this selection was run with two values of anything: the number of forgotten classes, the budget, a parameter or "
            "the noise on gradients. For example `python -m mucore run --scenario class_wise --methods pseudo_labels --noise 0,0.001,0.1`.",
            "Launch such runs",
            "launch",
            scenarios="class_wise",
            methods="pseudo_labels",
            noise="0,0.001,0.1",
        )
    else:
        show_lines(runs, values, able, found, split)
    show_counts(everything, runs, split)


def show_lines(
    runs: pd.DataFrame, values: pd.DataFrame, able: Sequence[str], found: Mapping[str, Sequence[computed.Axis]], split: str
) -> None:
    first, second = st.columns(2, gap="small")
    with first:
        method = state.select("Method", "of", able, format_func=lambda name: catalog.method(name).title)
    axes = {axis.name: axis for axis in sorted(found[method], key=lambda axis: -axis.distinct)}
    asked = state.param("over")
    with second:
        axis = axes[state.select("Setting", "over", list(axes), format_func=lambda name: axes[name].title)]
    if asked and asked not in axes:
        st.caption(
            widgets.escape(
                f"No two of these runs of {catalog.method(method).title} differ in {computed.axis_title(asked)}, which the "
                "address asks for. This is what they do differ in."
            )
        )
    own = computed.comparable(runs[runs["method"] == method], axis, found[method])
    knn = computed.KNN if split in computed.SPLITS else f"knn_{split}"
    metrics = ["h_lr", "agl", "agr", knn, f"cka_retrain_{split}", f"cka_original_{split}"]
    table = computed.along(own, values, axis, metrics)
    lines = {computed.metric_title(name): table[table["metric"] == name] for name in metrics}
    retrains = runs[(runs["method"] == "retrain") & runs["scenario_parameters"].isin(own["scenario_parameters"])]
    places = own.drop_duplicates("scenario_parameters").set_index("scenario_parameters")["key"].map(axis.values)
    base = computed.Axis(
        name=axis.name,
        title=axis.title,
        values=dict(zip(retrains["key"], retrains["scenario_parameters"].map(places), strict=True)),
    )
    reference = "Original and Retrain: CKA"
    if axis.name.startswith("forget set"):
        lines[reference] = computed.along(retrains, values, base, [f"cka_original_{split}"])
    names = {value: computed.axis_value(value, axis) for value in set(axis.values.values())}
    info = sensitivity.sensitivity_info(axis.title, lines, names=names, reference=reference)
    if not info.lines:
        widgets.empty(f"These runs have none of H-LR, AGL, AGR and CKA. {REMEASURE}", "Launch such runs", "launch")
        return
    figure = sensitivity.draw(info, dark=state.dark())
    drawer.chart(figure, "sensitivity", alt=sensitivity.alt_text(info))
    absent = [computed.metric_title(name) for name in metrics if not (table["metric"] == name).any()]
    notes = [f"Not measured in these runs: {', '.join(absent)}."] if absent else []
    if (own.groupby(own["key"].map(axis.values))["training_seed"].nunique() < 2).all():
        notes.append("One training seed at each point, so no interval.")
    say(notes)
    widgets.numbers(table.drop(columns="key"), f"sensitivity-{method}", figure)


def show_counts(everything: pd.DataFrame, runs: pd.DataFrame, split: str) -> None:
    """Figure 6: how far Retrain's features move from the original's as more classes go."""
    first = runs.iloc[0]
    alike = everything[
        (everything["dataset"] == first["dataset"])
        & (everything["model"] == first["model"])
        & (everything["recipe"] == first["recipe"])
        & (everything["method"] == "retrain")
        & everything["scenario"].isin(["random_classes", "top_classes"])
    ]
    st.markdown(
        f"**Does Retrain itself move when more classes go?** CKA of original and Retrain on the {computed.where(split)}; where it is "
        f"high, there was little in the features to forget. ({PAPER} Figure 6)"
    )
    lines, names = {}, {}
    for scenario, group in alike.groupby("scenario"):
        axis = next((each for each in computed.varied(group) if each.name == "forget set.n"), None)
        if axis is not None:
            values = data.metric_values(dataset=str(first["dataset"]), scenario=str(scenario))
            lines[describe.scenario_title(str(scenario))] = computed.along(group, values, axis, [f"cka_original_{split}"])
            names |= {value: computed.axis_value(value, axis) for value in axis.values.values()}
    info = sensitivity.sensitivity_info("classes forgotten", lines, names=names)
    if not info.lines:
        command = (
            f"`python -m mucore run --dataset {first['dataset']} --model {first['model']} --scenario random_classes --set scenario.n=2`"
        )
        widgets.empty(
            f"Needs Retrain for two numbers of classes at random or near a downstream set: {command}, and again with another n.",
            "Launch such runs",
            "launch",
        )
        return
    figure = sensitivity.draw(info, dark=state.dark())
    widgets.chart(figure, "counts", alt=sensitivity.alt_text(info))
    widgets.numbers(pd.concat([frame.assign(scenario=name) for name, frame in lines.items()]).drop(columns="key"), "counts", figure)
