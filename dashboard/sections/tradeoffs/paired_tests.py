"""Which two methods differ by more than chance in one metric."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.frames import Answer
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.sections.tradeoffs import shared
from dashboard.text import units
from dashboard.widgets import columns, figures, header, presenting
from dashboard.widgets.markdown import escape
from mucore.statistics import Statistics
from mucore.statistics.significance import LEVEL


def show(found: Statistics, runs: pd.DataFrame, answers: st.delta_generator.DeltaGenerator) -> None:
    frame = tradeoffs_frames.pairs_frame(found, shared.forgot_in(found, runs))
    if frame.empty:
        shared.missing(found, runs, "No paired test", "Launch more seeds")
        return
    differ = frame[frame["Differ"] == "yes"]
    settings, seeds = (
        len({setting for setting, _ in found.blocks}),
        len({seed for _, seed in found.blocks}),
    )
    basis = f"{units.count(settings, 'forget set')}, {units.count(seeds, 'training seed')}"
    hopeless = next((note for note in found.notes if note.startswith("No paired test can")), "")
    with answers:
        header.statement(tradeoffs_frames.tests_sentence(found.metric, len(differ), len(frame)))
        header.answers(
            [
                Answer(
                    "Pairs that differ",
                    f"{len(differ)} of {len(frame)}",
                    f"corrected p below {1 - LEVEL:.2g}",
                ),
                Answer(
                    "Methods compared", str(len(found.methods)), "those with a value in every block"
                ),
                Answer("Blocks", str(len(found.blocks)), basis),
            ]
        )
    st.caption(
        f"What is compared: {found.score}. The better method of each pair in this one metric "
        "stands on the left; whether it forgot is another column. A block is a forget set and a "
        "training seed: these tests say what other seeds of the same forget sets would show. What "
        "other forget sets would show is on the tab Ranks."
    )
    if hopeless:
        st.caption(escape(hopeless))
    settings = {
        frame.columns[3]: st.column_config.NumberColumn(format="%.2f"),
        "p": st.column_config.NumberColumn(format="%.2g", help="Of this pair alone."),
        "p (Holm)": st.column_config.NumberColumn(
            format="%.2g", help="Corrected for all pairs: the one to go by."
        ),
    }
    presenting.dataframe(
        frame,
        "paired_tests",
        alt="Pairs of methods, the surest difference first.",
        hide_index=True,
        column_config=columns.aligned(frame, settings),
        height=min(560, 38 + 35 * len(frame)),
    )
    figures.numbers(frame, f"tests-{found.metric}")
