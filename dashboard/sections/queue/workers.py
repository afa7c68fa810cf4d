"""Which workers there are."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import access, queue_data
from dashboard.frames import queue as queue_frames
from dashboard.sections.queue import actions, shared
from dashboard.text import units
from dashboard.widgets.markdown import escape
from mucore.store.rows import Worker

LOAD = (
    "CPU load: how many programs want to compute, other people's included, in percent of the "
    "machine's cores. Above 100 % they wait for each other, and runs take longer."
)


def table(workers: Sequence[Worker]) -> None:
    """Where they are and how much is in use there: a line, or a table where there are several
    places. Guests do not learn what machines are called.
    """
    places = queue_frames.devices(workers)
    threads = units.count(sum(one.threads for one in places), "thread")
    words = f":material/memory: {units.count(len(workers), 'worker')}, {threads}"
    if len(places) == 1:
        parts = [words, escape(places[0].name), _memory(places[0]), _load(places[0])]
        st.caption(" · ".join(part for part in parts if part), help=LOAD if parts[-1] else None)
        return
    machines = len({one.machine for one in places})
    st.caption(f"{words} on {units.count(machines, 'machine')}")
    columns = {
        "Machine": [one.machine for one in places],
        "Device": [one.name for one in places],
        "Workers": [f"{one.workers}, {one.busy} busy" for one in places],
        "Memory in use": [_memory(one) for one in places],
        "Load": [_load(one) for one in places],
    }
    if not access.presents():
        del columns["Machine"]
    frame = pd.DataFrame(columns)
    st.dataframe(
        frame,
        hide_index=True,
        height=shared.height(frame),
        column_config={"Load": st.column_config.TextColumn(help=LOAD)},
        key="workers",
    )


def _memory(place: queue_frames.Device) -> str:
    if place.memory_used is None or place.memory_total is None:
        return ""
    return f"{units.size(place.memory_used)} of {units.size(place.memory_total)} in use"


def _load(place: queue_frames.Device) -> str:
    return "" if place.load is None else f"CPU load {100 * place.load:.0f} %"


def show(busy: bool) -> None:
    workers = queue_data.workers()
    if workers:
        table(workers)
        for note in dict.fromkeys(worker.note for worker in workers if worker.note):
            st.caption(f":material/info: {escape(access.shown(note))}")
    elif queue_data.workers_starting():
        st.caption(
            ":material/hourglass_top: A worker is starting. It loads PyTorch first, which takes a "
            "few seconds."
        )
    elif busy:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            reason = queue_data.worker_failure() if access.presents() else ""
            said = f" The last one failed: {escape(reason)}" if reason else ""
            st.markdown(
                ":material/warning: No worker is running, so nothing moves. Finished runs are "
                f"safe.{said}",
                width="stretch",
            )
            if access.presents():
                st.button(
                    "Start a worker",
                    icon=":material/play_arrow:",
                    type="primary",
                    on_click=actions.start_worker,
                    key="start_worker",
                )
    else:
        launched = "you launch" if access.presents() else "the presenter launches"
        st.caption(f"No worker is running. One starts on its own when {launched} a comparison.")
