"""A closer look at one run: losses and faces."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import access, data, state
from dashboard.charts import loss_histograms
from dashboard.frames import Row
from dashboard.frames import identity as identity_frames
from dashboard.frames.rows import references
from dashboard.widgets import figures, messages, run_facts
from dashboard.widgets.markdown import escape
from dashboard.widgets.pictures import enlarged
from mucore import catalog
from mucore.errors import MucoreError
from mucore.outputs import Outputs
from mucore.store.rows import Result

FACES = 8
PIXELS = 96


def show(rows: Sequence[Row], runs: pd.DataFrame) -> None:
    """Losses of forgotten and unseen persons, and faces, of the run in the address; where it names
    none, of the method nearest to Retrain among the runs whose predictions were kept.
    """
    st.subheader("A closer look at one run", anchor=False)
    lines = runs.set_index("key")
    keys = {
        key: row.title for row in sorted(rows, key=lambda row: row.reference) for key in row.keys
    }
    predicted = data.predicted()
    first = next((key for key in keys if key in predicted), next(iter(keys)))
    key = state.param("run") if state.param("run") in keys else first
    chosen = f"{keys[key]}, {run_facts.seeds(lines.loc[key])}"
    st.caption(escape(f"{chosen}. Click a mark or a bar above for another run."))
    twins = references(lines, key)
    models = []
    for name, one in (
        (keys[key], key),
        ("Retrain", twins.get("Retrain")),
        ("Original", twins.get("Original")),
    ):
        if (
            one
            and name not in [known for known, _ in models]
            and (content := outputs_of(one)) is not None
        ):
            models.append((name, content))
    if not models or models[0][0] != keys[key]:
        messages.empty(
            "The predictions of this run were not kept, so its losses and faces cannot be shown; "
            "its numbers above stay. Run it again in another home (--home) to see them.",
            "See the results",
            "results",
        )
        return
    show_losses(models)
    result = data.result(key)
    if result is not None:
        show_faces(models, result)


def outputs_of(key: str) -> Outputs | None:
    try:
        return data.outputs(key)
    except MucoreError:
        return None


def show_losses(models: Sequence[tuple[str, Outputs]]) -> None:
    panels = [
        (name, found)
        for name, outputs in models
        if (found := identity_frames.losses(outputs)) is not None
    ]
    if not panels:
        st.markdown(
            "This data set has no images of persons that nobody has seen, or their predictions "
            "were not kept."
        )
        return
    st.caption(
        "Where the filled bars follow the line, an attack on the loss cannot tell a forgotten "
        "person from one never seen."
    )
    info = loss_histograms.loss_histograms_info(panels)
    figure = loss_histograms.draw(info, dark=state.dark())
    figures.chart(figure, "loss_histograms", alt=loss_histograms.alt_text(info))
    figures.numbers(loss_histograms.table(info), "identity-losses", figure, of="losses")


def show_faces(models: Sequence[tuple[str, Outputs]], result: Result) -> None:
    if not state.toggle("Faces of forgotten persons, with what each model says", "faces"):
        return
    names = catalog.dataset(result.spec["dataset"]).class_names
    found = identity_frames.faces(models, names, FACES)
    try:
        with st.spinner("Reading the images"):
            pictures = data.images(result.spec, [face.sample for face in found])
    except MucoreError as failure:
        st.caption(escape(access.shown(f"The images cannot be shown. {failure}")))
        return
    factor = max(1, round(PIXELS / pictures.shape[1]))
    st.caption("Faces on which the models differ most come first. Bold: right.")
    numbers = data.numbered(result.spec, [face.sample for face in found])
    for column, face, image, number in zip(
        st.columns(FACES, gap="small"), found, pictures, numbers, strict=False
    ):
        with column, st.container(gap=None):
            st.image(enlarged(image, factor), width=PIXELS)
            st.caption(f"**{escape(face.label)}**, sample {number}")
            for name, said, right in face.said:
                text = escape(said)
                st.caption(f"{escape(name)}: {f'**{text}**' if right else text}")
