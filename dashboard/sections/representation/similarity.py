"""Similarity: CKA to the original against CKA to Retrain, and accuracy gaps beside the ratio of the
two.
"""

from __future__ import annotations

import streamlit as st

from dashboard import frames, state
from dashboard.charts import cka_scatter, gap_and_ratio
from dashboard.charts.parts import noise
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import (
    PAPER,
    by_reason,
    ghosts,
    interval_words,
    missing,
    paper_toggle,
    say,
    selected_row,
)
from dashboard.text import units
from dashboard.widgets import clicks, figures, header
from dashboard.widgets.markdown import metric_help


def show(rows: tuple[frames.Row, ...], split: str, aside: int) -> None:
    """`aside`: how many runs had noise on their gradients or could change the classifier alone;
    they are experiments of other sections.
    """
    paper = ghosts()
    info = cka_scatter.cka_scatter_info(rows, split, paper)
    bars = gap_and_ratio.gap_and_ratio_info(rows, split, paper)
    if not info.marks:
        missing(
            rows,
            f"No method of this selection has its CKA on the {computed.where(split)} yet.",
            f"cka_retrain_{split}",
        )
        return
    header.answers(computed.answers(rows, split))
    selected = selected_row(rows)
    left, right = st.columns(2, gap="medium")
    with left, figures.sticky("similarity_figure"):
        st.markdown(
            "**Is a method nearer to the original than to Retrain?** Below the diagonal it is. "
            f"({PAPER} Figure 4a)"
        )
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            names = {"all": "All", "near": "Near the references"}
            zoom = (
                state.segmented(
                    "Zoom",
                    "zoom",
                    list(names),
                    format_func=lambda name: names[name],
                    label_visibility="collapsed",
                )
                == "near"
            )
            paper_toggle()
        figure = cka_scatter.draw(info, dark=state.dark(), zoom=zoom, selected=selected)
        clicks.chart(
            figure,
            "cka_scatter",
            alt=cka_scatter.alt_text(info),
            known={mark.key for mark in info.marks},
        )
        notes = [info.note] if info.note else []
        if info.noise is not None:
            notes.append(
                f"{noise.SAID} It is a vertical strip: Retrains differ in their CKA to the "
                "original, while the CKA of each to itself is 1."
            )
        notes += (
            [f"Outside this window: {', '.join(info.outside)}."] if zoom and info.outside else []
        )
        notes += [f"Not drawn: {titles}. {reason}" for reason, titles in by_reason(info.missing)]
        notes += (
            [
                (
                    f"{cka_scatter.GHOST} Mean of its three downstream sets, ImageNet-1K, 100 "
                    "random classes."
                )
            ]
            if info.ghosts
            else []
        )
        say(notes)
    with right:
        st.markdown(
            "**Do accuracy and features agree?** Both panels have the order of the left one. "
            f"({PAPER} Figure 2)"
        )
        if not bars.bars:
            st.markdown("No method has both an average gap and the two similarities yet.")
        else:
            numbered = gap_and_ratio.draw(bars, dark=state.dark(), selected=selected)
            clicks.chart(
                numbered,
                "gap_and_ratio",
                alt=gap_and_ratio.alt_text(bars),
                known={mark.key for mark in bars.bars},
            )
            read = [
                (
                    "Ratio: CKA to Retrain over CKA to the original, divided by the same ratio of "
                    "the Retrain of its training seed. At 1 it cannot tell the model from "
                    "Retrain; below 1 the model is nearer to the original than Retrain is. Place: "
                    "by nearness to 1."
                )
            ]
            read += (
                [
                    (
                        "An interval that reaches an edge goes on beyond it; point at a mark for "
                        "its length."
                    )
                ]
                if bars.cut
                else []
            )
            say([*read, *([bars.note] if bars.note else [])])
    more = (
        (
            f"{units.count(aside, 'run')} with noise or on the classifier alone: see Sensitivity "
            "and Last layer."
        )
        if aside
        else ""
    )
    say(["" if info.note else interval_words(rows), more])
    with st.expander("What CKA and the average gap are", icon=":material/help:"):
        shown = (f"cka_retrain_{split}", f"cka_original_{split}", bars.metric)
        st.markdown("\n".join(f"- {metric_help(name)}" for name in shown))
    figures.numbers(computed.similarity_frame(rows, split), f"similarity-{split}", figure)
