"""One method: how it works, what it needs, what its settings are, and how well it did
everywhere.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.sections.reference import facts, method_runs, search
from dashboard.text.labels import method_names
from dashboard.widgets import header, messages, run_drawer
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog


def show(top: st.delta_generator.DeltaGenerator) -> None:
    ids = [card.id for card in catalog.methods()]
    every = data.unlearning_runs()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = state.select(
            "Method", "method", ids, default=most_run(every), format_func=method_name, width=320
        )
        recipe = state.select(
            "Recipe to scale settings to",
            "preset",
            [card.id for card in catalog.presets()],
            format_func=preset_name,
            width=320,
        )
    card, title = catalog.method(name), method_names(name)[0]
    source = data.source()
    runs = every[every["method"] == card.id]
    with top:
        header.header(
            "How does a method work, and how well does it do?",
            "Its card, its settings, and every run of it in these results.",
            source,
        )
    st.subheader(title, anchor=False)
    st.caption(f"{catalog.FAMILIES[card.family]}. {escape(card.source)}")
    st.markdown(card.summary)
    if runs.empty:
        query = {} if card.family == "reference" else {"methods": card.id}
        messages.empty(
            f"No run of {title} has finished yet.",
            f"Launch a comparison with {title}",
            "launch",
            **query,
        )
    else:
        method_runs.show(card, runs)
    facts.show(card)
    facts.show_parameters(card, recipe)
    search.show(card)
    run_drawer.run_drawer(every)
    provenance(runs)


def most_run(runs: pd.DataFrame) -> str:
    """The method that there is most to read of: the page opens on it."""
    methods = [card.id for card in catalog.methods() if card.family != "reference"]
    counts = runs["method"].value_counts()
    return max(methods, key=lambda name: counts.get(name, 0))  # the first of equals


def method_name(name: str) -> str:
    title, family = method_names(name)
    return f"{title} ({catalog.FAMILIES[family].lower()})"


def preset_name(name: str) -> str:
    return catalog.preset(name).title
