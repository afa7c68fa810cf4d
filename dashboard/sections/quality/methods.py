"""The methods of an experiment: bars of quality and time, their table, a closer look at one."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dashboard import frames, state
from dashboard.charts import score_bars
from dashboard.frames import quality as quality_frames
from dashboard.frames.quality import Found
from dashboard.sections.quality import one_method
from dashboard.sections.quality.drawn import Drawn
from dashboard.text import labels
from dashboard.widgets import clicks
from dashboard.widgets.markdown import escape, metric_help
from mucore.metrics.forgetting_quality import TIME_LIMIT
from mucore.runner.quality import Finding
from mucore.verdicts import Judged


def show(found: Found, findings: list[Finding], judged: Mapping[str, Judged]) -> list[Drawn]:
    """Bars, table and a closer look at one method."""
    drawn: list[Drawn | None] = []
    left, right = st.columns(2, gap="medium")
    with left:
        st.caption(
            "Forgetting quality (F) with half the models. The dashed line is one half of the "
            "retrained models against the other: a method that reaches it is as hard to tell from "
            "Retrain as Retrain itself.",
            help=metric_help("forgetting_quality"),
        )
        drawn.append(show_quality_bars(findings))
    with right:
        st.caption(
            "Mean unlearning time as a share of Retrain's. The competition rejects methods beyond "
            "the dashed line.",
            help=metric_help("competition_score"),
        )
        drawn.append(show_time_bars(findings))
    table = quality_frames.table(findings, judged)
    zero = [head for head in ("Without ε", "Degenerate", "Reverted") if not table[head].any()]
    # they stand in the numbers below
    shown = table.drop(columns=["AUC, %", "TPR at 1 %, %", *zero])
    help = {head: metric_help(metric) for head, metric in quality_frames.HEADS.items()} | {
        "Distance": frames.DISTANCE_MEANING
    }
    config = {
        head: st.column_config.Column(alignment="right", help=help.get(head))
        for head in shown.columns[2:]
    }
    st.dataframe(shown, hide_index=True, column_config=config, key="quality_table")
    for sentence in quality_frames.sentences(findings):
        st.caption(escape(sentence))
    keys = {method.keys: method.row for method in found.methods}
    rows = {keys[one.keys]: one for one in findings}
    choose, _ = st.columns([2, 3])
    with choose:
        row = state.select(
            "Look at the samples of",
            "method",
            list(rows),
            format_func=lambda name: quality_frames.title(rows[name], findings),
        )
    drawn += one_method.show(found, rows[row], quality_frames.title(rows[row], findings))
    return [part for part in drawn if part is not None]


def show_quality_bars(findings: list[Finding]) -> Drawn | None:
    bars, missing = [], []
    for one in findings:
        name, value = quality_frames.title(one, findings), one.assessment.half_quality
        if value is None:
            missing.append(name)
        else:
            bars.append(
                score_bars.Bar(name, labels.method_names(one.spec.method)[1], value, one.keys[0])
            )
    reference = findings[0].assessment.retrain_quality
    half = findings[0].assessment.half_models
    lines = [] if reference is None else [score_bars.Line("Retrain", reference, "dash")]
    info = score_bars.score_bars_info(
        bars,
        lines=lines,
        axis=f"F with {half} models of each kind: high is good",
        digits=3,
        missing=missing,
    )
    return show_bars(info, "quality_bars", "bars of forgetting quality")


def show_time_bars(findings: list[Finding]) -> Drawn | None:
    bars, missing = [], []
    for one in findings:
        name, value = quality_frames.title(one, findings), one.assessment.time_share
        if value is None:
            missing.append(name)
        else:
            note = "rejected" if quality_frames.too_slow(one.assessment) else ""
            bars.append(
                score_bars.Bar(
                    name,
                    labels.method_names(one.spec.method)[1],
                    100 * value,
                    one.keys[0],
                    note=note,
                )
            )
    lines = [score_bars.Line("limit", 100 * TIME_LIMIT, "dash")]
    axis = "Time, % of Retrain's: low is good"
    info = score_bars.score_bars_info(
        bars, lines=lines, axis=axis, digits=1, best="low", missing=missing
    )
    return show_bars(info, "time_bars", "bars of time")


def show_bars(info: score_bars.ScoreBarsInfo, key: str, of: str) -> Drawn | None:
    """The bars; a click on one opens its first run."""
    if not info.bars:
        st.markdown("No method has this number; the sentences below the table say why.")
        return None
    figure = score_bars.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, key, alt=score_bars.alt_text(info))
    if info.missing:
        st.caption(escape(f"Without this number: {', '.join(info.missing)}."))
    return Drawn(key, of, score_bars.table(info), figure)
