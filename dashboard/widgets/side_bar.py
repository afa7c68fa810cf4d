"""What stands in the side bar of every page, unseen: scripts that answer to the page list and the
theme.
"""

from __future__ import annotations

from typing import Final

import streamlit as st

from dashboard import assets, state
from dashboard.widgets.links import link

# A click on the page list becomes one on the hidden link to the same page, unless it asks for a
# window of its own.
ALONG: Final = assets.text("page_links.js")

# Streamlit changes its own colours at once, but draws no page anew: figures and the logo would keep
# colours of the other theme.
FOLLOW_THEME: Final = assets.text("follow_theme.js")

# What has a script and nothing to see.
HIDDEN: Final = assets.style("hidden.css")


def keep_along() -> None:
    """Let the page list of the side bar go where `link` without parameters goes, for pages that
    keep some: the same page with its whole address in one step, so that the back button leads to
    the page before.
    """
    kept = [page for page in (*state.KEPT, *state.OPENS) if state.going(page)]
    if not kept:
        return
    with st.sidebar, st.container(key="along", gap=None):
        st.html(HIDDEN.replace("KEY", "along"))
        for page in kept:
            link(page, page)
        st.components.v2.component("mucore_along", html="<span></span>", js=ALONG)(
            key="keep_along", height=1
        )


def follow_theme() -> None:
    """Draw the page anew as soon as the reader, or the reader's system, goes over to the other
    theme.
    """
    with st.sidebar, st.container(key="follow-theme", gap=None):
        st.html(HIDDEN.replace("KEY", "follow-theme"))
        watch = st.components.v2.component("mucore_theme", html="<span></span>", js=FOLLOW_THEME)
        watch(key="follow_theme", height=1, on_theme_change=lambda: None)
