"""Replay: an unlearning run from its first to its last step, alone or in a race with another. Its parts stand in dashboard/replaying/."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import compare_frames, data, describe, drawer, picker, widgets
from dashboard.analyses import ready as ready_for
from dashboard.replaying import choice, show

QUESTION = "What happens while a method forgets?"
CAPTION = "Press Play or drag the slider: see when a method forgets, and when it breaks."


def page() -> None:
    source = data.source()
    head = st.container()
    every = data.unlearning_runs()
    if every.empty:
        widgets.no_results(QUESTION, CAPTION, "One run is enough, two can race.")
        return
    ready = ready_for("replay", every)
    runs = picker.pick_runs(every, first=["class_wise"], ahead=ready, opens=choice.opening(every, ready))
    if runs.empty:
        with head:
            widgets.none_finished(QUESTION, source)
        return
    with head:
        widgets.header(QUESTION, caption(runs), source)
    if choice.replayable(runs).empty:
        widgets.empty(
            "No run of this selection has steps of its own: it holds the original alone, or ensembles.", "Launch a comparison", "launch"
        )
        return
    left, right, last = st.columns(3, vertical_alignment="bottom", gap="small")
    keys, titles = choice.pick(runs, every, ready, (left, right))
    replays = show.gather(keys, titles, every)
    if replays:
        with last:
            clock = show.pick_clock(replays)
        show.player(replays, clock, every)
    chosen = every.set_index("key", drop=False).loc[keys]
    show.chosen_runs(chosen, titles)
    drawer.run_drawer(every)
    bases = {compare_frames.retrain_of(every, key) for key in keys}
    widgets.provenance(every[every["key"].isin({*keys, *bases})])


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    return widgets.escape(f"{describe.setup_text(first)}. {CAPTION}")


page()
