"""What runs now: a card a run, with its loss so far."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from dashboard import access, state
from dashboard.charts import loss_curve
from dashboard.frames import queue as queue_frames
from dashboard.sections.queue import actions
from dashboard.text import units
from dashboard.widgets import figures
from dashboard.widgets.markdown import escape
from mucore import titles
from mucore.runner.estimate import about
from mucore.store import Store
from mucore.store.records import Job


def show(store: Store, job: Job, left: float | None, now: datetime) -> None:
    with st.container(border=True):
        text, chart = st.columns([3, 2], gap="medium")
        with text:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(
                    f"**{escape(titles.who(job.spec))}**  \n{escape(titles.where(job.spec))}",
                    width="stretch",
                )
                if access.presents():
                    st.button(
                        "Stopping" if job.cancel_requested else "Cancel",
                        key=f"cancel:{job.id}",
                        icon=":material/stop_circle:",
                        on_click=actions.cancel,
                        args=(store, f"job:{job.id}", [job]),
                        disabled=job.cancel_requested,
                        help="It stops at its next step. A training that you retry resumes there."
                        if not job.cancel_requested
                        else None,
                    )
            actions.ask(store, f"job:{job.id}", [job])
            share = queue_frames.job_share(job, left, now)
            done = f"{100 * share:.0f} %"
            st.progress(share, text=done + (f" · {about(left)} left" if left is not None else ""))
            facts = [
                job.step or "starting",
                f"running for {units.duration(queue_frames.job_seconds(job, now))}",
            ]
            if job.deaths:
                facts.append(f"workers that died at it: {job.deaths}")
            st.caption(escape(" · ".join(facts)))
        with chart:
            if len(job.losses) > 1:
                info = loss_curve.loss_curve_info(job.losses)
                figures.chart(
                    loss_curve.draw(info, dark=state.dark(), height=150),
                    key=f"loss:{job.id}",
                    alt=f"{titles.run(job.spec)}. {loss_curve.alt_text(info)}",
                )
