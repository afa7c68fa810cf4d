"""The scores of one run: threshold, counts, histograms and ROC curves."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import roc, score_histogram
from dashboard.frames import membership as membership_frames
from dashboard.frames.membership import Scored
from dashboard.sections.membership import samples
from dashboard.text import units
from dashboard.text.labels import method_names, number
from dashboard.widgets import figures
from dashboard.widgets.markdown import escape
from mucore.metrics.sanity import blind_attacks


def show(key: str, line: pd.Series, attack: str, scored: dict[str, Scored], log: bool) -> None:
    run, (title, family) = scored["run"], method_names(str(line["method"]))
    references = {name: each for name, each in scored.items() if name != "run"}
    result = data.result(key)
    if result is not None and attack in blind_attacks(result.notes):
        accuracy = result.metrics[f"mia_{attack}_attack_accuracy"].value
        st.warning(
            f"On this model the attack is right about {number(accuracy, 'percent')} % of "
            "the retained and test samples it did not learn from: a guess. What it says about "
            "the forget set is no evidence.",
            icon=":material/help:",
        )
    places = membership_frames.stops(run)
    names = {f"{attack}:{place:.2f}": place for place in places}
    start = min(names, key=lambda name: abs(names[name] - run.cut))
    chosen = state.slider(
        "Threshold: samples on or above it count as seen",
        "threshold",
        list(names),
        default=start,
        format_func=lambda name: membership_frames.natural(attack, names[name]),
        help=(
            "It starts at the cut that best separates retained from test samples. Each attack "
            "keeps a threshold of its own in the address."
        ),
    )
    threshold = names[chosen]
    show_counts(run, references, threshold, result, attack)
    left, right = st.columns(2, gap="medium")
    with left:
        info = score_histogram.score_histogram_info(
            run, threshold=threshold, span=(places[0], places[-1])
        )
        st.caption(
            "Forgotten samples should lie where test samples lie, and farther left where their "
            "whole class went. What lies with the retained ones gives itself away."
        )
        figure = score_histogram.draw(info, dark=state.dark())
        figures.chart(figure, "scores", alt=score_histogram.alt_text(info))
        figures.numbers(score_histogram.table(info), f"scores-{attack}-{key}", figure, of="scores")
    with right:
        curves = roc.roc_info(run, title=title, threshold=threshold, references=references)
        st.caption(
            f"Near Retrain's dashed line is good. Diamonds: {escape(title)} at "
            f"{' and '.join(roc.LOW_RATES[rate] for rate in curves.run.at) or 'no'} FPR."
        )
        figure = roc.draw(curves, family=family, dark=state.dark(), log=log)
        figures.chart(figure, "roc", alt=roc.alt_text(curves))
        figures.numbers(roc.table(curves), f"roc-{attack}-{key}", figure, of="ROC curves")
    if log:
        st.caption(
            f"ROC: forget set against {units.count(curves.negatives, 'test sample')}; at the left "
            "edge none of them passes. A rate is told where one may: 0.1 % needs 1,000."
        )
    samples.show_walls(run, threshold, result)
    samples.show_exposed(run, references, title, family, result)
    if "Retrain" in references and run is not references["Retrain"]:
        exposed = membership_frames.vulnerable(
            run, retrain=references["Retrain"], original=references.get("Original")
        )
        heads = {
            "id": "Sample",
            "run": "Here",
            "retrain": "Retrain",
            "original": "Original",
            "lead": "Here above Retrain",
        }
        if result is not None:
            exposed = exposed.assign(id=data.numbered(result.spec, exposed["id"]))
        figures.numbers(
            exposed.rename(columns=heads),
            f"exposure-{attack}-{key}",
            of="exposure of each sample, as it stands on the axes",
        )


def show_counts(
    run: Scored, references: dict[str, Scored], threshold: float, result, attack: str
) -> None:
    """The four counts, and Retrain's shares at the same threshold, without which they mean
    little.
    """
    counts = membership_frames.count(run, threshold)
    shares: tuple[float | None, ...] = (None,) * 4
    if "Retrain" in references:
        retrain = membership_frames.count(references["Retrain"], threshold)
        shares = (retrain.tpr, 1 - retrain.tpr, retrain.fpr, 1 - retrain.fpr)
    forget, test = len(run.forget), len(run.negatives)
    tiles = (
        ("Forgotten, called seen", counts.forget_seen, forget),
        ("Forgotten, called unseen", counts.forget_unseen, forget),
        ("Test, called seen", counts.test_seen, test),
        ("Test, called unseen", counts.test_unseen, test),
    )
    for column, (label, counted, total), other in zip(
        st.columns(4, gap="small"), tiles, shares, strict=True
    ):
        with column, st.container(gap=None):
            st.caption(label)
            st.markdown(f"#### {number(counted, 'count')}")
            beside = "" if other is None else f"; Retrain {number(other, 'percent')} %"
            st.caption(
                f"{number(counted / total, 'percent')} % of {number(total, 'count')}{beside}"
            )
    stored = result.metrics.get(f"mia_{attack}") if result is not None else None
    parts = []
    if result is not None and forget < result.forget_count:
        parts.append(
            f"Of the {units.count(result.forget_count, 'forgotten sample')}, {forget:,} come with "
            "their predictions: counts and figures below are of these alone."
        )
    guess = result is not None and attack in blind_attacks(result.notes)
    if stored is not None and stored.value is not None and not guess:
        parts.append(
            f"The efficacy above is {number(stored.value, 'percent')} % for this run: "
            "its attack learns a boundary of its own, which need not be a single threshold."
        )
    if run.reversed:
        parts.append(
            "Here test samples score higher than retained ones, so a threshold points the wrong "
            "way."
        )
    if attack == "prob" and references:
        parts.append(
            "This score comes from a classifier that is fitted to each model separately, so "
            "compare its values between models with care."
        )
    if parts:
        st.caption(" ".join(parts))
