"""Identity: are persons forgotten, and is the model still of use? (MUFAC and MUCAC: NoMUS
tables)
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import nomus_scatter, two_metrics
from dashboard.frames import identity as identity_frames
from dashboard.sections.identity import one_run
from dashboard.sections.identity import table as methods
from dashboard.text import labels
from dashboard.widgets import clicks, figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog

QUESTION = "Are these persons forgotten, and is the model still useful?"
SCENARIOS = tuple(
    card.id for card in catalog.scenarios() if card.id in (catalog.metric("nomus").scenarios or ())
)
EXAMPLE = (
    "python -m mucore run --dataset faces --model mlp --preset quick --scenario identities --set "
    "scenario.count=60 --methods finetune,cf_k,gradient_ascent,advanced_neggrad,scrub"
)


def page() -> None:
    source = data.source()
    top = st.container()
    every = data.summaries()
    runs = every[every["scenario"].isin(SCENARIOS)]
    if runs.empty:
        with top:
            header.header(QUESTION, "The tables of MUFAC and MUCAC.", source)
        show_empty(every.empty)
        return
    runs = run_filters.pick_runs(runs, scenarios=SCENARIOS)
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    first = runs.iloc[0]
    values = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    mine = values[values["key"].isin(runs["key"])]
    judged = data.judged(runs)
    rows = frames.nearest_first(
        frames.metric_rows(runs, mine, identity_frames.METRICS, judged=judged)
    )
    images = int(runs["forget_count"].median())
    with top:
        header.header(QUESTION, how_to_read(runs, images), source)
    if identity_frames.uninformative(rows, images):
        header.answer(
            "The forgetting score cannot detect forgetting here: chance alone reaches "
            f"{identity_frames.by_chance(images):.3f}."
        )
    else:
        header.answer(frames.nearest_sentence(rows))
    header.verdict_bar(rows)
    left, right = st.columns([56, 44], gap="medium")
    with right, st.container(key="beside"):
        table = methods.show(rows, str(first["dataset"]))
    with left:
        figure = draw(rows)
    one_run.show(rows, runs)
    run_drawer.run_drawer(runs)
    figures.numbers(table, f"identity-{first['scenario']}", figure)
    provenance(runs)


def show_empty(nothing: bool) -> None:
    messages.empty(
        ("There are no results yet. " if nothing else "There are no results on persons yet. ")
        + "The drawn faces come with the program and need no licence; a first comparison takes "
        "a few minutes on a laptop.",
        "Launch a comparison",
        "launch",
    )
    st.code(EXAMPLE, language="bash", wrap_lines=True)


def draw(rows: Sequence[frames.Row]) -> go.Figure | None:
    places = two_metrics.places(rows, nomus_scatter.MEASURES)
    if not places:
        st.markdown(
            "No run has a forgetting score yet. It needs ten images of forgotten persons and of "
            "persons that nobody has seen."
        )
        return None
    figure = nomus_scatter.draw(rows, places, dark=state.dark(), selected=state.params("run"))
    clicks.chart(figure, "nomus_scatter", alt=nomus_scatter.alt_text(rows, places))
    return figure


def how_to_read(runs: pd.DataFrame, images: int) -> str:
    return "  \n".join(
        [
            escape(f"{labels.setup_text(runs.iloc[0])}. {images} images of the forgotten persons."),
            "**Forgetting score**: how well an attack tells forgotten persons from unseen ones.",
            f"With {images} images, chance alone reaches {identity_frames.by_chance(images):.3f}.",
            "**NoMUS**: usefulness and forgetting in one number; equal along a line.",
            "`mucore report --scenario identities` writes a request down as evidence.",
        ]
    )


page()
