"""Forgetting quality: can many unlearned models be told from as many retrained ones? (NeurIPS 2023
competition)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import data, frames, state
from dashboard.charts import dots
from dashboard.frames import quality as quality_frames
from dashboard.frames.quality import Found, Scored
from dashboard.sections.quality import computing, example, one_method
from dashboard.text import labels, units
from dashboard.widgets import clicks, figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape, metric_help
from dashboard.widgets.provenance import provenance
from mucore.metrics.forgetting_quality import FEW_MODELS, TIME_LIMIT

QUESTION: Final = "Can anyone tell the unlearned models from retrained ones?"
AXIS: Final = "Dashed: Retrain against itself, and the competition's limit"


def show(top: DeltaGenerator, chips: DeltaGenerator, beside: DeltaGenerator) -> None:
    source, every = data.source(), data.unlearning_runs()
    runs = every[every["key"].isin(belonging(every))]
    if runs.empty:
        with top:
            header.header(QUESTION, "Many models of each method, many Retrains.", source)
        example.show()
        return
    with chips:
        runs = run_filters.pick_runs(runs)
    with beside:
        found = pick_experiment(runs, source)
    if found is None:
        with top:
            header.header(QUESTION, "The chosen methods have no experiment together.", source)
        messages.empty("Choose at least one method.", "See the results", "results")
        return
    used = runs[runs["key"].isin(found.keys)]
    with top:
        header.header(QUESTION, how_to_read(used, found), source)
    findings = computing.get_findings(source, found)
    values = data.metric_values(dataset=str(used.iloc[0]["dataset"]))
    rows = frames.metric_rows(used, values, (), judged=data.judged(used))
    scored = quality_frames.scored(findings, found, rows)
    if said := quality_frames.headline(scored):
        header.answer(said)
    if found.models < FEW_MODELS:
        st.caption(
            f":material/warning: {found.models} models of each kind are few: F is a rough estimate."
        )
    known = {one.keys for one in findings}
    if missing := [method for method in found.methods if method.keys not in known]:
        computing.offer_to_compute(source, found, missing)
    name = f"quality-{used.iloc[0]['scenario']}-{found.models}"
    if scored:
        figure = draw(scored)
        one_method.show(found, scored, name)
        show_table(scored)
        figures.numbers(quality_frames.table(scored), name, figure, of="methods")
    run_drawer.run_drawer(used)
    provenance(used)


@data.kept(8)
def belonging(_: data.Source, runs: pd.DataFrame) -> frozenset[str]:
    """Keys of all runs that belong to an experiment."""
    return frozenset(quality_frames.in_experiments(runs)["key"])


def pick_experiment(runs: pd.DataFrame, source: data.Source) -> Found | None:
    """The experiment that the address names, at first the largest whose numbers are known; no
    choice is drawn where there is but one.
    """
    options = {one.id: one for one in quality_frames.experiments(runs)}
    if len(options) < 2:
        return next(iter(options.values()), None)
    known = next(
        (name for name, one in options.items() if computing.get_findings(source, one)), None
    )
    return options[
        state.segmented(
            "Models of each kind",
            "models",
            list(options),
            default=known,
            format_func=lambda name: experiment_name(options[name]),
            label_visibility="collapsed",
        )
    ]


def experiment_name(found: Found) -> str:
    own = ", an original each" if found.originals == "each" else ""
    first = f", from seed {found.seed}" if found.seed else ""
    return f"{found.models} models, {units.count(len(found.methods), 'method')}{own}{first}"


def how_to_read(runs: pd.DataFrame, found: Found) -> str:
    first = runs.iloc[0]
    whence = "one original" if found.originals == "one" else "an original each"
    return "  \n".join(
        [
            escape(
                f"{labels.setup_text(first)}. {found.models} models of each kind, unlearned from "
                f"{whence}; {units.count(int(first['forget_count']), 'sample')} to forget."
            ),
            "**F**: 1 if no forgotten sample gives the unlearned models away, 0 if each does. "
            "**Dashed**: one half of the Retrains against the other.",
            "**ε** of a sample: how surely its confidences tell the two kinds apart, in nats, at "
            f"most ln(N − 1) = {quality_frames.bound(found.models):.1f} or infinite.",
            "In F, a sample in the first bin counts 1, in each further bin half as much, "
            "in the last, open one 0.",
            f"**Time**: above {100 * TIME_LIMIT:.0f} % of Retrain's, a method is rejected.",
        ]
    )


def draw(scored: Sequence[Scored]) -> go.Figure:
    """F with half the models, and time, against Retrain; a click opens the first run."""
    found = [one.assessment for _, one in scored]
    first = found[0]
    panels = [
        dots.Panel(
            name="quality",
            title=f"Forgetting quality F, {first.half_models} models of each kind",
            span=(0.0, top_of([first.retrain_quality, *(one.half_quality for one in found)])),
            base=first.retrain_quality,
            digits=3,
        ),
        dots.Panel(
            name="time",
            title=f"Time, % of a Retrain: rejected above {100 * TIME_LIMIT:.0f}",
            span=(0.0, top_of([TIME_LIMIT, *(one.time_share for one in found)], 100)),
            base=100 * TIME_LIMIT,
        ),
    ]
    lines = [
        dots.line_of(row, [mark(a.half_quality), mark(a.time_share, 100)])
        for (row, _), a in zip(scored, found, strict=True)
    ]
    if first.retrain_quality is not None:
        marks = (dots.Mark(first.retrain_quality), None)
        lines.append(dots.Line(key="", title="Retrain", marks=marks))
    rows = [row for row, _ in scored]
    figure, clicked = clicks.dotted(rows, lines, panels, "quality_dots", axis=AXIS)
    clicks.open_run(clicked)
    return figure


def mark(value: float | None, scale: float = 1.0) -> dots.Mark | None:
    return None if value is None else dots.Mark(scale * value)


def top_of(values: Sequence[float | None], scale: float = 1.0) -> float:
    return scale * max([value for value in values if value is not None], default=1.0) or 1.0


def show_table(scored: Sequence[Scored]) -> None:
    table = quality_frames.table(scored)
    none = [head for head in ("Without ε", "Degenerate", "Reverted") if not table[head].any()]
    shown = table.drop(columns=["AUC, %", "TPR at 1 %, %", *none])  # these are in the numbers
    told = {head: metric_help(metric) for head, metric in quality_frames.HEADS.items()} | {
        "Distance": frames.DISTANCE_MEANING
    }
    config = {
        head: st.column_config.Column(alignment="right", help=told.get(head))
        for head in shown.columns[2:]
    }
    st.dataframe(shown, hide_index=True, column_config=config, key="quality_table")
    if said := quality_frames.sentences(scored):
        with st.popover(f"Warnings: {len(said)}", icon=":material/warning:", type="tertiary"):
            for sentence in said:
                st.markdown(escape(sentence))
