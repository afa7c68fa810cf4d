"""What a lesson's step shows of its runs: figures, pictures, the sentences computed from them, or
why there is nothing yet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import access, assets, data, state
from dashboard.charts import lesson_bars, lesson_pairs, lesson_pictures, lesson_scatter
from dashboard.charts.parts import classes, noise
from dashboard.lessons.records import (
    Bars,
    Figure,
    Neighbours,
    Pairs,
    Pictures,
    Played,
    Scatter,
    Step,
    metrics_of,
    numbers_of,
    of_features,
)
from dashboard.lessons.results import Entry, LessonResults, plain_name
from dashboard.sections.lessons.runs import status
from dashboard.text import units, verdicts
from dashboard.widgets import course, figures, pictures, presenting
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.errors import MucoreError
from mucore.runner.plan import Plan

IMAGES = 8
AGAIN = (
    "Grey: where Retrain itself may land by chance, that is, how far apart models lie that were "
    "retrained the same way with different random seeds."
)
LARGER = 4  # pixels of the screen for a pixel of the small images that move


def show_missing(step: Step, plan: Plan, results: LessonResults) -> None:
    """Why the step has no figure yet."""
    if results.demo:
        named = ", ".join(
            [
                *(catalog.metric(metric).short for metric in metrics_of(step)),
                *(["features"] if of_features(step) else []),
            ]
        )
        reason = f"The demo has no runs of this story with the numbers of this step ({named})."
        st.info(f"{reason} {way_there(plan)}", icon=":material/info:")
    elif plan.to_run:
        st.info(way_there(plan), icon=":material/info:")
    else:
        failed = sorted(
            {
                why
                for one in results.entries
                for metric in numbers_of(step)
                if (why := one.reasons.get(metric))
            }
        )
        why = " ".join(failed) or (
            "They were made by an earlier version"
            + ("; python -m mucore remeasure adds what is missing." if access.presents() else ".")
        )
        st.warning(f"The runs lack a number of this step. {escape(why)}", icon=":material/warning:")


def way_there(plan: Plan) -> str:
    """When the figure comes, or what to do for it: guests have no button that runs the story."""
    now = status(plan)
    if now == "ready":  # the demo is shown although the story's own runs are there
        owner = "Yours" if access.presents() else "Presenter's"
        return f"This story has been run here: choose “{owner}” under Results in the side bar."
    if now == "running":
        return "The figure comes as soon as this story's runs are done."
    if access.presents():
        return "The figure comes once this story has run: press the button above."
    return "The figure comes once the presenter has run this story."


def show_outcome(step: Step, name: str, results: LessonResults) -> None:
    scenarios = {scenario for figure in step.figures for scenario in scenarios_of(figure, results)}
    entries = [one for one in results.entries if one.scenario in scenarios]
    mine = "Your results" if access.presents() else "The presenter's results"
    whose = "The demo's results" if results.demo else mine
    st.caption(f":material/science: {whose}: {' '.join(setting(entries[0]))}")
    if step.look:
        st.markdown(f":material/visibility: *{step.look}*")
    sentences = [*step.findings(results), *judgements(step, results)] if step.findings else []
    course.above(sentences[0] if sentences else "", step.look)
    for number, figure in enumerate(step.figures):
        show_figure(figure, f"{name}:{number}", results)
    with presenting.slide(f"{name}:said"):
        if sentences:
            with st.container(border=True):
                st.markdown("  \n".join(escape(sentence) for sentence in sentences))
        if step.after:
            st.markdown(step.after)
        st.caption(by_chance(min(one.forget_count for one in entries)))


def judgements(step: Step, results: LessonResults) -> list[str]:
    """The verdicts on the methods that a step shows, a sentence for each of its scenarios; none
    where it is not the place for them.
    """
    if not step.judged:
        return []
    shown = {
        figure.scenario or results.scenario: figure.methods
        for figure in step.figures
        if isinstance(figure, Bars)
    }
    shown |= {
        scenario: figure.methods
        for figure in step.figures
        if isinstance(figure, Pairs)
        for scenario in figure.scenarios
    }
    said = []
    for scenario, methods in shown.items():
        entries = [one for one in results.methods(scenario) if not methods or one.method in methods]
        named = [(one.title, one.verdict) for one in entries if one.verdict is not None]
        if named:
            where = f"“{catalog.scenario(scenario).title}”. " if len(shown) > 1 else ""
            said.append(f"{where}{verdicts.summary(named)}")
    return said


def setting(entry: Entry) -> list[str]:
    """On which images the runs rest, and which class is meant, as sentences; the first goes on
    after a colon.
    """
    spec = entry.spec
    told = [
        f"{plain_name(str(spec['dataset']))}; network: {catalog.model(str(spec['model'])).title}."
    ]
    names = catalog.dataset(str(spec["dataset"])).class_names
    parameters = spec["scenario_parameters"]
    chosen = parameters.get("class_ids") or [
        parameters[name] for name in ("class_id", "target") if isinstance(parameters.get(name), int)
    ]
    if names and chosen:
        role = (
            "attacker's class"
            if "target" in parameters
            else "class to forget"
            if "class_ids" in parameters
            else "class"
        )
        told.append(f"The {role} is {', '.join(names[each] for each in chosen)}.")
    return told


def by_chance(count: int) -> str:
    """How far a share of `count` images moves by chance: twice its standard error, at most one over
    the root of the count.
    """
    forgotten = f"{units.count(count, 'image')} {'is' if count == 1 else 'are'} to be forgotten"
    points = units.count(math.ceil(100 / math.sqrt(max(count, 1))), "point")
    return (
        f"Each model was trained once, and {forgotten}: a difference of up to {points} in a share "
        "of them can be chance."
    )


def scenarios_of(figure: Figure, results: LessonResults) -> tuple[str, ...]:
    if isinstance(figure, Pairs):
        return figure.scenarios
    return (
        (figure.scenario or results.scenario,)
        if isinstance(figure, Bars | Pictures)
        else (results.scenario,)
    )


def show_figure(figure: Figure, name: str, results: LessonResults) -> None:
    if isinstance(figure, Pictures):
        show_pictures(figure, name, results)
    if isinstance(figure, Pictures | Played):
        return
    made, alt, frame = drawn(figure, results, dark=state.dark(), large=presenting.on())
    place(made, name, alt, frame)
    if noise.drawn(made):
        st.caption(AGAIN)
    if isinstance(figure, Scatter):
        marks = lesson_scatter.lesson_scatter_info(results, figure.split)
        if marks.missing:
            st.caption(f"Not drawn, because a number is missing: {', '.join(marks.missing)}.")


def drawn(
    figure: Bars | Neighbours | Pairs | Scatter,
    results: LessonResults,
    *,
    dark: bool,
    large: bool = False,
) -> tuple[go.Figure, str, pd.DataFrame]:
    """A figure with its words and the numbers behind it. All who read along share them; nobody
    writes to them.
    """
    return _drawn(figure, results, f"{figure} {results}", dark=dark, large=large)


@st.cache_resource(show_spinner=False, max_entries=32)
def _drawn(
    _figure: Bars | Neighbours | Pairs | Scatter,
    _results: LessonResults,
    what: str,
    *,
    dark: bool,
    large: bool,
) -> tuple[go.Figure, str, pd.DataFrame]:
    """`what` says the figure and its results in full: a room asks for the same one at one moment,
    and drawing it keeps a processor busy for a third of a second.
    """
    figure, results = _figure, _results
    if isinstance(figure, Pairs):
        pairs = lesson_pairs.lesson_pairs_info(
            results, figure.metric, figure.scenarios, figure.methods
        )
        made = lesson_pairs.draw(pairs, dark=dark, large=large)
        return made, lesson_pairs.alt_text(pairs), pairs_frame(pairs)
    if isinstance(figure, Scatter):
        marks = lesson_scatter.lesson_scatter_info(results, figure.split)
        made = lesson_scatter.draw(marks, dark=dark, large=large)
        return made, lesson_scatter.alt_text(marks), scatter_frame(marks)
    bars = (
        lesson_bars.lesson_bars_info(results, figure.metrics, figure.methods, figure.scenario)
        if isinstance(figure, Bars)
        else lesson_bars.lesson_bars_info(results, figure.numbers)
    )
    made = lesson_bars.draw(bars, dark=dark, large=large)
    return made, lesson_bars.alt_text(bars), bars_frame(bars)


def place(figure: go.Figure, name: str, alt: str, frame: pd.DataFrame) -> None:
    figures.chart(figure, name, alt=alt)
    figures.numbers(frame, name.replace(":", "-"), figure)


def bars_frame(info: lesson_bars.LessonBarsInfo) -> pd.DataFrame:
    return pd.DataFrame(
        [[bar.title, *bar.values] for bar in info.bars],
        columns=["model", *(f"{head}, %" for head in info.heads)],
    )


def pairs_frame(info: lesson_pairs.LessonPairsInfo) -> pd.DataFrame:
    rows = [
        {"forget set": pair.title, "Original, %": pair.original, "Retrain, %": pair.retrain}
        | {f"{title}, %": value for title, _, value in pair.methods}
        for pair in info.pairs
    ]
    return pd.DataFrame(rows)


def scatter_frame(info: lesson_scatter.LessonScatterInfo) -> pd.DataFrame:
    return pd.DataFrame(
        [[mark.title, mark.x, mark.y] for mark in info.marks],
        columns=["model", "CKA to the original", "CKA to Retrain"],
    )


def show_pictures(figure: Pictures, name: str, results: LessonResults) -> None:
    """A few of the images and what the models say of them; a sentence where predictions or images
    are not there.
    """
    found = pictured(figure, results)
    if isinstance(found, str):
        st.caption(f"The images are not shown{found}")
        return
    names = catalog.dataset(str(found.spec["dataset"])).class_names
    info = lesson_pictures.lesson_pictures_info(found.images, found.labels, found.predicted, names)
    figures.chart(
        lesson_pictures.draw(info, dark=state.dark(), large=presenting.on()),
        name,
        alt=lesson_pictures.alt_text(info),
    )


@dataclass(frozen=True)
class Pictured:
    """Images of a run, their labels, and what models say of each."""

    spec: Mapping[str, Any]
    ids: list[int]
    images: np.ndarray
    labels: list[int]
    predicted: list[tuple[str, list[int]]]


def pictured(figure: Pictures, results: LessonResults) -> Pictured | str:
    """The first images of a split, or how the sentence ends that says why there are none."""
    entries = [
        entry
        for method in figure.methods
        if (entry := results.entry(method, figure.scenario)) is not None
    ]
    kept = [
        (entry, found[figure.split])
        for entry in entries
        if (found := data.outputs(entry.key)) is not None and figure.split in found
    ]
    if not kept:
        way = " Run the story live to see them." if results.demo and access.presents() else ""
        return f": the predictions of these runs were not kept.{way}"
    first = kept[0][1]
    # Of the triggered images those of the target class tell nothing: the model is right to name it.
    spec = kept[0][0].spec
    target = spec["scenario_parameters"].get("target") if figure.split == "triggered" else None
    rows = [row for row in range(len(first)) if int(first.labels[row]) != target][:IMAGES]
    ids = [int(first.ids[row]) for row in rows]
    try:
        images = data.images(spec, ids, triggered=figure.split == "triggered")
    except MucoreError as failure:
        return f". {escape(access.shown(str(failure)))}"
    predicted = []
    for entry, split in kept:
        at = {int(sample): row for row, sample in enumerate(split.ids)}
        if all(sample in at for sample in ids):
            predicted.append(
                (entry.title, [int(split.logits[at[sample]].argmax()) for sample in ids])
            )
    return Pictured(spec, ids, images, [int(first.labels[row]) for row in rows], predicted)


def show_moving(figure: Pictures, results: LessonResults) -> None:
    """A first look at the story: images as the model met them, and what it says of them now, by
    turns. Nothing where there are no runs to take them from.
    """
    found = pictured(figure, results) if results.entries else ""
    if isinstance(found, str) or not found.predicted:
        return
    poisoned = figure.split == "triggered"
    clean = data.images(found.spec, found.ids) if poisoned else found.images
    names = catalog.dataset(str(found.spec["dataset"])).class_names
    said = found.predicted[0][1]
    right = sum(one == other for one, other in zip(said, found.labels, strict=True))
    count = units.count(len(said), "image")
    first, second = (
        ("What the images show.", "The same images with a patch. What the model says now:")
        if poisoned
        else (
            "Training images that somebody wants removed.",
            "They are deleted, but the model has not changed. It still says:",
        )
    )
    tiles = [
        {
            "before": pictures.picture_url(pictures.enlarged(before, LARGER)),
            "after": pictures.picture_url(pictures.enlarged(after, LARGER)),
            "is": classes.short(classes.name(names, label), lesson_pictures.LONGEST),
            "said": classes.short(classes.name(names, answer), lesson_pictures.LONGEST),
        }
        for before, after, label, answer in zip(
            clean, found.images, found.labels, said, strict=True
        )
    ]
    alt = f"{count}. {first} {second} the right class for {right} of them."
    html = assets.template("before_after.html.j2").render(
        tiles=tiles, first=first, second=second, alt=alt, fades=not poisoned
    )
    whose = "The demo's results" if results.demo else "These runs"
    data_set = plain_name(str(found.spec["dataset"]))
    st.html(assets.style("before_after.css") + html)
    st.caption(
        f":material/science: {whose}, {found.predicted[0][0]}: "
        f"right on {right} of these {count}. {data_set[:1].upper()}{data_set[1:]}."
    )


def show_provenance(results: LessonResults) -> None:
    provenance(data.summaries(keys=[entry.key for entry in results.entries]))
