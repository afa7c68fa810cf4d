"""Saved views in Share, on every page: links for everybody, and for the presenter a name for
the page as it is, another name, and an end.
"""

from __future__ import annotations

import streamlit as st

from dashboard import access, data, saved_views, state
from dashboard.pages import BY_ID
from dashboard.saved_views import SavedView
from dashboard.widgets import messages
from dashboard.widgets.markdown import escape
from mucore.errors import MucoreError


def show(page: str) -> None:
    """The views of the home, `page` being the one that a reader is on."""
    try:
        home = data.own_store().home
    except MucoreError:  # the page itself says so
        return
    mine = access.presents()
    views = [view for view in saved_views.every(home) if mine or not view.names_a_file]
    if not views and not mine:
        return
    if views:
        st.caption("Saved views")
        for view in views:
            st.page_link(
                BY_ID[view.page].file,
                label=escape(view.name),
                icon=":material/bookmark:",
                query_params=view.query or None,
            )
    if mine:
        with st.expander("Save this view", icon=":material/bookmark_add:"):
            _save(page)
            if views:
                _change(views)


def _save(page: str) -> None:
    name = st.text_input("Name", key="view_name", max_chars=saved_views.LONGEST)
    told = "The page with all that is chosen on it, as its address says it."
    if st.button("Save", type="primary", key="view_save", help=told):
        with messages.kept("view_problem"):
            # said even where the page would open on it: others may be shown when the view is opened
            shown = {"source": ["demo" if data.source().demo else "own"]}
            saved_views.save(data.own_store().home, name, page, state.address() | shown)
        st.rerun()
    if problem := state.ticket("view_problem"):
        messages.problem(str(problem))
        state.set_ticket("view_problem", None)


def _change(views: list[SavedView]) -> None:
    chosen = st.selectbox("Saved view", [view.name for view in views], key="view_chosen")
    if chosen is None:
        return
    new = st.text_input("New name", key="view_new", max_chars=saved_views.LONGEST)
    with st.container(horizontal=True):
        if st.button("Rename", key="view_rename"):
            with messages.kept("view_problem"):
                saved_views.rename(data.own_store().home, chosen, new)
            st.rerun()
        if st.button("Delete", key="view_delete"):
            with messages.kept("view_problem"):
                saved_views.delete(data.own_store().home, chosen)
            st.rerun()
