"""Against membership inference, under one attack that is chosen here."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import efficacy_membership, efficacy_probability
from dashboard.charts.parts import noise, strips
from dashboard.frames import efficacy as efficacy_frames
from dashboard.frames import membership as membership_frames
from dashboard.text import units
from dashboard.widgets import clicks, figures, messages
from dashboard.widgets.markdown import escape, metric_help
from mucore import catalog
from mucore.errors import MucoreError
from mucore.metrics.membership import ATTACKS
from mucore.store import Store

HEIGHTS = {"seen": "Share called seen", "probability": "Mean probability"}


def show(frame: pd.DataFrame, sets: Sequence[str], labels: dict[str, str]) -> None:
    """Mean membership probabilities over runs, and efficacy against membership, under one attack
    that is chosen here.
    """
    names = {attack: attack_title(attack) for attack in ATTACKS}
    st.subheader(
        "Against membership inference", anchor=False, help=metric_help(f"mia_{ATTACKS[1]}")
    )
    attack = state.segmented(
        "Attack", "attack", list(ATTACKS), default=ATTACKS[1], format_func=lambda name: names[name]
    )
    known = frame.dropna(subset="probability")
    found = dict(zip(known["key"], known["probability"], strict=True))
    show_probabilities(frame, found, sets, labels, attack)
    show_scatter(frame, sets, labels, attack)


def attack_title(attack: str) -> str:
    return catalog.metric(f"mia_{attack}").title.removesuffix(" MIA efficacy")


def with_probability(frame: pd.DataFrame, attack: str) -> pd.DataFrame:
    """The runs with the mean membership `probability` of their forget set, of those whose
    predictions are there.
    """
    source = data.source()
    keys = tuple(sorted(data.predicted().intersection(frame["key"])))
    found = _probabilities(source.store, source.name, source.change, keys, attack)
    return frame.assign(probability=frame["key"].map(found).astype(float))


@st.cache_data(show_spinner="Reading the predictions of these runs", max_entries=32)
def _probabilities(
    _store: Store, name: str, change: int, keys: tuple[str, ...], attack: str
) -> dict[str, float]:
    """`name` and `change` say which store, and when it was read."""
    found = {}
    for result in _store.results(metrics=False, brief=True, keys=keys):
        spec = {
            each: result.spec[each]
            for each in ("mia_samples", "evaluation_seed")
            if each in result.spec
        }
        if result.outputs is not None and _store.artifacts.exists(result.outputs):
            found[result.key] = _probability(_store, name, result.outputs, attack, spec)
    return {key: value for key, value in found.items() if value is not None}


@st.cache_data(show_spinner=False, max_entries=20_000)
def _probability(
    _store: Store, name: str, artifact: str, attack: str, spec: dict[str, int]
) -> float | None:
    """`membership_frames.mean_probability` of one file, whose name is its content; None where it is
    damaged or lacks a split.

    Kept by file, so that a run that is added later makes no other run be read again.
    """
    try:
        return membership_frames.mean_probability(
            attack, _store.artifacts.get_outputs(artifact, features=False), spec
        )
    except MucoreError:
        return None


def show_probabilities(
    frame: pd.DataFrame,
    found: dict[str, float],
    sets: Sequence[str],
    labels: dict[str, str],
    attack: str,
) -> None:
    info = efficacy_probability.efficacy_probability_info(frame, found, sets=sets, labels=labels)
    st.caption(
        "Becker & Liebig, Figures 3 and 7: the probability that the attack "
        f"({attack_title(attack).lower()}) gives a forgotten sample of having been in the training "
        "set, mean over the forget set, one dot a run. Look at whether a method moves from "
        f"Original to where Retrain stands.{f' {noise.SAID}' if info.noise else ''}"
    )
    if not info.runs:
        messages.empty(
            "This figure needs predictions sample by sample, and no run of this choice kept them. "
            "Run the comparison again on this machine: predictions stay until you remove them.",
            "Launch a comparison",
            "launch",
        )
        return
    figure = efficacy_probability.draw(info, dark=state.dark(), selected=state.param("run"))
    clicks.chart(figure, "efficacy_probability", alt=efficacy_probability.alt_text(info))
    said = [f"{units.count(info.runs, 'run')} with predictions."]
    said += [
        f"{units.count(info.missing, 'run')} without: run them again to see them here."
        if info.missing
        else ""
    ]
    few = (
        f"At most {units.count(info.fullest, 'run')} a method and forget set: points, not a "
        "distribution."
    )
    said += [
        few
        if info.fullest < strips.DENSE
        else "A curve stands where there are eight seeds or more."
    ]
    said += [f"Without a panel: {', '.join(info.left_out)}." if info.left_out else ""]
    said += [
        (
            "The probability is a logistic regression's, fitted to retained and test samples of "
            "each run; the paper's attack may differ."
        )
    ]
    st.caption(escape(" ".join(filter(None, said))))
    shown = frame[frame["key"].isin(list(found)) & (frame["method"] != efficacy_frames.UNTRAINED)]
    table = pd.DataFrame(
        {
            "Method": shown["title"],
            "Forget set": [labels.get(name, name) for name in shown["set"]],
            "Training seed": shown["training_seed"],
            "Mean probability": shown["key"].map(found),
            "Run": shown["key"],
        }
    )
    figures.numbers(table, f"efficacy-probability-{attack}", figure, of="membership probability")


def show_scatter(
    frame: pd.DataFrame, sets: Sequence[str], labels: dict[str, str], attack: str
) -> None:
    """Efficacy against the share called seen or, where predictions were kept, the mean
    probability.
    """
    height = state.segmented(
        "Against efficacy", "height", list(HEIGHTS), format_func=lambda name: HEIGHTS[name]
    )
    column = f"seen_{attack}" if height == "seen" else "probability"
    info = efficacy_membership.efficacy_membership_info(frame, column, sets=sets, labels=labels)
    st.caption(
        "Figures 4 and 8, one mark a run, larger for a larger forget set. Up to the right: less "
        "exposed goes with less membership (ρ above 0), as the paper finds for Retrain and "
        "Fisher; down to the right is the reverse, as for Amnesiac."
    )
    if not info.panels:
        st.markdown(
            "No run has both an efficacy and a number of this attack. Choose another attack, or "
            "the share called seen."
        )
        return
    figure = efficacy_membership.draw(
        info, height=HEIGHTS[height], dark=state.dark(), selected=state.param("run")
    )
    clicks.chart(figure, "efficacy_membership", alt=efficacy_membership.alt_text(info))
    said = [
        (
            f"{units.count(len(info.marks), 'run')}, all forget sets; ρ is Spearman's rank "
            "correlation, the dotted line has the median slope."
        )
    ]
    said += [
        f"{units.count(info.missing, 'run')} without one of the two numbers."
        if info.missing
        else ""
    ]
    said += [f"Without a panel: {', '.join(info.left_out)}." if info.left_out else ""]
    said += [
        "0 and 100 % have no place on a logit scale and stand at its ends.",
        "The page Membership says whether the attack is more than a guess.",
    ]
    st.caption(escape(" ".join(filter(None, said))))
    table = pd.DataFrame(
        [
            (panel.line.title, mark.label, mark.x, 100 * mark.share, mark.key)
            for panel in info.panels
            for mark in panel.marks
        ],
        columns=[
            "Method",
            "Forget set and seed",
            "Efficacy (log10)",
            f"{HEIGHTS[height]} (%)",
            "Run",
        ],
    )
    figures.numbers(table, f"efficacy-against-{column}", figure, of="efficacy against membership")
