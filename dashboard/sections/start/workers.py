"""What the workers do."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from dashboard import access, data, queue_data
from dashboard.frames import queue as queue_frames
from dashboard.text import units
from dashboard.widgets import guests, messages
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import titles
from mucore.runner.estimate import about


@guests.live(2.0)
def show() -> None:
    with messages.guarded():
        now = datetime.now(UTC)
        alive = queue_data.workers()
        waiting = queue_data.jobs(states=["queued"])
        running = queue_data.jobs(states=["running"])
        st.subheader("Workers", anchor=False)
        if not alive:
            launched = "you launch" if access.presents() else "the presenter launches"
            st.markdown(
                f"No worker is running. One starts on its own when {launched} a "
                f"comparison{on_what()}."
            )
        for worker in alive:
            st.markdown(
                f":material/memory: **{escape(worker.device)}**, "
                f"{units.count(worker.threads, 'thread')}: "
                f"{'busy' if worker.state == 'busy' else 'waiting for work'}, started "
                f"{units.ago(worker.started, now)}"
            )
        left = queue_data.time_left([*running, *waiting])
        for job in running[:4]:
            own = left.each.get(job.key)
            text = titles.run(job.spec) + (f" · {about(own)} left" if own else "")
            st.progress(queue_frames.job_share(job, own, now), text=escape(text))
        all_left = f", {about(left.total)} left" if left.total else ""
        st.caption(
            f"{len(running)} running, {len(waiting)}{'+' if len(waiting) >= 500 else ''} "
            f"waiting{all_left}."
        )
        if waiting or running:
            link("queue", "Open the queue", icon=":material/list_alt:")


def on_what() -> str:
    """Which device the next worker will probably take: that of the newest of the reader's own runs,
    since asking PyTorch takes seconds.
    """
    runs = data.summaries()
    if data.source().demo or runs.empty:
        return " and picks a device"
    newest = runs.loc[runs["finished"].idxmax(), "device"]
    whose = "your" if access.presents() else "the"
    return f", most likely on the device of {whose} newest run: {escape(str(newest))}"
