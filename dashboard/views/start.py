"""Start: what this is, whose results it shows, what the workers do, and where to go next."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from dashboard import data, frames, widgets
from dashboard.frames import queue as queue_frames
from dashboard.lessons import LESSONS
from dashboard.text import labels, units, verdicts
from dashboard.widgets import run_drawer, run_filters
from mucore import catalog, titles
from mucore.runner.estimate import about

NEWEST = 12
STORIES = ("forget-one-class", "one-metric", "backdoor")


def findings(source: data.Source) -> None:
    """What the Results page opens on: what was to be forgotten, how many methods did, and three
    figures.
    """
    runs = run_filters.usual_runs(data.unlearning_runs())
    if runs[~runs["method"].isin(["original", "retrain"])].empty:
        return
    first = runs.iloc[0]
    scenario = catalog.scenario(str(first["scenario"]))
    methods = runs.loc[~runs["method"].isin(["original", "retrain"]), "method"].nunique()
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    head, text, counted, found = answers(
        runs, source.name, source.change, data.chosen(runs), class_wise=scenario.class_wise
    )
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            said = f"{labels.setup_text(first)}: {units.count(methods, 'method')}, {seeds}"
            st.markdown(
                f"**{widgets.escape(scenario.title)}** · {widgets.escape(said)}", width="stretch"
            )
            widgets.link("results", "Read the table", icon=":material/arrow_forward:")
        if head:
            st.markdown(f"#### {widgets.escape(head)}")
            st.markdown(widgets.escape(text))
            st.caption(widgets.escape(counted))
        if len(found) > 1:  # one alone says again that no method qualifies
            widgets.answers(found)


@st.cache_data(show_spinner="Reading the results", max_entries=8)
def answers(
    _runs: pd.DataFrame, name: str, change: int, chosen: str, *, class_wise: bool
) -> tuple[str, str, str, tuple[frames.Answer, ...]]:
    """`frames.story`, the count in a sentence and `frames.best_answers`; `name`, `change` and
    `chosen` say which runs.
    """
    first = _runs.iloc[0]
    values = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    mine = values[values["key"].isin(_runs["key"])]
    table = frames.results_table(
        _runs, mine, view="value", class_wise=class_wise, judged=data.judged(_runs)
    )
    count = int(_runs["forget_count"].median())
    what = labels.forgotten(
        str(first["scenario"]), str(first["scenario_parameters"]), str(first["dataset"]), count
    )
    return (
        *frames.story(table, what, count),
        verdicts.count_sentence(table.methods),
        frames.best_answers(table),
    )


def next_steps() -> None:
    steps = (
        (
            "1 · Launch a comparison",
            "Choose data, a model, what to forget and which methods should forget it.",
            "launch",
            "Choose and start",
        ),
        (
            "2 · Watch it run",
            "Progress, loss curve and time left of every run; cancel or retry at any time.",
            "queue",
            "Open the queue",
        ),
        (
            "3 · Read the table",
            (
                "How near each method comes to a model retrained without the forgotten data, and "
                "at what price."
            ),
            "results",
            "Read the results",
        ),
    )
    for column, (title, text, page, label) in zip(st.columns(3), steps, strict=True):
        with column, st.container(border=True, height="stretch"):
            st.markdown(f"**{title}**  \n{text}")
            widgets.link(page, label, icon=":material/arrow_forward:")


def stories() -> None:
    """Where somebody begins who is new to the subject."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**New here?** Stories that run live:")
        for name in STORIES:
            widgets.link(
                "lessons", LESSONS[name].title, icon=":material/cast_for_education:", lesson=name
            )
        widgets.link("lessons", "All five", icon=":material/arrow_forward:")


def newest_runs(newest: pd.DataFrame) -> pd.DataFrame:
    """A line a run; without the data set where it is the same in all."""
    made = pd.DataFrame(
        {
            "Finished": widgets.local_time(newest["finished"]),
            "Method": [labels.method_names(name)[0] for name in newest["method"]],
            "Scenario": [
                catalog.scenario(name).title if isinstance(name, str) else "training"
                for name in newest["scenario"]
            ],
            "Data set": [titles.dataset(str(name)) for name in newest["dataset"]],
            "Time": [units.duration(seconds) for seconds in newest["seconds"]],
            "Status": newest["status"],
        }
    )
    return made if newest["dataset"].nunique() > 1 else made.drop(columns="Data set")


def on_one(newest: pd.DataFrame) -> str:
    """The data set that the newest runs share, for which their table has no column then."""
    names = list(dict.fromkeys(newest["dataset"]))
    return (
        f", the newest on {widgets.escape(titles.dataset(str(names[0])))}"
        if len(names) == 1
        else ""
    )


def on_what() -> str:
    """Which device the next worker will probably take: that of the newest of the reader's own runs,
    since asking PyTorch takes seconds.
    """
    runs = data.summaries()
    if data.source().demo or runs.empty:
        return " and picks a device"
    newest = runs.loc[runs["finished"].idxmax(), "device"]
    return f", most likely on the device of your newest run: {widgets.escape(str(newest))}"


@st.fragment(run_every=2.0)
def workers() -> None:
    with widgets.guarded():
        now = datetime.now(UTC)
        alive = data.workers()
        waiting = data.jobs(states=["queued"])
        running = data.jobs(states=["running"])
        st.subheader("Workers", anchor=False)
        if not alive:
            st.markdown(
                "No worker is running. One starts by itself when you launch a "
                f"comparison{on_what()}."
            )
        for worker in alive:
            st.markdown(
                f":material/memory: **{widgets.escape(worker.device)}**, "
                f"{units.count(worker.threads, 'thread')}: "
                f"{'busy' if worker.state == 'busy' else 'waiting for work'}, started "
                f"{units.ago(worker.started, now)}"
            )
        left = data.time_left([*running, *waiting])
        for job in running[:4]:
            own = left.each.get(job.key)
            text = titles.run(job.spec) + (f" · {about(own)} left" if own else "")
            st.progress(queue_frames.job_share(job, own, now), text=widgets.escape(text))
        all_left = f", {about(left.total)} left" if left.total else ""
        st.caption(
            f"{len(running)} running, {len(waiting)}{'+' if len(waiting) >= 500 else ''} "
            f"waiting{all_left}."
        )
        if waiting or running:
            widgets.link("queue", "Open the queue", icon=":material/list_alt:")


source = data.source()
summaries = data.summaries()
widgets.header(
    "Which method forgets, and what does it cost?",
    "Machine unlearning takes training data out of a finished model. The measure is the only sure "
    "way: training again without it.",
    source,
)
stories()
findings(source)
next_steps()
left, right = st.columns([4, 1], gap="medium")
with left:
    st.subheader("Newest runs", anchor=False)
    if summaries.empty:
        widgets.empty(
            "There is no result yet, neither yours nor a demo.",
            "Launch your first comparison",
            "launch",
        )
    else:
        newest = summaries.sort_values("finished", ascending=False).head(NEWEST)
        run_drawer.runs_table(
            newest,
            newest_runs(newest),
            "newest_runs",
            height="content",
            column_config={
                "Finished": st.column_config.DatetimeColumn(format="D MMM, HH:mm"),
                "Method": st.column_config.TextColumn(width=150),  # the longest title
                "Time": st.column_config.TextColumn(alignment="right"),
                "Status": st.column_config.TextColumn(
                    help="ok; diverged: weights became infinite and the last finite state was "
                    "kept; reverted: given back as it was; unsolved: a linear system was left "
                    "above its tolerance, so the result is rough."
                ),
            },
        )
        st.caption(
            f"{units.count(len(summaries), 'result')} in all{on_one(newest)}. Click a line for "
            "its run. "
            + ("They are the demo's." if source.demo else f"They lie in {source.store.home}.")
        )
with right:
    workers()
run_drawer.run_drawer(summaries)
