"""AGL and AGR: who agrees with Retrain in answers, and who in features."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import frames, state
from dashboard.charts import agl_agr
from dashboard.frames import representation as computed
from dashboard.sections.representation import across_sets, downstream, two_sets
from dashboard.sections.representation.shared import (
    PAPER,
    by_reason,
    interval_words,
    missing,
    paper_toggle,
    say,
    selected_row,
)
from dashboard.widgets import clicks, columns, figures, header, messages
from dashboard.widgets.markdown import metric_help
from mucore import catalog

SHOWN = {"one": "This forget set", "every": "Every forget set", "two": "Two data sets"}


def show(
    rows: tuple[frames.Row, ...], runs: pd.DataFrame, everything: pd.DataFrame
) -> pd.DataFrame:
    """Gives the runs that it shows: those of this forget set, `runs`, or some of `everything`."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        shown = state.segmented(
            "Show",
            "sets",
            list(SHOWN),
            format_func=lambda name: SHOWN[name],
            label_visibility="collapsed",
        )
        chosen = _papers_choice(shown)
    if shown == "every":
        return across_sets.show(runs, everything, int(chosen) if chosen else None)
    if shown == "two":
        return two_sets.show(runs, everything)
    show_one(rows, runs, computed.paper_values(chosen) if chosen else ())
    return runs


def _papers_choice(shown: str) -> str:
    """Which of the paper's values the reader wants to see: a key of `computed.PAPER_SETS`, a number
    of classes, or "" for none.
    """
    if shown == "two" or not paper_toggle("classes at random and near a downstream set"):
        return ""
    if shown == "every":
        counts = [str(count) for count in computed.PAPER_COUNTS]
        names = {count: f"{count} classes" for count in counts}
        return state.select(
            "How many classes",
            "paper_count",
            counts,
            format_func=names.__getitem__,
            label_visibility="collapsed",
            width=200,
        )
    named = computed.PAPER_SETS
    return state.select(
        "The paper's forget set",
        "paper_set",
        list(named),
        format_func=lambda name: named[name].title,
        label_visibility="collapsed",
        width=300,
    )


def show_one(
    rows: tuple[frames.Row, ...], runs: pd.DataFrame, paper: Sequence[computed.Paper]
) -> None:
    info = agl_agr.agl_agr_info(rows, paper)
    scenario = catalog.scenario(str(runs.iloc[0]["scenario"]))
    if info.kind == "none":
        if not scenario.class_wise:
            messages.empty(
                "AGL multiplies accuracies on whole forgotten classes, which this scenario does "
                "not have, and no downstream set was measured for AGR. Choose a scenario that "
                "forgets whole classes, or launch one.",
                "Forget whole classes",
                "launch",
            )
        else:
            missing(rows, "No method of this selection has AGL or AGR yet.", "agl")
        return
    answers = agreement_answers(info)
    header.answers(answers)
    if info.kind == "both":
        st.markdown(
            "**Who agrees with Retrain in answers and in features?** Up and right is better. "
            f"({PAPER} Figures 5 and 7, Tables 3 and 15)"
        )
    elif info.kind == "agl":
        st.markdown(
            "**Who agrees with Retrain in answers?** AGL alone: no downstream set was measured "
            "here, so there is no AGR and no H-LR. Data sets with downstream sets, such as "
            f"Glyphs, have both. ({PAPER} Table 2)"
        )
    else:
        st.markdown(
            "**Who agrees with Retrain in features?** AGR alone: AGL needs a scenario that "
            f"forgets whole classes. ({PAPER} Table 3)"
        )
    left, right = st.columns([62, 38], gap="medium")
    with left:
        figure = agl_agr.draw(info, dark=state.dark(), selected=selected_row(rows))
        clicks.chart(
            figure, "agl_agr", alt=agl_agr.alt_text(info), known={mark.key for mark in info.marks}
        )
    with right:
        listed = agreement_text(info, paper)
        # all of it, as far as the figure goes
        height = min(38 + 35 * len(listed), int(figure.layout.height) - 40)
        st.dataframe(listed, hide_index=True, column_config=columns.aligned(listed), height=height)
    notes = [f"Not drawn: {titles}. {reason}" for reason, titles in by_reason(info.missing)]
    if paper:
        notes.append(_paper_words(paper))
        if info.kind == "both":
            notes.append("Paper in the table is its H-LR.")
    say([*notes, info.note or interval_words(rows)])
    downstream.show(rows, paper)
    if paper:
        st.markdown(
            f"**Beside the paper's numbers** ({PAPER} Tables 3, 7 and 9 to 15); k-NN is the mean "
            "over downstream sets."
        )
        beside = beside_paper(rows, paper)
        st.dataframe(
            beside,
            hide_index=True,
            column_config=columns.aligned(beside),
            height="content",
            key="beside_paper",
        )
    with st.expander("What AGL, AGR and H-LR are", icon=":material/help:"):
        st.markdown("\n".join(f"- {metric_help(name)}" for name in computed.AGREEMENTS))
    figures.numbers(agreement_frame(rows), "agreement", figure)


def _paper_words(paper: Sequence[computed.Paper]) -> str:
    plain = "The paper's values are of ImageNet-1K: compare the pattern, not the digits."
    if not any(one.computed for one in paper):
        return plain
    return (
        f"{plain} * It prints no AGL, AGR and H-LR for this many classes: these are computed from "
        "its printed accuracies (Tables 9 to 12), k-NN accuracies and CKAs (Tables 13 and 14)."
    )


def agreement_answers(info: agl_agr.AglAgrInfo) -> tuple[frames.Answer, ...]:
    if not info.marks:
        return ()
    best = info.marks[0]
    verdict = f"; verdict: {best.said}" if best.said else ""
    if info.kind == "both":
        made = [
            frames.Answer("Highest H-LR", best.title, f"{computed.similarity(best.h_lr)}{verdict}")
        ]
        turned = [
            mark
            for mark in info.marks
            if mark.agl is not None and mark.agr is not None and mark.agl - mark.agr > 0.2
        ]
        made.append(
            frames.Answer(
                "Only the answers forgot",
                f"{len(turned)} of {len(info.marks)}",
                "methods have an AGL more than 0.2 above their AGR",
            )
        )
        return tuple(made)
    logits = info.kind == "agl"
    value = best.agl if logits else best.agr
    near = sum(((mark.agl if logits else mark.agr) or 0.0) >= 0.9 for mark in info.marks)
    name = "AGL" if logits else "AGR"
    return (
        frames.Answer(f"Highest {name}", best.title, f"{computed.similarity(value)}{verdict}"),
        frames.Answer("At 0.9 or above", f"{near} of {len(info.marks)}", f"methods by {name}"),
    )


def agreement_text(info: agl_agr.AglAgrInfo, paper: Sequence[computed.Paper]) -> pd.DataFrame:
    """The marks as text, best first, with the paper's value of the last column beside it where
    `paper` has any.
    """
    heads = {"both": ("AGL", "AGR", "H-LR"), "agl": ("AGL",), "agr": ("AGR",), "none": ()}[
        info.kind
    ]
    printed = {one.title: {"AGL": one.agl, "AGR": one.agr, "H-LR": one.h_lr} for one in paper}
    of = papers_head(paper)
    return pd.DataFrame(
        {"Method": mark.title}
        | ({"Verdict": mark.said} if any(one.said for one in info.marks) else {})
        | {
            head: computed.similarity({"AGL": mark.agl, "AGR": mark.agr, "H-LR": mark.h_lr}[head])
            for head in heads
        }
        | {
            of.capitalize(): computed.similarity(printed.get(mark.title, {}).get(head))
            for head in heads[-1:]
            if paper
        }
        for mark in info.marks
    )


def papers_head(paper: Sequence[computed.Paper]) -> str:
    """What stands over the paper's agreements, with a star where it does not print them
    (`_paper_words`).
    """
    return "paper*" if any(one.computed for one in paper) else "paper"


def beside_paper(rows: Sequence[frames.Row], paper: Sequence[computed.Paper]) -> pd.DataFrame:
    """Every row as text with the paper's numbers beside ours: k-NN in percent, the agreements
    plain.
    """
    printed = {one.method: one for one in paper}
    made = []
    for row in rows:
        line = {"Method": row.title, "Verdict": frames.verdict_text(row)}
        one = printed.get(row.method)
        for name, show in (
            (computed.KNN, downstream.knn_text),
            *((name, computed.similarity) for name in computed.AGREEMENTS),
        ):
            head = "k-NN, %" if name == computed.KNN else catalog.metric(name).short
            line[head] = show(computed.mean(row, name))
            line[f"{head}, {'paper' if name == computed.KNN else papers_head(paper)}"] = show(
                getattr(one, "knn" if name == computed.KNN else name) if one else None
            )
        made.append(line)
    return pd.DataFrame(made)


def agreement_frame(rows: Sequence[frames.Row]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Method": row.title,
            "Verdict": frames.verdict_text(row),
            "Training seeds": len(row.training_seeds),
        }
        | {
            catalog.metric(name).short: computed.mean(row, name)
            for name in (*computed.AGREEMENTS, computed.KNN)
        }
        for row in rows
    ).dropna(axis="columns", how="all")
