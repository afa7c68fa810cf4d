"""Five attacks side by side, for every method."""

from __future__ import annotations

import json

import pandas as pd
import streamlit as st

from dashboard import frames, state
from dashboard.charts import attack_dots
from dashboard.charts.parts import noise
from dashboard.frames import membership as membership_frames
from dashboard.papers import tables
from dashboard.text import units
from dashboard.text.labels import THIN
from dashboard.widgets import clicks, figures
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape, metric_help
from mucore.metrics.membership import ATTACKS


def printed_attacks(first: pd.Series) -> tables.Published | None:
    """The paper's numbers beside the runs that `first` is one of; None unless switched on, or where
    no paper prints attacks for them.
    """
    if state.choice("paper", ["0", "1"]) != "1":
        return None
    found = tables.with_attacks(
        str(first["scenario"]),
        dataset=str(first["dataset"]),
        model=str(first["model"]),
        parameters=json.loads(first["scenario_parameters"]),
    )
    return found[1] if found else None


def show(
    table: frames.ResultsTable,
    guesses: dict[tuple[str, str], int],
    paper: tables.Published | None,
    everyone: bool,
):
    """The dot plot; a click on a dot chooses a run of that method, and the attack, for the part
    below.
    """
    competing = {row.id for row in membership_frames.competitors(table, everyone=everyone)}
    info = attack_dots.attack_dots_info(table, paper, competing=competing)
    st.subheader("Five attacks, one question", anchor=False, help=metric_help("mia_confidence"))
    if not info.titles:
        st.markdown(
            "None of these runs has a membership number yet. The page Results says why, cell by "
            "cell."
        )
        link("results", "Open the table", icon=":material/table_chart:")
        return None
    ground = any(panel.noise is not None for panel in info.panels)
    said = f" {noise.SAID}" if ground else ""
    st.caption(
        "The share of the forget set, in percent, that each attack calls unseen (MUBox, Tables 1 "
        "and 3 to 6; Confidence: Are We Truly Forgetting?, Table 5); nearest to Retrain first. "
        "Look for methods at the dashed line in one panel and far from it in another: there a "
        "single attack would mislead. Grey methods are not known to have forgotten; point at one "
        f"for its verdict.{said}"
    )
    if warning := guess_words(table, guesses):
        st.warning(warning, icon=":material/help:")
    figure = attack_dots.draw(info, dark=state.dark(), selected=selected_row(table))
    event = figures.chart(
        figure,
        "attacks",
        alt=attack_dots.alt_text(info),
        on_select="rerun",
        selection_mode="points",
    )
    left_out = (
        f" Not drawn, because a number is missing: {', '.join(info.missing)}."
        if info.missing
        else ""
    )
    printed = (
        f" {paper.caption}"
        if paper
        else " No paper prints attacks for this scenario."
        if state.param("paper") == "1"
        else ""
    )
    st.caption(
        escape(
            f"{table.interval} Click a dot to look at that method and attack "
            f"below.{left_out}{printed}"
        )
    )
    marks = [mark[:2] for mark in clicks.clicked(event)]
    row = table.row(marks[0][0]) if clicks.is_new(marks, "attacks") else None
    if row is not None:
        state.set_param("run", row.keys[0])
        state.set_param("attack", None if marks[0][1] == ATTACKS[1] else marks[0][1])
        st.rerun()
    return figure


def selected_row(table: frames.ResultsTable) -> str:
    key = state.param("run")
    return next((row.id for row in table.rows if key in row.keys), "")


def guess_words(table: frames.ResultsTable, guesses: dict[tuple[str, str], int]) -> str:
    """Which attacks guess, and on how many runs; "" where none does."""
    total = sum(len(row.keys) for row in table.rows)
    counts = {
        attack: sum(count for (_, other), count in guesses.items() if other == attack)
        for attack in ATTACKS
    }
    parts = [
        f"{membership_frames.attack_name(attack)} in {count}"
        for attack, count in counts.items()
        if count
    ]
    if not parts:
        return ""
    return (
        f"Some of these numbers are no evidence: on some of the {units.count(total, 'run')} an "
        "attack cannot even tell retained from test samples (its accuracy is within the "
        f"95{THIN}% interval of a guess). The attacks that only guess: "
        f"{', '.join(parts)} of these runs. A line has no mark where half of its runs or more are "
        "such guesses."
    )
