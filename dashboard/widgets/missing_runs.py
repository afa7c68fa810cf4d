"""What a selected run lacks: further training seeds where its verdict is only an indication, at one
click, and the way to every other method in its setting.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import access, data, queue_data
from dashboard.frames.budget import launch_query
from dashboard.text import labels, units
from dashboard.widgets.links import link
from mucore import catalog
from mucore.errors import MucoreError
from mucore.runner.estimate import about
from mucore.runner.plan import launch
from mucore.runs import REFERENCES
from mucore.store.records import ACTIVE
from mucore.verdicts import Judged


def offer(judged: Judged, lines: pd.DataFrame) -> None:
    """Below a verdict on runs among `lines`, which are by key: the missing seeds where a number of
    them is known to decide, the other methods beside runs of the reader's own. Nothing for who may
    not start runs.
    """
    if not access.presents() or data.own_store().artifacts.read_only:
        return
    if judged.verdict is not None and judged.verdict.needed:
        missing_seeds(judged, judged.verdict.needed)
    first = data.result(judged.keys[0])
    runs = lines[lines.index.isin(judged.keys)].rename_axis("key").reset_index()
    if judged.method in REFERENCES or runs.empty or data.source().demo:
        return
    # Launch has no field for what went before a later request
    if first is not None and not first.spec.get("after"):
        original = first.spec.get("original_hash")
        cards = [card for card in catalog.all_methods() if card.family != "reference"]
        query = launch_query(runs, ()) | {
            "methods": [card.id for card in cards if not card.needs_file],
            "settings": "tuned",
            "mia_samples": str(first.spec["mia_samples"]),
            **({"original": original} if original else {}),
        }
        link("launch", "Launch all other methods", icon=":material/rocket_launch:", **query)


def missing_seeds(judged: Judged, needed: int) -> None:
    """A button that queues what is missing of `needed` seeds, or the link to where it waits."""
    try:
        plan = queue_data.plan_seeds(judged.keys, needed)
    except MucoreError as failure:  # its data or its method are no longer what they were
        st.caption(f":material/block: {failure}")
        return
    queued = queue_data.jobs(states=ACTIVE, keys=[spec.key for spec in plan.to_run])
    seeds = len({spec.training_seed for spec in plan.to_run})
    parts = [units.count(seeds, "seed"), units.count(len(plan.to_run), "run"), about(plan.time)]
    if queued:
        there = {"comparison": str(queued[0].comparison)}
        text = f"{units.count(len(queued), 'run')} in the queue"
        link("queue", text, icon=":material/list_alt:", **there)
    elif plan.to_run and st.button(
        f"Run the missing seeds ({', '.join(parts)})",
        key="missing_seeds",
        icon=":material/play_arrow:",
        help="The method, Original and Retrain on further training seeds, into your own results; "
        "at the present spread the verdict can then be shown.",
    ):
        name = f"{labels.method_names(judged.method)[0]} · further seeds"
        launch(plan, data.own_store(), name=name)
        queue_data.start_workers()
        st.rerun()
