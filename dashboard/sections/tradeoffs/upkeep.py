"""What methods take over many requests: who prepares something once, and when that pays."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import amortised_cost
from dashboard.frames import budget as budget_frames
from dashboard.frames import tradeoffs as tradeoffs_frames
from dashboard.frames.tradeoffs import Costs
from dashboard.sections.tradeoffs import goals
from dashboard.text import units, verdicts
from dashboard.widgets import clicks, columns, figures, header, messages, run_drawer
from dashboard.widgets.markdown import escape, metric_help


def show(
    source: data.Source,
    runs: pd.DataFrame,
    answer: st.delta_generator.DeltaGenerator,
    line: st.delta_generator.DeltaGenerator,
) -> None:
    """One setting's methods."""
    with line:
        goals.pick_rivals()
    found = costs(runs, source.name, source.change, data.chosen(runs))
    everyone = state.choice(goals.RIVALS, ["0", "1"]) == "1"
    lines = found.competing(everyone)
    if not lines:
        messages.empty(
            _why_none(found),
            "Launch a comparison",
            "launch",
            **budget_frames.launch_query(runs, ()),
        )
        _show_unknown(found)
        return
    with answer:
        header.answer(tradeoffs_frames.upkeep_sentence(found, everyone=everyone))
    info = amortised_cost.amortised_cost_info(lines)
    figure = amortised_cost.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "amortised_cost", alt=amortised_cost.alt_text(info))
    frame = tradeoffs_frames.upkeep_frame(found, everyone=everyone)
    help_of = {
        "Kept, MB": metric_help("persistent_bytes"),
        "Once, Retrains": metric_help("prepared_seconds"),
        "Each request, Retrains": (
            f"{metric_help('rte')}\n\nWith: {metric_help('prepared_for_request_seconds')}"
        ),
    }
    settings = {name: st.column_config.Column(help=text) for name, text in help_of.items()}
    st.dataframe(frame, hide_index=True, column_config=columns.aligned(frame, settings))
    _show_unknown(found)
    run_drawer.run_drawer(runs)
    figures.numbers(tradeoffs_frames.curves_frame(lines), "requests", figure)


@st.cache_data(show_spinner=False, max_entries=16)
def costs(_runs: pd.DataFrame, name: str, change: int, chosen: str) -> Costs:
    """`frames.tradeoffs.upkeep` of the runs; `name`, `change` and `chosen` say which."""
    first = _runs.iloc[0]
    values = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    values = values[values["key"].isin(_runs["key"])]
    rows = frames.metric_rows(_runs, values, tradeoffs_frames.COSTS, judged=data.judged(_runs))
    return tradeoffs_frames.upkeep(rows)


def _why_none(found: Costs) -> str:
    if not found.lines:
        return "No method has all its costs measured here. Launch Retrain and methods together."
    return verdicts.why_none([line.row for line in found.lines])


def _show_unknown(found: Costs) -> None:
    """The lines that are not drawn, by what they lack."""
    if not found.unknown:
        return
    reasons: dict[str, list[str]] = {}
    for title, reason in found.unknown.items():
        reasons.setdefault(reason.rstrip("."), []).append(title)
    said = "; ".join(f"{', '.join(titles)} ({reason})" for reason, titles in reasons.items())
    with st.expander(f"{units.count(len(found.unknown), 'line')} not drawn"):
        st.markdown(f"{escape(said)}.")
