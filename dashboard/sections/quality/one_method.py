"""One method: its ε over all samples, and one sample from near (competition, Figure 1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import histograms
from dashboard.frames import quality as quality_frames
from dashboard.frames.quality import Found, Scored
from dashboard.sections.quality import computing
from dashboard.widgets import figures
from mucore.metrics.forgetting_quality import BIN, Rule, best_rule
from mucore.quality import Finding

BINS: Final = 24
EPSILON: Final = "ε of a sample, nats: 0 is ideal"
CONFIDENCE: Final = "Logit-scaled confidence of the true class, nats"


def show(found: Found, scored: Sequence[Scored], name: str) -> None:
    """The method that the address names, the one with the highest F at first, and a sample."""
    known = {row.id: (row.title, one) for row, one in scored}
    left, right = st.columns(2, gap="medium")
    with left:
        chosen = state.select(
            "Method", "method", list(known), format_func=lambda row: known[row][0]
        )
        title, finding = known[chosen]
        bins = quality_frames.epsilon_bins(title, finding.assessment.histogram)
        bound = quality_frames.bound(found.models)
        figure = histograms.draw(
            bins,
            axis=EPSILON,
            up="Forgotten samples",
            dark=state.dark(),
            cuts={bound: f"largest finite ε, {bound:.1f}"},
            ticks=ticks(bins),
        )
        figures.chart(figure, "epsilon_histogram", alt=histograms.alt_text(bins, EPSILON))
    with right:
        show_sample(found, finding, name)


def ticks(bins: pd.DataFrame) -> list[tuple[float, str]]:
    """Each whole ε, and the last bin as open."""
    last = float(bins["low"].iloc[-1])
    return [*((float(x), f"{x}") for x in range(int(last) + 1)), (last + BIN / 2, f"{last:g}+")]


def show_sample(found: Found, finding: Finding, name: str) -> None:
    """What the models of both kinds say of one sample, and the rule that tells them apart best."""
    samples = computing.get_samples(found, finding)
    if samples is None:
        return
    result = data.result(finding.keys[0])
    ids = samples.ids if result is None else data.numbered(result.spec, samples.ids)
    places = {str(ids[place]): place for place in samples.by_epsilon}
    chosen = state.select(
        "Sample, easiest to tell first",
        "sample",
        list(places),
        format_func=lambda sample: (
            f"Sample {sample}, ε {quality_frames.epsilon_text(samples.epsilons[places[sample]])}"
        ),
    )
    unlearned, retrained = (
        each[:, places[chosen]] for each in (samples.unlearned, samples.retrained)
    )
    both = np.concatenate([unlearned, retrained])
    bins = histograms.bins(
        {"": {"Unlearned models": unlearned, "Retrained models": retrained}},
        np.linspace(both.min() - 1e-6, both.max() + 1e-6, BINS + 1),
    )
    rule = best_rule(unlearned=unlearned, retrained=retrained)
    figure = histograms.draw(
        bins, axis=CONFIDENCE, up="Share of the models, %", dark=state.dark(), cuts=cuts(rule)
    )
    figures.chart(figure, "two_distributions", alt=histograms.alt_text(bins, CONFIDENCE))
    table = pd.DataFrame({"Unlearned, nats": unlearned, "Retrained, nats": retrained})
    figures.numbers(table, f"{name}-sample-{chosen}", figure, of=f"sample {chosen}")


def cuts(rule: Rule | None) -> dict[float, str]:
    """The thresholds of a rule, the first with how often it errs."""
    if rule is None:
        return {}
    ends = [end for end in (rule.low, rule.high) if np.isfinite(end)]
    errors = f"FNR {100 * rule.fnr:.0f} %, FPR {100 * rule.fpr:.0f} %"
    return {end: errors if number == 0 else "" for number, end in enumerate(ends)}
