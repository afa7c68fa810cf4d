"""Efficacy: how much information about the forgotten samples is left in the weights, over seeds,
forget sets and methods.
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, state, widgets
from dashboard.charts import (
    efficacy_membership,
    efficacy_probability,
    efficacy_rank,
    efficacy_spread,
)
from dashboard.frames import efficacy as efficacy_frames
from dashboard.frames import membership as membership_frames
from dashboard.text import labels as describe
from dashboard.text import units
from dashboard.widgets import columns, run_drawer, run_filters
from mucore import catalog
from mucore.errors import MucoreError
from mucore.metrics.membership import ATTACKS
from mucore.store import Store

HEIGHTS = {"seen": "Share called seen", "probability": "Mean probability"}
QUESTION = "How much do the weights still hold about the forgotten samples?"


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.unlearning_runs()
    if runs.empty:
        widgets.no_results(
            QUESTION,
            "Efficacy: one over the information that the weights hold about the forget set.",
        )
        return
    runs = run_filters.pick_runs(runs, first=["class_fraction"], sets=False, extra=pick_view)
    if runs.empty:
        with top:
            widgets.none_finished(QUESTION, source)
        return
    scenario = str(runs.iloc[0]["scenario"])
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=scenario)
    frame = run_frame(runs, values, source.name, source.change, data.chosen(runs))
    sets = efficacy_frames.sets(frame)
    if not sets:
        with top:
            widgets.header(
                QUESTION,
                "Efficacy: one over the information that the weights hold about the forget set.",
                source,
            )
        show_unmeasured(runs, values)
        return
    labels = efficacy_frames.set_labels(sets, str(runs.iloc[0]["dataset"]))
    figure = show_spread(frame, labels, (source.name, source.change, data.chosen(runs)))
    left, right = st.columns(2, gap="medium")
    with left:
        shown = show_rank(frame, sets, labels)
    attack = state.upcoming("attack", list(ATTACKS), ATTACKS[1])
    with right:
        show_findings(frame, attack)
    show_membership(frame, sets, labels)
    show_printed(frame)
    with top:  # last, because the choices below decide what the answers speak of
        widgets.header(QUESTION, caption(runs, sets), source)
        if said := efficacy_frames.sentence(frame, shown, labels[shown]):
            widgets.statement(said)
        widgets.answers(efficacy_frames.answers(frame, shown))
    run_drawer.run_drawer(runs)
    widgets.numbers(numbers(frame, labels, attack), f"efficacy-{scenario}", figure)
    widgets.provenance(runs)


def pick_view() -> None:
    state.toggle("The paper's numbers", "paper")


@st.cache_data(show_spinner=False, max_entries=16)
def run_frame(
    _runs: pd.DataFrame, _values: pd.DataFrame, name: str, change: int, chosen: str
) -> pd.DataFrame:
    """`efficacy_frames.run_frame`; `name`, `change` and `chosen` say which runs, so that the frames
    need no hashing.
    """
    return efficacy_frames.run_frame(_runs, _values, data.judged(_runs))


def fullest(frame: pd.DataFrame, sets: Sequence[str]) -> str:
    """The forget set with most methods; of equals the largest."""
    known = frame[frame["efficacy"].notna()]
    methods = known.groupby("set")["row"].nunique()
    return max(sets, key=lambda name: (int(methods.get(name, 0)), sets.index(name)))


def caption(runs: pd.DataFrame, sets: Sequence[str]) -> str:
    first = runs.iloc[0]
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    return widgets.escape(
        f"{describe.setup_text(first)}, {units.count(len(sets), 'forget set')}, {seeds}. "
        "Low is less exposed; Retrain's is the aim (Becker & Liebig)."
    )


def show_unmeasured(runs: pd.DataFrame, values: pd.DataFrame) -> None:
    """No run has an efficacy: the reason that the runs give, or that they are older than the
    metric.
    """
    here = values[
        values["key"].isin(runs["key"])
        & values["metric"].isin(efficacy_frames.METRICS)
        & values["error"].notna()
    ]
    if here.empty:
        text = (
            "These results were made before efficacy was measured, or by a program that does "
            "not. `python -m mucore remeasure` adds it "
        )
        text += "where weights were kept; a new comparison has it at once."
    else:
        reasons = here["error"].value_counts()
        text = (
            "No run of this choice has an efficacy. The reason they give: "
            f"{widgets.escape(str(reasons.index[0]))}"
        )
    widgets.empty(text, "Launch a comparison", "launch")
    widgets.provenance(runs)


@st.cache_resource(show_spinner=False, max_entries=16)
def spread(
    _frame: pd.DataFrame,
    _labels: dict[str, str],
    store: tuple[str, int, str],
    dark: bool,
    selected: str,
) -> tuple[efficacy_spread.SpreadInfo, go.Figure]:
    """The figure over seeds and forget sets; `store` says which store, when it was read and which
    runs, so that frames need no hashing.

    Kept as it is, since a pickled copy differs in the order of its keys and Streamlit would take it
    for another figure, without the click.
    """
    info = efficacy_spread.spread_info(_frame, sets=list(_labels), labels=_labels)
    return info, efficacy_spread.draw(info, dark=dark, selected=selected)


def show_spread(
    frame: pd.DataFrame, labels: dict[str, str], store: tuple[str, int, str]
) -> go.Figure:
    st.subheader("Over seeds and forget sets", anchor=False, help=widgets.metric_help("efficacy"))
    info, figure = spread(frame, labels, store, state.dark(), state.param("run"))
    dense = (
        "one dot a run, a curve where there are eight seeds or more"
        if info.seeds >= efficacy_spread.DENSE
        else "one dot a run"
    )
    st.caption(
        f"Becker & Liebig, Figure 1: {dense}. Look whether a method stands where Retrain stands, "
        "and whether hollow marks (the bound) keep the order of the filled ones."
    )
    run_drawer.chart(figure, "efficacy_spread", alt=efficacy_spread.alt_text(info))
    few = (
        (
            f"At most {units.count(info.seeds, 'run')} a method and forget set: points, not a "
            "distribution. "
        )
        if info.seeds < efficacy_spread.DENSE
        else ""
    )
    out = (
        (
            f"Without a panel here, but in the figures below: {', '.join(info.left_out)}; choose "
            "panels with Methods."
        )
        if info.left_out
        else ""
    )
    if few or out:
        st.caption(widgets.escape(few + out))
    return figure


def show_rank(frame: pd.DataFrame, sets: Sequence[str], labels: dict[str, str]) -> str:
    """The ranking on one forget set, chosen here; gives that set."""
    st.subheader("Who is least exposed", anchor=False, help=widgets.metric_help("efficacy_bound"))
    ids = {describe.short_id(name): name for name in sets}
    chosen = state.select(
        "Forget set",
        "set",
        list(ids),
        default=describe.short_id(fullest(frame, sets)),
        format_func=lambda name: labels[ids[name]],
    )
    here = frame[frame["set"] == ids[chosen]]
    info = efficacy_rank.rank_info(here)
    grey = (
        " Grey: not known to have forgotten; point at it for its verdict."
        if any(mark.grey for mark in info.marks)
        else ""
    )
    st.caption(
        "After Figure 2, lowest on top. Lower than Retrain is no gain: a damaged model has large "
        f"gradients everywhere.{grey}"
    )
    if not info.marks:
        st.markdown(
            "No run on this forget set has an efficacy of its own. The bound is in the figure "
            "above."
        )
        return ids[chosen]
    figure = efficacy_rank.draw(info, dark=state.dark(), selected=state.param("run"))
    run_drawer.chart(figure, "efficacy_rank", alt=efficacy_rank.alt_text(info))
    count = units.count(len(info.seeds), "training seed")
    half = f"Means over {count}" + (
        " that all of them share" if info.shared else ", which differ from method to method"
    )
    half += "; bars: 95 % t-interval." if len(info.seeds) > 1 else ", so no interval."
    out = f" Without a number: {', '.join(info.missing)}." if info.missing else ""
    st.caption(widgets.escape(half + out))
    table = pd.DataFrame(
        [
            (mark.title, mark.said, mark.mean, mark.half, mark.bound, len(mark.keys))
            for mark in info.marks
        ],
        columns=[
            "Method",
            "Verdict",
            "Efficacy (log10)",
            "95 % half width",
            "Bound (log10)",
            "Runs",
        ],
    )
    widgets.numbers(table, f"efficacy-ranking-{chosen}", figure, of="ranking")
    return ids[chosen]


def show_membership(frame: pd.DataFrame, sets: Sequence[str], labels: dict[str, str]) -> None:
    """Mean membership probabilities over runs, and efficacy against membership, under one attack
    that is chosen here.
    """
    names = {attack: attack_title(attack) for attack in ATTACKS}
    st.subheader(
        "Against membership inference", anchor=False, help=widgets.metric_help(f"mia_{ATTACKS[1]}")
    )
    attack = state.segmented(
        "Attack", "attack", list(ATTACKS), default=ATTACKS[1], format_func=lambda name: names[name]
    )
    found = probabilities(frame, attack)
    show_probabilities(frame, found, sets, labels, attack)
    show_scatter(
        frame.assign(probability=frame["key"].map(found).astype(float)), sets, labels, attack
    )


def attack_title(attack: str) -> str:
    return catalog.metric(f"mia_{attack}").title.removesuffix(" MIA efficacy")


def probabilities(frame: pd.DataFrame, attack: str) -> dict[str, float]:
    """The mean membership probability of the forget set by run, of the runs whose predictions are
    there.
    """
    source = data.source()
    keys = tuple(sorted(data.predicted().intersection(frame["key"])))
    return _probabilities(source.store, source.name, source.change, keys, attack)


@st.cache_data(show_spinner="Reading the predictions of these runs", max_entries=32)
def _probabilities(
    _store: Store, name: str, change: int, keys: tuple[str, ...], attack: str
) -> dict[str, float]:
    """`name` and `change` say which store, and when it was read."""
    found = {}
    for result in _store.results(metrics=False, keys=keys):
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
    info = efficacy_probability.probability_info(frame, found, sets=sets, labels=labels)
    st.caption(
        "Becker & Liebig, Figures 3 and 7: how probable the attack "
        f"({attack_title(attack).lower()}) takes it that a forgotten sample was in the training "
        "set, mean over the forget set, one dot a run. Look whether a method moves from Original "
        "to where Retrain stands."
    )
    if not info.runs:
        widgets.empty(
            "This figure needs predictions sample by sample, and no run of this choice kept them. "
            "Run the comparison again on this machine: predictions stay until you remove them.",
            "Launch a comparison",
            "launch",
        )
        return
    figure = efficacy_probability.draw(info, dark=state.dark(), selected=state.param("run"))
    run_drawer.chart(figure, "efficacy_probability", alt=efficacy_probability.alt_text(info))
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
        if info.fullest < efficacy_spread.DENSE
        else "A curve stands where there are eight seeds or more."
    ]
    said += [f"Without a panel: {', '.join(info.left_out)}." if info.left_out else ""]
    said += [
        (
            "The probability is a logistic regression's, fitted to retained and test samples of "
            "each run; the paper's attack may differ."
        )
    ]
    st.caption(widgets.escape(" ".join(filter(None, said))))
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
    widgets.numbers(table, f"efficacy-probability-{attack}", figure, of="membership probability")


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
    run_drawer.chart(figure, "efficacy_membership", alt=efficacy_membership.alt_text(info))
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
        "Whether the attack is more than a guess: page Membership.",
    ]
    st.caption(widgets.escape(" ".join(filter(None, said))))
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
    widgets.numbers(table, f"efficacy-against-{column}", figure, of="efficacy against membership")


def show_findings(frame: pd.DataFrame, attack: str) -> None:
    st.subheader("What the paper found, and what these results show", anchor=False)
    icons = {True: ":material/check:", False: ":material/close:", None: ":material/remove:"}
    said = {True: "As in the paper", False: "Not borne out here", None: "Not settled here"}
    for finding in efficacy_frames.findings(frame, attack=attack):
        text = (
            f"The paper: *{widgets.escape(finding.paper)}* Here: {widgets.escape(finding.sentence)}"
        )
        st.markdown(f"{icons[finding.holds]} **{said[finding.holds]}.** {text}")


def show_printed(frame: pd.DataFrame) -> None:
    if state.choice("paper", ["0", "1"]) != "1":
        return
    st.caption(
        "Becker & Liebig, Table 1, in percent: the paper prints accuracies, and efficacies only "
        "as figures. Mean ± standard deviation over seeds, the paper's over 20. A line of one "
        "share stands beside your runs of that share, a line of any share beside all of yours; – "
        "where you have none. Another data set and model: compare the pattern, not the digits."
    )
    printed = efficacy_frames.paper_frame(frame)
    st.dataframe(printed, hide_index=True, column_config=columns.aligned(printed))


def numbers(frame: pd.DataFrame, labels: dict[str, str], attack: str) -> pd.DataFrame:
    """One line a run, powers of ten and percent, full precision."""
    named = frame.assign(
        set=[labels.get(name, name) for name in frame["set"]], seen=100 * frame[f"seen_{attack}"]
    )
    columns = {
        "title": "Method",
        "set": "Forget set",
        "said": "Verdict",
        "training_seed": "Training seed",
        "efficacy": "Efficacy (log10)",
        "efficacy_bound": "Bound (log10)",
        "seen": f"Called seen by {attack} (%)",
        "key": "Run",
    }
    return named[list(columns)].rename(columns=columns)


page()
