"""Efficacy run by run: over forget sets and seeds, and against membership inference."""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, state
from dashboard.charts import efficacy_membership, efficacy_strips
from dashboard.charts.parts import strips
from dashboard.frames import membership as membership_frames
from dashboard.frames.efficacy import UNTRAINED
from dashboard.widgets import clicks, figures
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.errors import MucoreError
from mucore.metrics.membership import ATTACKS
from mucore.store import Store

HEIGHTS: Final = {"seen": "Share called seen", "probability": "Mean probability"}
PROBABILITY: Final = "Mean membership probability: 0.5 is a guess"
Names = dict[str, str]
Where = tuple[str, int, str]  # which store, when it was read, which runs


def show(frame: pd.DataFrame, names: Names, where: Where) -> str:
    """Strips, and the scatter against membership by an attack that is chosen here; the column that
    stands for membership. Parameters: attack, height.
    """
    st.subheader("Over forget sets and seeds", anchor=False)
    show_strips(frame, ("efficacy", "efficacy_bound"), names, where, strips.AXIS)
    st.subheader("Against membership inference", anchor=False)
    with st.container(horizontal=True, gap="medium"):
        titles = {
            attack: catalog.metric(f"mia_{attack}").title.removesuffix(" MIA efficacy")
            for attack in ATTACKS
        }
        attack = state.segmented(
            "Attack", "attack", list(ATTACKS), default=ATTACKS[1], format_func=titles.__getitem__
        )
        height = state.segmented(
            "Against efficacy", "height", list(HEIGHTS), format_func=HEIGHTS.__getitem__
        )
    column = f"seen_{attack}"
    if height == "probability":
        column = height
        frame["probability"] = frame["key"].map(probabilities(frame, attack)).astype(float)
        frame.loc[frame["method"] == UNTRAINED, "probability"] = float("nan")
        if frame["probability"].notna().any():
            show_strips(frame, (column,), names, (*where[:2], where[2] + attack), PROBABILITY)
    show_scatter(frame, column, HEIGHTS[height], names)
    return column


@st.cache_resource(show_spinner=False, max_entries=16)
def drawn(
    _frame: pd.DataFrame,
    of: tuple[str, ...],
    _names: Names,
    where: Where,
    title: str,
    dark: bool,
    selected: str,
) -> tuple[efficacy_strips.EfficacyStripsInfo, go.Figure, go.Figure]:
    """The strips, side by side and for a phone.

    Kept as they are, since a pickled copy differs in the order of its keys and Streamlit would take
    it for another figure, without the click.
    """
    info = efficacy_strips.efficacy_strips_info(_frame, of, sets=list(_names), labels=_names)
    look: dict[str, Any] = {
        "title": title,
        "power": of[0] == "efficacy",
        "dark": dark,
        "selected": selected,
    }
    return info, efficacy_strips.draw(info, **look), efficacy_strips.draw(info, most=1, **look)


def show_strips(
    frame: pd.DataFrame, of: tuple[str, ...], names: Names, where: Where, title: str
) -> None:
    info, wide, narrow = drawn(frame, of, names, where, title, state.dark(), state.param("run"))
    key = "efficacy_spread" if of[0] == "efficacy" else "efficacy_probability"
    clicks.open_run(
        clicks.stacking(wide, narrow, key, alt=f"{title}: {efficacy_strips.alt_text(info)}")
    )
    if info.left_out:
        st.caption(f"First {len(info.panels)} of {len(info.panels) + len(info.left_out)} methods.")
    if of[0] == "probability":
        shown = frame[frame["probability"].notna()]
        table = shown[["title", "set", "training_seed", "probability", "key"]].rename(
            columns={"title": "Method", "probability": "Mean probability", "key": "Run"}
        )
        figures.numbers(table, key, wide, of="membership probability")


def show_scatter(frame: pd.DataFrame, column: str, height: str, names: Names) -> None:
    info = efficacy_membership.efficacy_membership_info(
        frame, column, sets=list(names), labels=names
    )
    if not info.panels:
        st.markdown("No run has both an efficacy and a number of this attack.")
        return
    look: dict[str, Any] = {"height": height, "dark": state.dark(), "selected": state.param("run")}
    wide = efficacy_membership.draw(info, **look)
    narrow = efficacy_membership.draw(info, most=1, **look)
    alt = efficacy_membership.alt_text(info)
    clicks.open_run(clicks.stacking(wide, narrow, "efficacy_membership", alt=alt))
    st.caption(
        escape("One mark a run, larger for a larger forget set. ρ: Spearman's rank correlation.")
    )
    table = pd.DataFrame(
        [
            (panel.line.title, mark.label, mark.x, 100 * mark.share, mark.key)
            for panel in info.panels
            for mark in panel.marks
        ],
        columns=["Method", "Forget set and seed", "Efficacy (log10)", f"{height} (%)", "Run"],
    )
    figures.numbers(table, f"efficacy-against-{column}", wide, of="efficacy against membership")


def probabilities(frame: pd.DataFrame, attack: str) -> dict[str, float]:
    """By key the mean membership probability of the forget set, of the runs whose predictions are
    there.
    """
    source = data.source()
    keys = tuple(sorted(data.predicted().intersection(frame["key"])))
    return _probabilities(source.store, source.name, source.change, keys, attack)


@st.cache_data(show_spinner="Reading the predictions of these runs", max_entries=32)
def _probabilities(
    _store: Store, name: str, change: int, keys: tuple[str, ...], attack: str
) -> dict[str, float]:
    """`name` and `change` say which store, and when it was read."""
    found = {}
    for result in _store.results(metrics=False, brief=True, keys=keys):
        spec = {
            each: result.spec[each]
            for each in ("mia_samples", "evaluation_seed")
            if each in result.spec
        }
        if result.outputs is not None and _store.artifacts.exists(result.outputs):
            found[result.key] = _probability(_store, name, result.outputs, attack, spec)
    return {key: value for key, value in found.items() if value is not None}


@st.cache_data(show_spinner=False, max_entries=20_000)
def _probability(
    _store: Store, name: str, artifact: str, attack: str, spec: dict[str, int]
) -> float | None:
    """`membership_frames.mean_probability` of one file, whose name is its content; None where it is
    damaged or lacks a split.

    Kept by file, so that a run that is added later makes no other run be read again.
    """
    try:
        return membership_frames.mean_probability(
            attack, _store.artifacts.get_outputs(artifact, features=False), spec
        )
    except MucoreError:
        return None
