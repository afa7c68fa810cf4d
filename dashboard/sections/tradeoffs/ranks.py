"""Average ranks over scenarios, and which of them chance may explain."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import critical_difference
from dashboard.frames import Answer
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.sections.tradeoffs import shared
from dashboard.text import labels, units
from dashboard.widgets import clicks, figures, header, rank_bars
from mucore.statistics import Statistics
from mucore.statistics.significance import LEVEL


def show(found: Statistics, runs: pd.DataFrame, answers: st.delta_generator.DeltaGenerator) -> None:
    if found.ranking is None:
        shared.missing(found, runs, "No average ranks", "Launch more scenarios")
        return
    names = {
        name: (tradeoffs_frames.line_title(name), tradeoffs_frames.line_family(name))
        for name in found.ranking.ranks
    }
    forgot = shared.forgot_in(found, runs)
    columns = (found.pairs[name].tolist() for name in ("first", "second", "p_holm"))
    ranking, in_pairs = rank_bars.pick(found.ranking, zip(*columns, strict=True))
    info = critical_difference.critical_difference_info(
        ranking, names, line_keys(runs, data.chosen(runs)), forgot, in_pairs=in_pairs
    )
    alike = [tradeoffs_frames.line_title(name) for name in ranking.alike]
    others = len(info.methods) - 1
    sure = info.p < 1 - LEVEL
    with answers:
        header.statement(tradeoffs_frames.ranks_sentence(found.metric, ranking, forgot))
        header.answers(
            [
                Answer(
                    "Not told apart from first place",
                    f"{len(alike)} of {units.count(others, 'other method')}",
                    units.shortened(alike, 5) or "first place stands alone",
                ),
                pairs_answer(found)
                if info.difference is None
                else Answer(
                    "Ranks must differ by",
                    labels.number(info.difference, "ratio"),
                    "Nemenyi's critical difference over "
                    f"{units.count(info.blocks, 'forget set')}: more of them make it smaller",
                ),
                Answer(
                    "Do ranks differ at all?",
                    "Yes" if sure else "Not shown",
                    f"Friedman's test over all methods: {p_text(info.p)}",
                ),
            ]
        )
    hollow = (
        " Hollow: forgot in none of these scenarios."
        if any(method.forgot == 0 for method in info.methods)
        else ""
    )
    dots = "" if info.whole else " A bar joins only the methods at its dots."
    st.caption(
        f"What is ranked: {found.score}. Only methods that share no bar differ by more than "
        f"chance.{dots}{hollow} Click a mark or a name for the method's first run."
    )
    figure = critical_difference.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "critical_difference", alt=critical_difference.alt_text(info))
    figures.numbers(tradeoffs_frames.ranks_frame(ranking, forgot), f"ranks-{found.metric}", figure)


def pairs_answer(found: Statistics) -> Answer:
    """How many pairs of methods the tests of pairs tell apart."""
    told = int((found.pairs["p_holm"] <= 1 - LEVEL).sum())
    over = units.count(len(found.blocks), "block")
    return Answer(
        "Pairs that differ",
        f"{told} of {len(found.pairs)}",
        f"Wilcoxon's signed-rank test over {over} of a forget set and a seed, corrected by Holm",
    )


@st.cache_data(show_spinner=False, max_entries=16)
def line_keys(_runs: pd.DataFrame, chosen: str) -> dict[str, str]:
    """`frames.tradeoffs.line_keys`; `chosen` says which runs."""
    return tradeoffs_frames.line_keys(shared.labelled(_runs, chosen))


def p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
