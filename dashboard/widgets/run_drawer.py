"""The panel at the side of every page that shows a selected run (run_facts.py), opened by a click
(clicks.py) or an address.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

import pandas as pd
import streamlit as st

from dashboard import assets, frames, state, theme
from dashboard.frames.replay import has_steps
from dashboard.text import labels
from dashboard.widgets import run_facts
from dashboard.widgets.links import link

# A panel fixed at the right of the window with a scroll bar of its own: the page below stays where
# it is. It lies above the bars of figures (z-index 1001) and below the lists that fields open. In
# windows too narrow for both, the panel takes all of it.
PANEL: Final = assets.style("run_drawer.css")

# What makes the panel one: its name for screen readers, the keyboard in it once for each opening
# (the window remembers the last), Escape, and the keyboard back where it was at the end. It goes at
# the press of a key, not when the page has been drawn again.
BEHAVE: Final = assets.text("run_drawer.js")


def row_drawer(row: frames.Row, runs: pd.DataFrame, outside: tuple[str, ...] = ()) -> None:
    """Everything about the runs of one line, one run at a time; `outside` are sentences about all
    of them. Parameters: row, run.
    """
    lines = runs.set_index("key")
    with _panel(row.title, "row", row.id):
        key = state.select(
            "Run", "run", list(row.keys), format_func=lambda name: run_facts.seeds(lines.loc[name])
        )
        _links(row.method, key)
        run_facts.show(key, lines, outside)


def run_drawer(runs: pd.DataFrame) -> None:
    """The run that parameter `run` of the address names, if it is one of `runs` (rows of
    `data.summaries`).
    """
    key = state.param("run")
    lines = runs.set_index("key")
    if key not in lines.index:
        _opening("")
        return
    line = lines.loc[key]
    preset = (
        ""
        if line["method_preset"] == "authors"
        else f" ({labels.preset_title(str(line['method_preset'])).lower()})"
    )
    with _panel(
        f"{labels.method_names(str(line['method']))[0]}{preset}, training seed "
        f"{line['training_seed']}",
        "run",
        key,
    ):
        st.caption(run_facts.setting(line))
        _links(str(line["method"]), key)
        run_facts.show(key, lines)


@contextmanager
def _panel(title: str, parameter: str, shown: str) -> Generator[None]:
    """The panel with its head; its button takes `parameter`, which names the run or line `shown`,
    out of the address.
    """
    opening, look = _opening(shown), theme.ground(state.dark())
    st.html(PANEL.replace("BACKGROUND", look.background).replace("EDGE", look.grid))
    with st.container(key="run_drawer"):
        with st.container(key="run_drawer_head", horizontal=True, vertical_alignment="center"):
            st.subheader(title, anchor=False, width="stretch")
            if st.button("Close", icon=":material/close:", key="close_drawer"):
                state.set_param(parameter, None)
                st.rerun()
        yield
        _behave(opening, shown, title)


def _links(method: str, key: str) -> None:
    """Where else there is something about a run: its method, and the run from step to step."""
    with st.container(horizontal=True, gap="medium"):
        if labels.method_names(method)[1] != "unknown":  # one of the reader's own may be gone
            link("method", "How this method works", icon=":material/school:", method=method)
        if has_steps(method):
            link("replay", "Replay", icon=":material/replay:", key=key)


def closed() -> None:
    """Say that this page shows no drawer, so that the next one counts as newly opened."""
    _opening("")


def _opening(shown: str) -> int:
    """The number of the opening that brought the drawer of the run or line `shown` ("" for none), 0
    on arrival at an address.

    It moves when a reader selects something, never when the same address is drawn again.
    """
    before, number = state.ticket("drawer") or (None, 0)
    if shown and before not in (None, shown):
        number += 1
    state.set_ticket("drawer", (shown, number))
    return number if shown else 0


def _behave(opening: int, shown: str, title: str) -> None:
    """Keyboard and name of the panel; it takes the keyboard once for each number of an opening."""
    behave = st.components.v2.component("mucore_run_drawer", html="<span></span>", js=BEHAVE)
    behave(data={"opening": opening, "shown": shown, "title": title}, key="behave", height=1)
