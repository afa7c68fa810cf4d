"""The numbers of an experiment: stored ones at once, others on request."""

from __future__ import annotations

import streamlit as st

from dashboard import access, data
from dashboard.frames import quality as quality_frames
from dashboard.frames.quality import Found, Samples
from dashboard.sections.quality import example
from dashboard.text import labels, units
from dashboard.widgets import course, guests, messages
from dashboard.widgets.markdown import escape
from mucore import quality
from mucore.errors import MucoreError
from mucore.quality import Finding, Lineup, find, forget_confidences
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
    """What is stored of the experiment's methods, in their order."""
    try:
        return stored(source.store, found, source.name, source.change, found.keys)
    except MucoreError as failure:
        messages.error(escape(str(failure)))
        return []


@st.cache_resource(show_spinner=False, max_entries=16)
def stored(
    _store: Store, _found: Found, name: str, change: int, keys: tuple[str, ...]
) -> list[Finding]:
    """The numbers that lie in the store; `name`, `change` and `keys` say which."""
    return find(lineup(_store, _found), _store, stored_only=True)


def offer_to_compute(
    source: data.Source, found: Found, methods: list[quality_frames.Method]
) -> None:
    names = escape(
        ", ".join(dict.fromkeys(labels.method_names(method.method)[0] for method in methods))
    )
    needed = {*found.retrained, *(key for method in methods for key in method.keys)}
    if lost := needed - data.predicted():
        messages.empty(
            f"The numbers of {names} are not here: the predictions of "
            f"{units.count(len(lost), 'model')} were removed. A new experiment has both.",
            "Start one on small digits",
            "launch",
            **example.SMALL,
        )
        return
    if source.store.read_only:  # which could not keep them
        messages.empty(
            f"The numbers of {names} have not been computed.",
            "Start one on small digits",
            "launch",
            **example.SMALL,
        )
        return
    course.want_numbers(
        models=found.models,
        originals=found.originals,
        retrained=found.retrained,
        methods=[method.keys for method in methods],
    )
    st.markdown(f"The numbers of {names} have not been computed yet.")
    if guests.may("compute them") and st.button(
        "Compute the numbers", icon=":material/calculate:", type="primary", key="compute"
    ):
        try:
            with st.spinner("Reading predictions, and looking for the best rule of each sample"):
                find(lineup(source.store, found), source.store)
        except MucoreError as failure:
            messages.error(escape(str(failure)))
            return
        stored.clear()
        st.rerun()


def get_samples(found: Found, finding: Finding) -> Samples | None:
    """What the models of both kinds say of each sample."""
    try:
        with st.spinner("Reading what the models say of each sample"):
            return read(finding.keys, found.retrained)
    except MucoreError as failure:
        st.markdown(escape(access.shown(str(failure))))
        return None


@data.kept(4)
def read(where: data.Source, unlearned: tuple[str, ...], retrained: tuple[str, ...]) -> Samples:
    ours, theirs = (forget_confidences(keys, where.store) for keys in (unlearned, retrained))
    return quality_frames.samples(ours, theirs)
