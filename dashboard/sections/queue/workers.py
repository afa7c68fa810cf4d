"""Which workers there are."""

from __future__ import annotations

import streamlit as st

from dashboard import access, data
from dashboard.sections.queue import actions
from dashboard.text import units
from dashboard.widgets.markdown import escape


def show(busy: bool) -> None:
    workers = data.workers()
    if workers:
        devices = ", ".join(
            f"{worker.device} ({units.count(worker.threads, 'thread')})" for worker in workers
        )
        st.caption(f":material/memory: {units.count(len(workers), 'worker')}: {escape(devices)}")
        for note in dict.fromkeys(worker.note for worker in workers if worker.note):
            st.caption(f":material/info: {escape(access.shown(note))}")
    elif data.workers_starting():
        st.caption(
            ":material/hourglass_top: A worker is starting. It loads PyTorch first, which takes a "
            "few seconds."
        )
    elif busy:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            reason = data.worker_failure() if access.presents() else ""
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
        st.caption("No worker is running. One starts by itself when you launch a comparison.")
