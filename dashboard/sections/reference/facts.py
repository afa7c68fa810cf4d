"""What the card of a method says: what it needs, how it works, its settings."""

from __future__ import annotations

import streamlit as st

from dashboard.frames import glossary as glossary_frames
from dashboard.text import labels
from dashboard.widgets.markdown import escape
from mucore import catalog, runs
from mucore.catalog import MethodCard

READS = {
    "retain": "retain set",
    "forget": "forget set",
    "validation": "validation data",
    "training_record": "a record of the training",
}


def show(card: MethodCard) -> None:
    if card.how:  # a method of the user's own may have none
        st.markdown(escape(card.how))
    reads = [text for key, text in READS.items() if key in card.reads]
    served = [
        scenario.title for scenario in catalog.scenarios() if catalog.serves(card, scenario.id)
    ]
    scenarios = "all scenarios" if card.scenarios is None else ", ".join(sorted(served))
    facts = {
        "Reads": ", ".join(reads) or "nothing",
        "Stores": "nothing between training and request" if card.storage == "0" else card.storage,
        "Runs in": scenarios + (f". {card.scenarios_reason}" if card.scenarios_reason else ""),
        "Images with attributes": "yes"
        if "attributes" in card.tasks
        else f"no: {card.tasks_reason}",
        "Can change the classifier alone": on_classifier(card),
        "Differs from the paper": card.differs or "not that we know of",
        "Official code": card.code or "none",
        "Also called": ", ".join(card.aliases) or "–",
    }
    st.markdown("\n".join(f"- **{name}**: {escape(value)}" for name, value in facts.items()))


def on_classifier(card: MethodCard) -> str:
    """Whether the method can be confined to the last layer."""
    if not card.not_confinable:
        return "yes" if card.family != "own" else "yes, if it keeps to the layers that it may train"
    values = ", ".join(
        f"{name} {' or '.join(map(str, free))}" for name, free in card.confinable_when.items()
    )
    return (
        f"with {values} only: otherwise {card.not_confinable}"
        if values
        else f"no: {card.not_confinable}"
    )


def show_parameters(card: MethodCard, preset: str) -> None:
    frame = glossary_frames.parameters_frame(card, runs.make_recipe(preset))
    if frame.empty:
        st.caption("This method has no settings.")
        return
    # A table of text, since only that breaks its lines, and a meaning is a sentence.
    st.table(
        frame.map(escape),
        hide_index=True,
        border="horizontal",
        alt=f"Settings of {card.title}: authors' values, scaled to the recipe, tuned.",
    )
    for scenario, values in card.scenario_values.items():
        st.caption(
            f"For “{catalog.scenario(scenario).title}” the authors set "
            f"{escape(labels.settings_text(values))}."
        )
    if card.paper_epochs:
        st.caption(
            f"The authors chose their epochs for trainings of {card.paper_epochs} epochs. On a "
            "shorter recipe they shrink in proportion, but never below one."
        )
