"""What a lesson's step shows of its runs: figures, images, what they found, or why there is nothing
yet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import access, assets, data, state, theme
from dashboard.charts import lesson_dots, lesson_scatter
from dashboard.charts.parts import classes
from dashboard.lessons.records import Figure, Step
from dashboard.lessons.results import Entry, LessonResults, plain_name
from dashboard.lessons.values import Reading
from dashboard.text import units, verdicts
from dashboard.widgets import clicks, course, figures, pictures, presenting
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.errors import MucoreError
from mucore.runner.plan import Plan
from mucore.runs import REFERENCES

IMAGES: Final = 8
BAND: Final = "Grey: spread of Retrain over random seeds."
LARGER: Final = 4  # pixels of the screen for a pixel of the small images that move
# what stands above the images of a split, before and after they change
MOVING: Final = {
    "forget": (
        "Training images that somebody wants removed.",
        "The images are deleted, but the model has not changed. It still says:",
    ),
    "triggered": (
        "What the images show.",
        "The same images with a patch. What the model says now:",
    ),
}


def show_missing(plan: Plan, results: LessonResults) -> None:
    """Why the step has no figure yet."""
    if results.demo:
        said = "The demo lacks numbers of this step."
        if not plan.to_run:
            said += " Choose your own results at the top."
    elif plan.to_run:
        whose = "you have" if access.presents() else "the presenter has"
        said = f"The figure comes once {whose} run this story."
    else:
        said = "These runs lack a number of this step. `python -m mucore remeasure` adds it."
    st.info(said, icon=":material/info:")


def show_outcome(step: Step, name: str, results: LessonResults) -> None:
    entries = [one for one in results.entries if one.scenario in step.scenarios]
    mine = "Your results" if access.presents() else "The presenter's results"
    whose = "The demo's results" if results.demo else mine
    st.caption(f":material/science: {whose}: {setting(entries[0])}")
    see = f"{step.see} {BAND}" if any(results.apart.values()) else step.see
    st.markdown(f":material/visibility: *{see}*")
    course.above(next(iter(Reading(results, step.guess).sentences(step)), ""), see)
    for number, figure in enumerate(step.figures):
        show_figure(figure, f"{name}:{number}", step, results)
    with presenting.slide(f"{name}:said"):
        show_said(step, results)
        if see == step.see:
            st.caption(by_chance(min(one.forget_count for one in entries)))


def show_said(step: Step, results: LessonResults) -> None:
    """What the results are, the verdicts on the methods, and what to make of it."""
    if sentences := Reading(results, step.guess).sentences(step):
        with st.container(border=True):
            st.markdown("  \n".join(map(escape, sentences)))
    for where, named in judgements(step, results).items():
        words = " · ".join(f"{title} {verdicts.label(each)}" for title, each in named.items())
        st.markdown(f"**Verdicts** ({where}): {words}")
    st.markdown(step.say)


def judgements(step: Step, results: LessonResults) -> dict[str, dict[str, verdicts.Verdict]]:
    """By scenario and title, the verdicts on the methods that a step shows over all their runs;
    none where it is not the place for them.
    """
    found = {
        catalog.scenario(scenario).title: {
            one.title: one.verdict
            for one in results.methods(scenario)
            if one.method in step.methods and one.verdict is not None
        }
        for scenario in (step.scenarios if step.judged else ())
    }
    return {title: named for title, named in found.items() if named}


def setting(entry: Entry) -> str:
    """On which images the runs rest, and which class is meant."""
    spec, parameters = entry.spec, entry.spec["scenario_parameters"]
    network = catalog.model(str(spec["model"])).title
    names = catalog.dataset(str(spec["dataset"])).class_names
    one = [parameters[name] for name in ("class_id", "target") if name in parameters]
    chosen = ", ".join(names[each] for each in parameters.get("class_ids") or one if names)
    meant = f"; class: {chosen}" if chosen else ""
    return f"{plain_name(str(spec['dataset']))}; network: {network}{meant}."


def by_chance(count: int) -> str:
    """How far a share of `count` images moves by chance: twice its standard error, at most one over
    the root of the count.
    """
    points = units.count(math.ceil(100 / math.sqrt(max(count, 1))), "point")
    images = units.count(count, "forgotten image")
    return f"{images}, each model trained once: up to {points} of difference can be chance."


def show_figure(figure: Figure, name: str, step: Step, results: LessonResults) -> None:
    if figure.kind == "pictures":
        show_pictures(figure, name, results)
        return
    made, alt = drawn(figure, step, results, dark=state.dark())
    if figure.kind == "dots":
        narrow, _ = drawn(figure, step, results, dark=state.dark(), stacked=True)
        clicks.stacking(made, narrow, name, alt=alt)
    else:
        figures.chart(made, name, alt=alt)
    figures.numbers(numbers(figure, results), name.replace(":", "-"), made)


def drawn(
    figure: Figure, step: Step, results: LessonResults, *, dark: bool, stacked: bool = False
) -> tuple[go.Figure, str]:
    """A figure with its words."""
    if figure.kind == "scatter":
        models, half = lesson_scatter.dots_of(results), results.noise(lesson_scatter.X)
        return lesson_scatter.draw(models, half, dark=dark), lesson_scatter.alt_text(models)
    marks = lesson_dots.lesson_dots_info(results, figure, judged=step.judged)
    return lesson_dots.draw(marks, dark=dark, stacked=stacked), lesson_dots.alt_text(marks)


def numbers(figure: Figure, results: LessonResults) -> pd.DataFrame:
    """What a figure shows, a line a model and scenario: shares in percent, CKA as it is."""
    shown = [
        one
        for one in results.entries
        if one.scenario in figure.scenarios and one.method in (*REFERENCES, *figure.methods)
    ]
    found: dict[str, list[Any]] = {"model": [one.title for one in shown]}
    if len(figure.scenarios) > 1:
        found["forget set"] = [catalog.scenario(one.scenario).title for one in shown]
    for metric in figure.metrics:
        values, title = [one.values.get(metric) for one in shown], lesson_dots.head(metric)
        if figure.kind == "scatter":
            found[title] = values
        else:
            found[f"{title}, %"] = [lesson_dots.percent(each) for each in values]
    return pd.DataFrame(found)


def show_pictures(figure: Figure, name: str, results: LessonResults) -> None:
    """A few of the images and what the models say of them; a sentence where predictions or images
    are not there.
    """
    found = pictured(figure, results)
    if isinstance(found, str):
        st.caption(found)
        return
    rows = [("It is", found.labels), *found.predicted]
    named = [(who, [found.named(label) for label in said]) for who, said in rows]
    off = [
        f"{who} {sum(one != label for one, label in zip(said, found.labels, strict=True))}"
        for who, said in found.predicted
    ]
    alt = f"Wrong on these {len(found.ids)} images: {', '.join(off)}."
    html = assets.template("answers.html.j2").render(
        urls=[picture_url(image) for image in found.images],
        rows=named,
        alt=alt,
        wrong=theme.FATES["damaged"].color(state.dark()),
    )
    with presenting.slide(name, alt=alt):
        st.html(assets.style("answers.css") + html)


def picture_url(image: np.ndarray) -> str:
    return pictures.picture_url(pictures.enlarged(image, LARGER))


@dataclass(frozen=True)
class Pictured:
    """Images of a run, their labels, and what models say of each."""

    spec: Mapping[str, Any]
    ids: list[int]
    images: np.ndarray
    labels: list[int]
    predicted: list[tuple[str, list[int]]]

    def named(self, label: int) -> str:
        """A class."""
        return classes.name(catalog.dataset(str(self.spec["dataset"])).class_names, label)


def pictured(figure: Figure, results: LessonResults) -> Pictured | str:
    """The first images of a split, or why there are none."""
    entries = [results.entry(method, figure.scenarios[0]) for method in figure.methods]
    kept = [
        (entry, found[figure.split])
        for entry in entries
        if entry is not None
        and (found := data.outputs(entry.key)) is not None
        and figure.split in found
    ]
    if not kept:
        return "No images: the predictions of these runs were not kept."
    # Of the triggered images those of the target class tell nothing: the model is right to name it.
    spec, first = kept[0][0].spec, kept[0][1]
    target = spec["scenario_parameters"].get("target") if figure.split == "triggered" else None
    rows = [row for row in range(len(first)) if int(first.labels[row]) != target][:IMAGES]
    ids = [int(first.ids[row]) for row in rows]
    try:
        images = data.images(spec, ids, triggered=figure.split == "triggered")
    except MucoreError as failure:
        return f"No images. {escape(access.shown(str(failure)))}"
    predicted = []
    for entry, split in kept:
        at = {int(sample): row for row, sample in enumerate(split.ids)}
        if all(sample in at for sample in ids):
            said = [int(split.logits[at[sample]].argmax()) for sample in ids]
            predicted.append((entry.title, said))
    return Pictured(spec, ids, images, [int(first.labels[row]) for row in rows], predicted)


def show_moving(figure: Figure, results: LessonResults) -> None:
    """A first look at the story: images as the model met them, and what it says of them now, by
    turns. Nothing where there are no runs to take them from.
    """
    found = pictured(figure, results) if results.entries else ""
    if isinstance(found, str) or not found.predicted:
        return
    poisoned = figure.split == "triggered"
    clean = data.images(found.spec, found.ids) if poisoned else found.images
    ((who, said), *_), (first, second) = found.predicted, MOVING[figure.split]
    tiles = [
        {
            "before": picture_url(before),
            "after": picture_url(after),
            "is": found.named(label),
            "said": found.named(answer),
        }
        for before, after, label, answer in zip(
            clean, found.images, found.labels, said, strict=True
        )
    ]
    right = sum(one == other for one, other in zip(said, found.labels, strict=True))
    told = f"{who}: {right} of these {len(said)} images classified correctly."
    html = assets.template("before_after.html.j2").render(
        tiles=tiles, first=first, second=second, alt=f"{first} {second} {told}", fades=not poisoned
    )
    st.html(assets.style("before_after.css") + html)
    whose = "The demo's results" if results.demo else "These runs"
    st.caption(f":material/science: {whose}, {plain_name(str(found.spec['dataset']))}. {told}")


def show_provenance(results: LessonResults) -> None:
    provenance(data.summaries(keys=[entry.key for entry in results.entries]))
