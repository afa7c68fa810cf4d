"""One method: how it works, what it needs, what its settings are, and how well it did
everywhere.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import method_settings
from dashboard.frames import glossary as glossary_frames
from dashboard.text import labels
from dashboard.widgets import figures, header, messages, run_drawer
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance, runs_frame
from mucore import catalog, spec
from mucore.catalog import MethodCard

READS = {
    "retain": "retain set",
    "forget": "forget set",
    "validation": "validation data",
    "training_record": "a record of the training",
}


def page() -> None:
    top = st.container()
    ids = [card.id for card in catalog.methods()]
    every = data.unlearning_runs()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = state.select(
            "Method",
            "method",
            ids,
            default=most_run(every),
            format_func=method_name,
            width=320,
        )
        recipe = state.select(
            "Recipe to scale settings to",
            "preset",
            [card.id for card in catalog.presets()],
            format_func=preset_name,
            width=320,
        )
    card = catalog.method(name)
    source = data.source()
    runs = every[every["method"] == card.id]
    with top:
        header.header(
            f"How does {card.title} work, and how well does it do?",
            f"{catalog.FAMILIES[card.family]}. {escape(card.source)}",
            source,
        )
    show_card(card)
    show_parameters(card, recipe)
    st.subheader("How well it did", anchor=False)
    if runs.empty:
        query = {} if card.family == "reference" else {"methods": card.id}
        messages.empty(
            f"No run of {card.title} has finished yet.",
            f"Launch a comparison with {card.title}",
            "launch",
            **query,
        )
        run_drawer.closed()
        return
    show_results(card, runs, every)


def most_run(runs: pd.DataFrame) -> str:
    """The method that there is most to read of: the page opens on it."""
    methods = [card.id for card in catalog.methods() if card.family != "reference"]
    counts = runs["method"].value_counts()
    return max(methods, key=lambda name: counts.get(name, 0))  # the first of equals


def method_name(name: str) -> str:
    card = catalog.method(name)
    return f"{card.title} ({catalog.FAMILIES[card.family].lower()})"


def preset_name(name: str) -> str:
    return catalog.preset(name).title


def show_card(card: MethodCard) -> None:
    st.markdown(card.summary)
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
    if not card.own_layers:
        return "yes" if card.family != "own" else "yes, if it keeps to the layers that it may train"
    values = ", ".join(
        f"{name} {' or '.join(map(str, free))}" for name, free in card.confined.items()
    )
    return (
        f"with {values} only: otherwise {card.own_layers}" if values else f"no: {card.own_layers}"
    )


def show_parameters(card: MethodCard, preset: str) -> None:
    frame = glossary_frames.parameters_frame(card, spec.make_recipe(preset))
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
            "shorter recipe they shrink in proportion, to one at the least."
        )


def show_results(card: MethodCard, runs: pd.DataFrame, every: pd.DataFrame) -> None:
    """What the runs of the method reached; `every` run is where their Retrains are."""
    values = data.metric_values(method=card.id)
    settings = frames.method_settings(runs, values, method=card.id, judged=data.judged(runs))
    info = method_settings.method_settings_info(settings)
    if sentence := frames.settings_sentence(card.title, settings):
        header.statement(sentence)
    beside = (
        " On the far right stands what happened, with the distance to Retrain."
        if any(info.outcomes)
        else ""
    )
    untimed = any(mean is None for mean in info.panels[2].means)
    gaps = (
        " Where a mark is missing, the number was not measured or cannot be compared."
        if untimed
        else ""
    )
    st.caption(
        "Each line is one setting, and the dashed line is Retrain. On the left and in the middle "
        f"nearer to it is better; on the right, marks to its left are cheaper.{beside}{gaps} "
        "Click a mark to see its run."
    )
    figure = method_settings.draw(info, family=card.family, dark=state.dark())
    run_drawer.chart(figure, "method_settings", alt=method_settings.alt_text(info))
    figures.numbers(frames.settings_frame(settings), f"method-{card.id}", figure)
    with st.expander(f"All runs ({len(runs)})", icon=":material/list:"):
        newest = runs.sort_values("finished", ascending=False)
        run_drawer.runs_table(
            newest, runs_frame(newest).drop(columns="Method"), "method_runs", height=260
        )
    run_drawer.run_drawer(every)
    provenance(runs)


page()
