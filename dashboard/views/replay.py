"""Replay: an unlearning run from its first to its last step, alone or in a race with another."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data
from dashboard.frames import compare as compare_frames
from dashboard.sections.replay import choose, player
from dashboard.text import labels
from dashboard.widgets import header, messages, run_drawer, run_filters
from dashboard.widgets.background_analysis import ready as ready_for
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance

QUESTION = "What happens while a method forgets?"
CAPTION = "Press Play or drag the slider: see when a method forgets, and when it breaks."


def page() -> None:
    source = data.source()
    head = st.container()
    every = data.unlearning_runs()
    if every.empty:
        messages.no_results(QUESTION, CAPTION, "One run is enough, two can race.")
        return
    ready = ready_for("replay", every)
    runs = run_filters.pick_runs(
        every, first=["class_wise"], ahead=ready, opens=choose.opening(every, ready)
    )
    if runs.empty:
        with head:
            messages.none_finished(QUESTION, source)
        return
    with head:
        header.header(QUESTION, caption(runs), source)
    if choose.replayable(runs).empty:
        messages.empty(
            "No run of this selection has steps of its own: it holds the original alone, or "
            "ensembles.",
            "Launch a comparison",
            "launch",
        )
        return
    left, right, last = st.columns(3, vertical_alignment="bottom", gap="small")
    keys, titles = choose.pick(runs, every, ready, (left, right))
    replays = player.gather(keys, titles, every)
    if replays:
        with last:
            clock = player.pick_clock(replays)
        player.player(replays, clock, every)
    chosen = every.set_index("key", drop=False).loc[keys]
    player.chosen_runs(chosen, titles)
    run_drawer.run_drawer(every)
    bases = {compare_frames.retrain_of(every, key) for key in keys}
    provenance(every[every["key"].isin({*keys, *bases})])


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    return escape(f"{labels.setup_text(first)}. {CAPTION}")


page()
