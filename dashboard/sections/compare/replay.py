"""Replay: one or two unlearning runs from their first to their last step on one slider, and what to
do where there is no replay yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import access, assets, data, state, theme
from dashboard.charts import replay_player
from dashboard.frames import budget as budget_frames
from dashboard.frames import compare as compare_frames
from dashboard.frames import replay as replay_frames
from dashboard.frames.replay import Replay
from dashboard.sections.compare import replay_choice as choose
from dashboard.text.presets import is_plain
from dashboard.widgets import figures, messages, run_drawer, run_filters
from dashboard.widgets.background_analysis import analysed
from dashboard.widgets.background_analysis import ready as ready_for
from dashboard.widgets.links import anew
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.runs import stored_spec
from mucore.store.records import Result

SECONDS = 40.0  # that a replay takes beside the run itself: a map of all frames, mostly

# Plotly paints the button under the pointer nearly white, on which the text of the dark theme
# cannot be read.
BUTTONS = assets.style("replay_buttons.css")


def show(every: pd.DataFrame, chips: DeltaGenerator) -> None:
    """The tab; what is selected goes to `chips`."""
    ready = ready_for("replay", every)
    with chips:
        runs = run_filters.pick_runs(
            every, first=["class_wise"], ahead=ready, opens=choose.opening(every, ready)
        )
    if runs.empty:
        messages.none_finished()
        return
    if choose.replayable(runs).empty:
        messages.empty("No run of this selection has steps.", "Launch a comparison", "launch")
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        keys, titles = choose.pick(runs, every, ready)
    replays = gather(keys, titles, every)
    if replays:
        player(replays)
    run_drawer.run_drawer(every)
    bases = {compare_frames.retrain_of(every, key) for key in keys}
    provenance(every[every["key"].isin({*keys, *bases})])


def gather(keys: Sequence[str], titles: Mapping[str, str], every: pd.DataFrame) -> list[Replay]:
    """The replays that are ready, in order; each of the others says on the page what is missing."""
    found = []
    for key in keys:
        result = data.result(key)
        if result is None:
            st.markdown("This run was deleted a moment ago. Choose another above.")
        elif (replay := replay_of(result, titles[key], every)) is not None:
            found.append(replay)
    return found


def replay_of(result: Result, title: str, every: pd.DataFrame) -> Replay | None:
    """The replay of a run; None, with a sentence and a way to make it on the page, where there is
    none yet.
    """
    parameters = {"key": result.key}
    if data.analysis("replay", parameters).state == "ready":
        value = analysed("replay", parameters, "", 0.0)
    elif reason := why_not(result):
        sentence = f"**{escape(title)}** has no replay yet. {reason}"
        lines = every[every["key"] == result.key]
        # Launch would make another run
        if attributes(result) or not lines["parameters"].map(is_plain).all():
            st.markdown(sentence)
            return None
        # a run of the reader's own is stored already and would not be computed again
        query = budget_frames.launch_query(lines, ()) if data.source().demo else anew(lines)
        messages.empty(sentence, "Launch this run", "launch", **query)
        return None
    else:
        with st.container(border=True):
            st.markdown(
                f"**{escape(title)}** has no replay yet: the run is repeated while its network is "
                "watched."
            )
            seconds = SECONDS + 2 * float(result.cost.get("seconds") or 0.0)
            value = analysed("replay", parameters, f"Replay {title}", seconds, of=f":{result.key}")
    if value is None:
        return None
    reference = (
        None
        if (base := compare_frames.retrain_of(every, result.key)) is None
        else data.result(base)
    )
    return Replay(
        key=result.key,
        title=title,
        value=value,
        levels={}
        if reference is None
        else replay_frames.levels_of(
            {name: each.value for name, each in reference.metrics.items()}
        ),
        level_classes=replay_frames.class_levels(
            reference.confusion.get("test") if reference else None, int(value["classes"])
        ),
        names=tuple(catalog.dataset(str(result.spec["dataset"])).class_names),
    )


def attributes(result: Result) -> bool:
    return catalog.dataset(str(result.spec["dataset"])).task == "attributes"


def why_not(result: Result) -> str:
    """Why no replay of a run can be made here, "" where one can."""
    if attributes(result):
        return (
            "A replay needs one class per image, but the images of this data set have attributes. "
            "Choose runs on another data set."
        )
    source = data.source()
    if source.demo:
        again = "Runs that are launched here keep their weights, and a button here replays them."
        return f"The demo came without the weights that a replay starts from. {again}"
    model = source.store.get_model(stored_spec(result.spec).original().model_key)
    if model is None or model.weights is None or not source.store.artifacts.exists(model.weights):
        again = (
            "Launch it with another training seed: its weights are kept then, and a button "
            "here replays it."
        )
        return (
            "The weights of its original, from which a replay starts, were removed or never came "
            f"along. {again}"
        )
    return ""


def player(replays: Sequence[Replay]) -> None:
    """The figure that plays, and the numbers behind it."""
    dark, source = state.dark(), data.source()
    runs = (source.name, source.change, *((replay.key, replay.title) for replay in replays))
    info, moving, still = drawn(replays, runs, dark)
    st.html(BUTTONS.replace("HOVER", theme.ground(dark).grid))
    with st.container(key="sideways_replay"):
        figures.chart(moving, "replay_player", alt=replay_player.alt_text(info))
    for replay in replays:
        for note in replay.value["notes"]:
            st.caption(f":material/info: {escape(access.shown(str(note)))}")
    figures.numbers(replay_frames.table(replays), "replay", still)


@st.cache_resource(show_spinner=False, max_entries=16)
def drawn(
    _replays: Sequence[Replay], runs: tuple[object, ...], dark: bool
) -> tuple[replay_player.ReplayPlayerInfo, go.Figure, go.Figure]:
    """What is shown, the figure that plays and the one for files; `runs` says which store, when it
    was read and which runs under which titles, so that no film needs hashing.
    """
    info = replay_player.replay_player_info(_replays)
    moving = replay_player.draw(info, dark=dark)
    return info, moving, replay_player.still(info, dark=dark)
