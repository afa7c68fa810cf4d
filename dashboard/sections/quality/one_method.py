"""One method: its ε over all samples, and one sample from near."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import access, data, state
from dashboard.charts import epsilon_histogram, two_distributions
from dashboard.frames import quality as quality_frames
from dashboard.frames.quality import Found, Samples
from dashboard.sections.quality import computing
from dashboard.text import labels
from dashboard.widgets import figures, guests
from dashboard.widgets.markdown import escape
from mucore.errors import MucoreError
from mucore.metrics.forgetting_quality import BIN
from mucore.runner.quality import Finding, forget_confidences


def show(found: Found, findings: Sequence[Finding], name: str) -> None:
    """The method that the address names, the one with the highest F at first, and a sample."""
    rows = {method.keys: method.row for method in found.methods}
    known = {rows[one.keys]: one for one in findings}
    left, right = st.columns([46, 54], gap="medium")
    with left:
        row = state.select(
            "Look at the samples of",
            "method",
            list(known),
            format_func=lambda row: quality_frames.title(known[row], findings),
        )
        finding = known[row]
        title = quality_frames.title(finding, findings)
        a, family = finding.assessment, labels.method_names(finding.spec.method)[1]
        info = epsilon_histogram.epsilon_histogram_info(
            title, family, a.histogram, missing=a.missing, models=a.models
        )
        figure = epsilon_histogram.draw(info, dark=state.dark())
        figures.chart(figure, "epsilon_histogram", alt=epsilon_histogram.alt_text(info))
    with right:
        sample = show_sample(found, finding, family)
    bins = pd.DataFrame(
        {
            "From ε": [BIN * place for place in range(len(info.counts))],
            "Samples": info.counts,
            "Weight": info.weights,
        }
    )
    figures.numbers(bins, f"{name}-epsilon", figure, of=f"samples of {title} by ε")
    if sample is not None:
        which, frame, curves = sample
        figures.numbers(
            frame, f"{name}-sample-{which}", curves, of=f"confidences in sample {which}"
        )


def show_sample(
    found: Found, finding: Finding, family: str
) -> tuple[str, pd.DataFrame, go.Figure] | None:
    """What the models of both kinds say of one sample (competition, Figure 1): its id, their
    confidences and the figure.
    """
    content = get_samples(data.source(), found, finding)
    if content is None:
        return None
    result = data.result(finding.keys[0])
    if result is not None:
        content = replace(content, ids=data.numbered(result.spec, content.ids))
    order = {
        str(sample): quality_frames.epsilon_text(float(content.epsilons[content.at(sample)]))
        for sample in content.by_epsilon
    }
    chosen = state.select(
        "Sample, easiest to tell first",
        "sample",
        list(order),
        format_func=lambda sample: f"Sample {sample}, ε {order[sample]}",
    )
    place = content.at(int(chosen))
    info = two_distributions.two_distributions_info(
        int(chosen), family, content.unlearned[:, place], content.retrained[:, place]
    )
    figure = two_distributions.draw(info, dark=state.dark())
    figures.chart(figure, "two_distributions", alt=two_distributions.alt_text(info))
    frame = pd.DataFrame({"Unlearned, nats": info.unlearned, "Retrained, nats": info.retrained})
    return chosen, frame, figure


def get_samples(source: data.Source, found: Found, finding: Finding) -> Samples | None:
    """What the models say of each sample; read on request where it is not kept yet."""
    kinds = [finding.keys, found.retrained]
    kept, name = read_samples(source.name), (found.retrained, finding.keys)
    if name in kept:
        return kept[name]
    try:
        unlearned, retrained = (
            forget_confidences(keys, source.store, stored_only=True) for keys in kinds
        )
        if unlearned is None or retrained is None:
            st.markdown(f"What {2 * found.models} models say of each sample has not been read yet.")
            if not guests.may("have it read") or not st.button(
                "Read their predictions", icon=":material/download:", key="read"
            ):
                return None
            unlearned, retrained = computing.read(source, found, kinds)
            kept[name] = quality_frames.samples(unlearned, retrained)
            st.rerun()
        with st.spinner("Looking for the best rule of each sample"):
            kept[name] = quality_frames.samples(unlearned, retrained)
    except MucoreError as failure:
        st.markdown(escape(access.shown(str(failure))))
        return None
    return kept[name]


@st.cache_resource(show_spinner=False, max_entries=4)
def read_samples(name: str) -> dict[tuple[tuple[str, ...], tuple[str, ...]], Samples]:
    """As `computed`, for what the models say of each sample."""
    return {}
