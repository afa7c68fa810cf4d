"""What waits, and for what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pandas as pd
import streamlit as st

from dashboard.frames import queue as queue_frames
from dashboard.sections.queue import shared
from dashboard.text import units
from mucore import titles
from mucore.runner.estimate import Left, about
from mucore.store.records import Job


def show(jobs: Sequence[Job], running: Sequence[Job], left: Left, now: datetime) -> None:
    names = {job.key: titles.who(job.spec) for job in [*jobs, *running]}
    shown = jobs[: shared.SHOWN]
    frame = pd.DataFrame(
        {
            "Run": [titles.who(job.spec) for job in shown],
            "Waits for": [queue_frames.awaited(job, names, now) for job in shown],
            "Will take": [
                about(left.each[job.key]) if job.key in left.each else "–" for job in shown
            ],
            # the last column is what a narrow window cuts, and this one is alike in most rows
            "On": [titles.where(job.spec) for job in shown],
        }
    )
    st.dataframe(
        frame,
        hide_index=True,
        column_config={"Will take": st.column_config.Column(width=160)},
        height=shared.height(frame),
    )
    if len(jobs) > shared.SHOWN:
        st.caption(f"The first {shared.SHOWN} of {units.count(len(jobs), 'run')}.")
