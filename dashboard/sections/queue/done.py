"""The runs that ended well."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pandas as pd
import streamlit as st

from dashboard.frames import queue as queue_frames
from dashboard.sections.queue import shared
from dashboard.text import units
from dashboard.widgets import clicks
from mucore import titles
from mucore.store.records import Job


def show(jobs: Sequence[Job], now: datetime) -> None:
    """The runs that ended; a click on a line opens its run below."""
    ended = sorted(
        (job for job in jobs if job.finished), key=lambda job: job.finished or now, reverse=True
    )[: shared.SHOWN]
    frame = pd.DataFrame(
        {
            "Run": [titles.who(job.spec) for job in ended],
            "On": [titles.where(job.spec) for job in ended],
            "Took": [units.duration(queue_frames.job_seconds(job, now)) for job in ended],
            "Ended": [units.ago(job.finished or now, now) for job in ended],
        }
    )
    if ended:
        clicks.runs_table(
            pd.DataFrame({"key": [job.key for job in ended]}),
            frame,
            "done",
            height=shared.height(frame),
        )
        st.caption("Click a line to see its run.")
