"""The numbers of an experiment: stored ones at once, others on request."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dashboard import data
from dashboard.frames import quality as quality_frames
from dashboard.frames.quality import Found
from dashboard.sections.quality import example
from dashboard.text import labels, units
from dashboard.widgets import course, guests, messages
from dashboard.widgets.markdown import escape
from mucore.errors import MucoreError
from mucore.runner import quality
from mucore.runner.quality import Finding, Lineup, find, forget_confidences
from mucore.store import Store


def lineup(store: Store, found: Found) -> Lineup:
    """The experiment as the runner knows it."""
    return quality.lineup(
        store,
        models=found.models,
        originals=found.originals,
        retrained=found.retrained,
        methods=[method.keys for method in found.methods],
    )


def get_findings(source: data.Source, found: Found) -> list[Finding]:
    """What is known of the experiment's methods without computing anything, in their order."""
    known = computed(source.name)
    if any((found.retrained, method.keys) not in known for method in found.methods):
        try:
            for one in stored(source.store, found, source.name, source.change, found.keys):
                known.setdefault((found.retrained, one.keys), one)
        except MucoreError as failure:
            messages.error(escape(str(failure)))
    return [
        known[key] for method in found.methods if (key := (found.retrained, method.keys)) in known
    ]


@st.cache_resource(show_spinner=False, max_entries=16)
def stored(
    _store: Store, _found: Found, name: str, change: int, keys: tuple[str, ...]
) -> list[Finding]:
    """The numbers that lie in the store; `name`, `change` and `keys` say which."""
    return find(lineup(_store, _found), _store, stored_only=True)


@st.cache_resource(show_spinner=False, max_entries=4)
def computed(name: str) -> dict[tuple[tuple[str, ...], tuple[str, ...]], Finding]:
    """(Retrain's keys, a method's keys) -> its finding, kept for all readers of a store; read-only
    stores keep them nowhere else.
    """
    return {}


def offer_to_compute(
    source: data.Source, found: Found, methods: list[quality_frames.Method]
) -> None:
    names = ", ".join(dict.fromkeys(labels.method_names(method.method)[0] for method in methods))
    if (
        lost := {*found.retrained, *(key for method in methods for key in method.keys)}
        - data.predicted()
    ):
        messages.empty(
            f"The numbers of {escape(names)} are not here. They are computed from "
            f"predictions, but those of {units.count(len(lost), 'model')} were removed to save "
            "space. A new experiment has both.",
            "Start one on small digits",
            "launch",
            **example.SMALL,
        )
        return
    if not source.demo:  # whose numbers nobody can keep
        course.want_numbers(
            models=found.models,
            originals=found.originals,
            retrained=found.retrained,
            methods=[method.keys for method in methods],
        )
    with st.container(border=True):
        st.markdown(
            escape(
                f"The numbers of {names} have not been computed yet. The models are there; "
                "reading their predictions takes a moment."
            )
        )
        if not guests.may("compute them") or not st.button(
            "Compute the numbers", icon=":material/calculate:", type="primary", key="compute"
        ):
            return
        try:
            read(source, found, [found.retrained, *(method.keys for method in methods)])
            with st.spinner("Looking for the best rule of each sample"):
                known = computed(source.name)
                known |= {
                    (found.retrained, one.keys): one
                    for one in find(lineup(source.store, found), source.store)
                }
        except MucoreError as failure:
            messages.error(escape(str(failure)))
            return
    st.rerun()


def read(
    source: data.Source, found: Found, kinds: list[tuple[str, ...]]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Ids and confidences of models of each kind, with a progress bar."""
    bar, total = st.progress(0.0, "Reading predictions"), len(kinds) * found.models
    made = []
    for place, keys in enumerate(kinds):

        def step(done: int, before: int = place * found.models) -> None:
            bar.progress(
                min((before + done) / total, 1.0),
                f"Reading the predictions of model {before + done} of {total}",
            )

        content = forget_confidences(keys, source.store, progress=step)
        assert content is not None
        made.append(content)
    bar.empty()
    return made
