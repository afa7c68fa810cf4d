"""Sensitivity: what a measure depends on, and whether Retrain itself moves when more classes go."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import sensitivity
from dashboard.charts.parts import noise
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import PAPER, REMEASURE, paper_toggle, say
from dashboard.text import labels
from dashboard.widgets import clicks, figures, messages
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.statistics import SETUP

GREY = f"{noise.SAID} Agreements have none: they are the same for every Retrain."
SHARE = "classes forgotten, % of all classes"
_COUNT = "forget set.n"
_AS_SHARE = (
    "So that both can stand in one figure, the number of classes is a share of all "
    "classes: the paper forgets 100 to 300 of 1,000."
)


def show(runs: pd.DataFrame, values: pd.DataFrame, everything: pd.DataFrame, split: str) -> None:
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
    st.markdown(
        "**What does the result depend on?** One line a measure; everything else that varies is "
        f"held at its most common value. ({PAPER} Figures 8, 10, 11 and 13)"
    )
    paper = paper_toggle("over 100, 200 and 300 classes forgotten")
    if not able:
        messages.empty(
            "No method of this selection was run with two values of anything: the number of "
            "forgotten classes, the budget, a parameter or the noise on gradients. For example "
            "`python -m mucore run --scenario class_wise --methods pseudo_labels --noise "
            "0,0.001,0.1`.",
            "Launch such runs",
            "launch",
            scenarios="class_wise",
            methods="pseudo_labels",
            noise="0,0.001,0.1",
        )
    else:
        show_lines(runs, values, able, found, split, paper=paper)
    show_counts(everything, runs, split, paper=paper)


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
    *,
    paper: bool,
) -> None:
    places = st.columns(4, gap="small")
    with places[0]:
        method = state.select(
            "Method", "of", able, format_func=lambda name: labels.method_names(name)[0]
        )
    kinds = {labels.short_id(kind): kind for kind in found[method]}
    with places[2]:  # drawn before the settings, which depend on it
        several = len(kinds) > 1
        kind = kinds[
            state.select("Runs with", "kind", list(kinds), format_func=kinds.__getitem__)
            if several
            else next(iter(kinds))
        ]
    axes = {
        axis.name: axis for axis in sorted(found[method][kind], key=lambda axis: -axis.distinct)
    }
    asked = state.param("over")
    with places[1]:
        axis = axes[
            state.select("Setting", "over", list(axes), format_func=lambda name: axes[name].title)
        ]
    if asked and asked not in axes:
        st.caption(
            escape(
                f"No two of these runs of {labels.method_names(method)[0]} differ in "
                f"{computed.axis_title(asked)}, which the address asks for. This is what they do "
                "differ in."
            )
        )
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
    names = {value: computed.axis_value(value, axis) for value in set(axis.values.values())}
    notes = [f"Runs with {kind} alone."] if kind and not several else []
    title, ghosts = axis.title, {}
    if paper and axis.name == _COUNT:
        with places[3]:
            ghosts, said = _agreements_of_paper(method, runs)
        notes += said
        if ghosts:
            title, lines, names = SHARE, _as_shares(lines, runs), {}
            notes.append(_AS_SHARE)
    info = sensitivity.sensitivity_info(
        title,
        lines,
        names=names,
        references={name: computed.metric_title(metric) for name, metric in references.items()},
        ghosts=ghosts,
    )
    if all(line.reference for line in info.lines):
        messages.empty(
            f"These runs have none of H-LR, AGL, AGR and CKA. {REMEASURE}",
            "Launch such runs",
            "launch",
        )
        return
    figure = sensitivity.draw(info, dark=state.dark())
    clicks.chart(figure, "sensitivity", alt=sensitivity.alt_text(info))
    absent = [
        computed.metric_title(name) for name in metrics if not (table["metric"] == name).any()
    ]
    notes += [GREY] if info.grey else []
    notes += [f"Not measured in these runs: {', '.join(absent)}."] if absent else []
    if (own.groupby(own["key"].map(axis.values))["training_seed"].nunique() < 2).all():
        notes.append("One training seed at each point, so no interval.")
    say(notes)
    figures.numbers(table.drop(columns="key"), f"sensitivity-{method}", figure)


def _agreements_of_paper(
    method: str, runs: pd.DataFrame
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """The paper's lines of Figure 8 by the titles of ours, for the classes that the reader chooses,
    and what to say about them.
    """
    series = computed.PAPER_SERIES
    usual = "top-OfficeHome" if str(runs.iloc[0]["scenario"]) == "top_classes" else "random"
    chosen = state.select(
        "The paper's classes",
        "paper_set",
        list(series),
        default=usual,
        format_func=series.__getitem__,
    )
    printed = computed.paper_over_counts(method, chosen)
    if not printed:
        return {}, [f"The paper has no {catalog.method(method).title}."]
    note = (
        "The paper's lines are of ImageNet-1K. It prints the agreements for 100 classes; those "
        "for 200 and 300 are computed from its printed accuracies, k-NN accuracies and CKAs "
        "(Tables 9 to 14)."
    )
    return {computed.metric_title(metric): _percent(frame) for metric, frame in printed.items()}, [
        note
    ]


def _percent(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(x=100 * frame["x"] / computed.PAPER_CLASSES)


def _as_shares(lines: Mapping[str, pd.DataFrame], runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Lines over a number of classes as lines over percent of the classes of the data set."""
    classes = catalog.dataset(str(runs.iloc[0]["dataset"])).classes
    return {
        title: frame.assign(x=100 * frame["x"].astype(float) / classes)
        for title, frame in lines.items()
    }


def show_counts(everything: pd.DataFrame, runs: pd.DataFrame, split: str, *, paper: bool) -> None:
    """Figure 6: how far Retrain's features move from the original's as more classes go."""
    first = runs.iloc[0]
    alike = everything[
        everything[list(SETUP)].eq(first[list(SETUP)]).all(axis=1)
        & (everything["method"] == "retrain")
        & everything["scenario"].isin(["random_classes", "top_classes"])
    ]
    st.markdown(
        "**Does Retrain itself move when more classes go?** CKA of original and Retrain on the "
        f"{computed.where(split)}; where it is high, there was little in the features to forget. "
        f"({PAPER} Figure 6)"
    )
    values = data.metric_values(dataset=str(first["dataset"]))
    lines = count_lines(alike, values, f"cka_original_{split}")
    counts = {x for frame in lines.values() for x in frame["x"]}
    if len(counts) < 2:
        command = (
            f"`python -m mucore run --dataset {first['dataset']} --model {first['model']} "
            "--scenario random_classes --set scenario.n=2`"
        )
        messages.empty(
            "Needs Retrain for two numbers of classes at random or near a downstream set: "
            f"{command}, and again with another n.",
            "Launch such runs",
            "launch",
        )
        return
    title, names, ghosts = "classes forgotten", {value: f"{value:g}" for value in counts}, {}
    if paper:
        title, lines, names = SHARE, _as_shares(lines, runs), {}
        originals = computed.paper_originals()
        ghosts = {
            computed.PAPER_SERIES[series]: _percent(frame) for series, frame in originals.items()
        }
    info = sensitivity.sensitivity_info(title, lines, names=names, ghosts=ghosts)
    figure = sensitivity.draw(info, dark=state.dark(), measure="CKA of original and Retrain")
    figures.chart(figure, "counts", alt=sensitivity.alt_text(info))
    if info.grey:
        say([noise.SAID])
    if paper:
        say(
            [
                (
                    "The paper's lines are the rows of the original in Table 14: ImageNet-1K, "
                    "CKA on the downstream set that the classes are near, and for classes at "
                    f"random the mean over its three. {_AS_SHARE}"
                )
            ]
        )
    figures.numbers(
        pd.concat([frame.assign(scenario=name) for name, frame in lines.items()]).drop(
            columns="key"
        ),
        "counts",
        figure,
    )


def count_lines(
    retrains: pd.DataFrame, values: pd.DataFrame, metric: str
) -> dict[str, pd.DataFrame]:
    """A measure of Retrain over the number of classes, a line for each way to choose them: at
    random, or near one downstream set.
    """
    lines = {}
    for scenario, group in retrains.groupby("scenario"):
        told = computed.kinds(group, always=("forget set.downstream",))
        for kind in sorted(set(told.values())):
            mine = group[group["key"].map(told) == kind]
            number = {
                key: float(json.loads(text)["n"])
                for key, text in zip(mine["key"], mine["scenario_parameters"], strict=True)
            }
            axis = computed.Axis(name=_COUNT, title="classes forgotten", values=number)
            line = computed.with_apart(
                computed.along(mine, values, axis, [metric]), mine, values, axis
            )
            if not line.empty:
                lines[", ".join(filter(None, (labels.scenario_title(str(scenario)), kind)))] = line
    return lines
