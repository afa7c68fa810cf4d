"""One run under one attack: which run, and its scores beside those of its references."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import membership as membership_frames
from dashboard.frames.membership import Scored
from dashboard.frames.rows import references
from dashboard.sections.membership import scores
from dashboard.text import verdicts
from dashboard.text.labels import method_names, preset_title
from dashboard.widgets import messages, run_facts
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.errors import MucoreError
from mucore.metrics.membership import ATTACKS
from mucore.verdicts import Judged, nearest


def show(
    kept: pd.DataFrame, runs: pd.DataFrame, source: data.Source, judged: Mapping[str, Judged]
) -> None:
    """ROC, histograms, threshold, walls and exposed samples of one run under one attack.
    Parameters: run, attack, threshold, scale.

    `kept` are those of `runs` whose predictions are there.
    """
    st.subheader("One run, one attack, sample by sample", anchor=False)
    lines = kept.set_index("key")
    first, why = first_run(lines, judged)
    if not first:
        again = "This run's" if len(runs) == 1 else "These runs'"
        messages.empty(
            f"{again} predictions were not kept, so single samples cannot be shown. Run the "
            "comparison again on this machine: predictions stay until you remove them.",
            "Launch a comparison",
            "launch",
        )
        return
    run, scale = st.columns([6, 2], vertical_alignment="bottom", gap="small")
    with run:
        label = {name: run_label(lines.loc[name]) for name in lines.index}
        chosen = state.select(
            "Run",
            "run",
            ["", *lines.index],
            format_func=lambda name: label[name] if name else f"{why}: {label[first]}",
        )
    with scale:
        log = (
            state.segmented("FPR axis", "scale", ["log", "linear"], format_func=str.capitalize)
            == "log"
        )
    name = state.segmented(
        "Attack",
        "attack",
        list(ATTACKS),
        default=ATTACKS[1],
        format_func=lambda one: catalog.metric(f"mia_{one}").title.removesuffix(" MIA efficacy"),
    )
    if (
        state.param("run")
        and state.param("run") not in lines.index
        and state.param("run") in set(runs["key"])
    ):
        st.caption(
            "The predictions of the run you clicked were not kept; another is shown instead."
        )
    key = chosen or first
    if key in judged and (verdict := judged[key].verdict) is not None:
        st.markdown(f"{verdicts.label(verdict)}: {escape(verdict.sentence)}")
    try:
        scored = {
            role: score(source, one, name)
            for role, one in {"run": key, **references(lines, key)}.items()
        }
    except MucoreError as failure:
        messages.error(escape(str(failure)), "Choose another run or attack.")
        return
    scores.show(key, lines.loc[key], name, scored, log)


def first_run(lines: pd.DataFrame, judged: Mapping[str, Judged]) -> tuple[str, str]:
    """The key of the run to open on, and why it: of the methods that forgot the nearest to Retrain,
    by seed; where none did the first approximate method, in the catalogue's order; an exact one or
    a reference where there is none of these. "" for no run at all.
    """
    if lines.empty:
        return "", ""
    for line in nearest({line.keys: line for line in judged.values()}.values()):
        if kept := [key for key in line.keys if key in lines.index]:
            first = min(kept, key=lambda key: int(lines.loc[key, "training_seed"]))
            return first, "Nearest to Retrain of those that forgot"
    last = {"exact": 1, "reference": 2}
    order = [card.id for card in catalog.methods()]
    places = {
        key: (
            last.get(method_names(method)[1], 0),
            order.index(method) if method in order else len(order),
            seed,
        )
        for key, method, seed in zip(
            lines.index, lines["method"], lines["training_seed"], strict=True
        )
    }
    return str(
        min(places, key=lambda key: places[key])
    ), "None is known to have forgotten; the first"


def run_label(line: pd.Series) -> str:
    preset = str(line["method_preset"])
    whose = "" if preset == "authors" else f" ({preset_title(preset).lower()})"
    return f"{method_names(str(line['method']))[0]}{whose}, {run_facts.seeds(line)}"


def score(source: data.Source, key: str, attack: str) -> Scored:
    return _score(source.name, source.change, key, attack)


@st.cache_resource(show_spinner="Scoring the samples of this run", max_entries=64)
def _score(name: str, change: int, key: str, attack: str) -> Scored:
    """The arrays are shared by all readers: never write to them."""
    outputs, result = data.outputs(key), data.result(key)
    if outputs is None or result is None:
        raise MucoreError("The predictions of this run were removed a moment ago.")
    return membership_frames.score_run(attack, outputs, result)
