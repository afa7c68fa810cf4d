"""Which workers there are."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import access, queue_data
from dashboard.frames import queue as queue_frames
from dashboard.sections.queue import actions
from dashboard.text import units
from dashboard.widgets.markdown import escape
from mucore.store.records import Worker


def table(workers: Sequence[Worker]) -> None:
    """A line for each place where they are, and how much is in use there. Guests do not learn what
    machines are called.
    """
    places = queue_frames.devices(workers)
    named = access.presents() and places["machine"].nunique() > 1
    lines = []
    for place in places.to_dict("records"):
        parts = [escape(place["machine"])] if named else []
        parts.append(escape(place["device"]))
        parts.append(f"{units.count(place['workers'], 'worker')}, {place['busy']} busy")
        if pd.notna(place["memory_used"]) and pd.notna(place["memory_total"]):
            used, total = units.size(place["memory_used"]), units.size(place["memory_total"])
            parts.append(f"{used} of {total} in use")
        if pd.notna(place["load"]):
            parts.append(f"CPU load {100 * place['load']:.0f} %")
        lines.append(":material/memory: " + " · ".join(parts))
    st.caption("  \n".join(lines))


def show(busy: bool) -> None:
    workers = queue_data.workers()
    if workers:
        table(workers)
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
