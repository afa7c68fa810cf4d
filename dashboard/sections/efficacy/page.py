"""Efficacy: how much information about the forgotten samples is left in the weights (Becker &
Liebig).
"""

from __future__ import annotations

from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data, frames, state
from dashboard.charts import dots
from dashboard.charts.parts import log_axis
from dashboard.frames import efficacy as efficacy_frames
from dashboard.frames import efficacy_paper
from dashboard.frames.membership import NEAREST
from dashboard.frames.rows import metric_rows, noise
from dashboard.sections.efficacy import over_runs
from dashboard.text import labels, units
from dashboard.widgets import clicks, columns, figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore.metrics.membership import ATTACKS

QUESTION: Final = "How much do the weights still hold about the forgotten samples?"
AXIS: Final = "log₁₀ efficacy: lower is less exposed. Tick: its bound"
METRICS: Final = ("efficacy", "efficacy_bound", "efficacy_untrained")


def show(top: DeltaGenerator, chips: DeltaGenerator, beside: DeltaGenerator) -> None:
    source, runs = data.source(), data.unlearning_runs()
    if runs.empty:
        with top:
            messages.no_results(QUESTION, "One over the information that weights hold.")
        return
    with chips:
        runs = run_filters.pick_runs(runs, first=run_filters.OPENS_ON, sets=False)
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    with top:
        header.header(QUESTION, how_to_read(runs), source)
    scenario, dataset = str(runs.iloc[0]["scenario"]), str(runs.iloc[0]["dataset"])
    values = data.metric_values(dataset=dataset, scenario=scenario)
    frame = run_frame(runs, values, source.name, source.change, data.chosen(runs))
    sets = efficacy_frames.sets(frame)
    if not sets:
        unmeasured(runs, values)
        return
    names = efficacy_frames.set_labels(sets, dataset)
    with beside:
        chosen = pick_set(frame, names)
        mine = runs[runs["scenario_parameters"] == chosen]
        methods = len(run_filters.methods_of(mine))
        everyone = methods > NEAREST and state.toggle(f"All {methods} methods", "compete")
        printed = state.toggle("The paper's numbers", "paper")
    figure = draw(mine, values, everyone)
    measures = f"seen_{ATTACKS[1]}"
    if len(names) > 1:
        where = (source.name, source.change, data.chosen(runs))
        measures = over_runs.show(frame, names, where)
    with st.expander("What the paper found, and these runs", icon=":material/article:"):
        show_findings(frame, measures)
    if printed:
        st.markdown("**Becker & Liebig, Tables 1 and 2**, %, mean ± standard deviation over seeds")
        table = efficacy_paper.paper_frame(frame)
        st.dataframe(table, hide_index=True, column_config=columns.aligned(table))
    run_drawer.run_drawer(runs)
    figures.numbers(numbers(frame, names), f"efficacy-{scenario}", figure)
    provenance(runs)


def how_to_read(runs: pd.DataFrame) -> str:
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    return "  \n".join(
        [
            escape(f"{labels.setup_text(runs.iloc[0])}, {seeds}."),
            "**Efficacy**: one over the information (squared gradients) that the weights hold of "
            "the forget set. **Bound**: the same from one gradient, always higher.",
            "**Retrain's value is the goal**: lower is no gain, a damaged model has large "
            "gradients everywhere.",
            "**Grey area**: 95 % band of Retrains of other seeds. **Hollow**: an indication.",
            "After Becker & Liebig, 2022, Figures 1 to 8. Click a mark for its run.",
        ]
    )


@st.cache_data(show_spinner=False, max_entries=16)
def run_frame(
    _runs: pd.DataFrame, _values: pd.DataFrame, name: str, change: int, chosen: str
) -> pd.DataFrame:
    """`efficacy_frames.run_frame`; `name`, `change` and `chosen` say which runs, so that the frames
    need no hashing.
    """
    return efficacy_frames.run_frame(_runs, _values, data.judged(_runs))


def pick_set(frame: pd.DataFrame, names: dict[str, str]) -> str:
    """The forget set of the first figure: at first the one with most methods, of equals the
    largest.
    """
    ids = {labels.short_id(name): name for name in names}
    measured = frame[frame["efficacy"].notna()].groupby("set")["row"].nunique()
    order = list(names)
    fullest = max(order, key=lambda name: (int(measured.get(name, 0)), order.index(name)))
    if len(ids) < 2:
        return fullest
    return ids[
        state.select(
            "Forget set",
            "set",
            list(ids),
            default=labels.short_id(fullest),
            format_func=lambda name: names[ids[name]],
            label_visibility="collapsed",
            width=170,
        )
    ]


def draw(runs: pd.DataFrame, values: pd.DataFrame, everyone: bool) -> go.Figure | None:
    """Efficacy and its bound by method on one forget set, the nearest that forgot on top."""
    judged = data.judged(runs)
    values = values[values["key"].isin(runs["key"])]
    table = frames.results_table(
        runs, values, view="value", sort=frames.USUAL, judged=judged, pinned=run_filters.pinned()
    )
    rows = {row.id: row for row in metric_rows(runs, values, METRICS, judged=judged)}
    methods = [rows[row.id] for row in table.methods if rows[row.id].cells["efficacy"].value]
    before, after = (
        [row for row in rows.values() if row.method == name and row.cells["efficacy"].value]
        for name in ("original", "retrain")
    )
    shown = [*before, *(methods if everyone else methods[:NEAREST]), *after]
    lines = [
        dots.line_of(row, [dots.mark_of(row, "efficacy", tick=mean(row, "efficacy_bound"))])
        for row in shown
    ]
    untrained = [mean(row, "efficacy_untrained") for row in before]
    lines[:0] = [
        dots.Line(key="", title="Before training", marks=(dots.Mark(value),))
        for value in untrained
        if value is not None
    ]
    if said := efficacy_frames.sentence(
        run_frame(runs, values, data.source().name, data.source().change, data.chosen(runs))
    ):
        header.answer(said)
    header.verdict_bar(table.methods)
    if not lines:
        st.markdown("No run on this forget set has an efficacy of its own.")
        return None
    every = [x for line in lines for mark in line.marks if mark for x in (mark.value, mark.tick)]
    low, high = log_axis.span([x for x in every if x is not None])
    panel = dots.Panel(
        name="efficacy",
        title="",
        span=(low, high),
        base=mean(after[0], "efficacy") if after else None,
        half_band=noise(rows.values(), "efficacy"),
    )
    run = state.param("run")
    selected = next((row.id for row in shown if run in row.keys), "")
    look: dict[str, Any] = {"axis": AXIS, "dark": state.dark(), "selected": selected}
    figure = dots.draw(lines, [panel], **look)
    narrow = dots.draw(lines, [panel], stacked=True, **look)
    alt = dots.alt_text(lines, [panel], AXIS)
    marks = clicks.stacking(figure, narrow, "efficacy_dots", alt=alt)
    clicks.open_run([rows[row].keys for row, *_ in marks if row])
    return figure


def mean(row: frames.Row, metric: str) -> float | None:
    value = row.cells[metric].value
    return None if value is None else value.mean


def show_findings(frame: pd.DataFrame, column: str) -> None:
    said = {True: "yes", False: "no", None: "open"}
    found = pd.DataFrame(
        [
            {
                "Becker & Liebig find": each.paper,
                "Measured by": each.measure,
                "Here": each.text,
                "Runs": each.runs,
                "As in the paper": said[each.holds],
            }
            for each in efficacy_paper.findings(frame, column)
        ]
    )
    st.dataframe(found, hide_index=True, column_config=columns.aligned(found))


def unmeasured(runs: pd.DataFrame, values: pd.DataFrame) -> None:
    """No run has an efficacy: the reason that the runs give, or that they are older than it."""
    here = values[
        values["key"].isin(runs["key"])
        & values["metric"].isin(efficacy_frames.METRICS)
        & values["error"].notna()
    ]
    text = "These results are older than this metric; where weights were kept, "
    text += "`python -m mucore remeasure` adds it."
    if len(here):
        text = f"No efficacy here: {escape(str(here['error'].value_counts().index[0]))}"
    messages.empty(text, "Launch a comparison", "launch")
    provenance(runs)


def numbers(frame: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    """One line a run, powers of ten and percent, full precision."""
    named = frame.assign(set=[names.get(name, name) for name in frame["set"]])
    heads = {
        "title": "Method",
        "set": "Forget set",
        "said": "Verdict",
        "training_seed": "Training seed",
        "efficacy": "Efficacy (log10)",
        "efficacy_bound": "Bound (log10)",
        **{f"seen_{attack}": f"Called seen by {attack} (0..1)" for attack in ATTACKS},
        "key": "Run",
    }
    return named[list(heads)].rename(columns=heads)
