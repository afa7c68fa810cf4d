"""What the page shows of the chosen runs: their replays on one slider, what happened in words, and
what to do where there is none yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import access, assets, data, state, theme
from dashboard.charts import replay_player
from dashboard.frames import budget as budget_frames
from dashboard.frames import compare as compare_frames
from dashboard.frames import replay as replay_frames
from dashboard.frames.replay import Clock, Replay
from dashboard.text import labels, verdicts
from dashboard.widgets import clicks, figures, messages
from dashboard.widgets.background_analysis import analysed
from dashboard.widgets.links import anew
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.spec import RunSpec
from mucore.store.rows import Result

CLOCKS = {"own": "Own progress", "seconds": "Seconds"}
SECONDS = 40.0  # that a replay takes beside the run itself: a map of all frames, mostly

# Plotly paints the button under the pointer nearly white, on which the text of the dark theme
# cannot be read.
BUTTONS = assets.style("replay_buttons.css")


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
    state_now = data.analysis("replay", parameters)
    if state_now.state != "ready" and (reason := why_not(result)):
        way_out(
            result,
            f"**{escape(title)}** has no replay yet. {reason}",
            every[every["key"] == result.key],
        )
        return None
    if state_now.state == "ready":
        value = state_now.value
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
    seconds = result.cost.get("seconds")
    return Replay(
        key=result.key,
        title=title,
        method=str(result.spec["method"]),
        seconds=None if seconds is None else float(seconds),
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


def way_out(result: Result, sentence: str, lines: pd.DataFrame) -> None:
    """`sentence` and how the run is made anew: a link to Launch, or the command where Launch cannot
    be filled in with its settings.
    """
    spec = result.spec
    preset = str(spec.get("method_preset", "authors"))
    plain = not (spec.get("noise") or spec.get("after") or spec.get("scope", "all") != "all")
    if has_attributes(result):
        with st.container(border=True):
            st.markdown(sentence)
    elif plain and preset in labels.METHOD_PRESETS:
        # a run of the reader's own is stored already and would not be computed again
        query = budget_frames.launch_query(lines, ()) if data.source().demo else anew(lines)
        messages.empty(sentence, "Launch this run", "launch", **query)
    else:
        with st.container(border=True):
            st.markdown(f"{sentence} Its command, for a home of its own (`--home`):")
            st.code(labels.command_or_why_not(spec), language="bash")


def has_attributes(result: Result) -> bool:
    return catalog.dataset(str(result.spec["dataset"])).task == "attributes"


def why_not(result: Result) -> str:
    """Why no replay of a run can be made here, "" where one can."""
    if has_attributes(result):
        return (
            "A replay needs one class per image, but the images of this data set have attributes. "
            "Choose runs on another data set."
        )
    source = data.source()
    if source.demo:
        again = "Runs that are launched here keep their weights, and a button here replays them."
        return f"The demo came without the weights that a replay starts from. {again}"
    model = source.store.get_model(RunSpec.model_validate(result.spec).original().model_key)
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


def pick_clock(replays: Sequence[Replay]) -> Clock:
    """Which clock the slider is on; a single run, or one whose seconds are not known, goes by its
    own progress. Parameter: clock.
    """
    if len(replays) < 2 or not all(replay.seconds for replay in replays):
        return "own"
    help_text = (
        "Own progress: both start and end together. Seconds: the quicker one waits at its end."
    )
    chosen = state.segmented(
        "Clock", "clock", list(CLOCKS), format_func=CLOCKS.__getitem__, help=help_text
    )
    return "seconds" if chosen == "seconds" else "own"


def player(replays: Sequence[Replay], clock: Clock, every: pd.DataFrame) -> None:
    """The figure that plays, sentences, and the numbers behind it; `every` run is where others of
    the same lines are.
    """
    judged = [
        (replay.title, found.verdict)
        for replay in replays
        if (found := data.judged_line(replay.key, every)) is not None
    ]
    did = verdicts.told([(title, verdict) for title, verdict in judged if verdict is not None])
    if sentence := " ".join(
        [replay_frames.race(replays, clock), f"Verdict: {did}." if did else ""]
    ).strip():
        st.markdown(f"**{escape(sentence)}**")
    dark, source = state.dark(), data.source()
    runs = (source.name, source.change, *((replay.key, replay.title) for replay in replays))
    info, moving, still = drawn(replays, runs, clock, dark)
    st.html(BUTTONS.replace("HOVER", theme.ground(dark).grid))
    with st.container(key="replay"):
        figures.chart(moving, f"replay:{clock}", alt=replay_player.alt_text(info))
    with st.container(gap="xxsmall"):
        for replay in replays:
            st.markdown(
                f"**{escape(replay.title)}**: {escape(' '.join(replay_frames.told(replay)))}"
            )
            for note in replay.value["notes"]:
                st.caption(f":material/info: {escape(access.shown(str(note)))}")
    st.caption(escape(reading(info)))
    figures.numbers(replay_frames.table(replays), "replay", still)


@st.cache_resource(show_spinner=False, max_entries=16)
def drawn(
    _replays: Sequence[Replay], runs: tuple[object, ...], clock: Clock, dark: bool
) -> tuple[replay_player.ReplayPlayerInfo, go.Figure, go.Figure]:
    """What is shown, the figure that plays and the one for files; `runs` says which store, when it
    was read and which runs under which titles, so that no film needs hashing.
    """
    info = replay_player.replay_player_info(_replays, clock)
    moving = replay_player.draw(info, dark=dark)
    return info, moving, replay_player.still(info, dark=dark)


def reading(info: replay_player.ReplayPlayerInfo) -> str:
    """How to read the panels, and what the numbers rest on."""
    value = info.replays[0].value
    counts = [
        f"{len(value[f'{name}/ids']):,} of {value['totals'][name]:,} {title.lower()} samples"
        for name, title in (("forget", "Forget"), ("retain", "Retain"), ("test", "Test"))
    ]
    parts = [
        "Orange is to forget; other classes are muted.",
        *on_maps(info),
        "Dashed lines and marks are Retrain's.",
        (
            f"The shares are of {counts[0]}, {counts[1]} and {counts[2]}, so they differ a little "
            "from those of the whole sets."
        ),
    ]
    if info.clock == "seconds":
        parts.append(
            "Seconds are those of the stored runs, shared out over the frames by the samples read "
            "until then."
        )
    return " ".join(parts)


def on_maps(info: replay_player.ReplayPlayerInfo) -> list[str]:
    """What places in the map mean, and how two runs came into one."""
    if info.shared is None:
        apart = (
            ["The two runs do not begin with the same network, so each has a map of its own."]
            if len(info.replays) > 1
            else []
        )
        return [
            (
                "All frames of a run share one t-SNE map, so the path of a point means something; "
                "distances between far clusters do not."
            ),
            *apart,
        ]
    few, kept = replay_frames.NEAREST, f"{100 * info.shared.kept:.0f}{labels.THIN}%"
    return [
        (
            "Both runs begin at the same network, so each sample starts at one place, filled for "
            "the first run and hollow for the second."
        ),
        (
            f"Later it stands between the {few} samples of the start that are nearest to it in its "
            "own run's t-SNE map: the map shows which"
        ),
        (
            f"samples it has joined. At the end {kept} of the points stand by the same class as in "
            "their own map. What moves away from all"
        ),
        "samples alike cannot be seen.",
    ]


def chosen_runs(runs: pd.DataFrame, titles: Mapping[str, str]) -> None:
    """The replayed runs as a table; a click on a line opens its run."""
    st.caption("The chosen runs. Click a line for all about it.")
    shown = pd.DataFrame(
        {
            "Run": [
                titles.get(key, labels.method_names(str(method))[0])
                for key, method in zip(runs["key"], runs["method"], strict=True)
            ],
            "Settings": [labels.preset_title(str(name)) for name in runs["method_preset"]],
            "Training seed": runs["training_seed"],
            "Seconds": runs["seconds"].astype(float).round(1),
            "Device": runs["device"],
        }
    )
    clicks.runs_table(runs, shown, "replay_runs")
