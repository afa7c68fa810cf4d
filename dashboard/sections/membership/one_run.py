"""One run under one attack, sample by sample: scores, ROC curves and the most exposed samples."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import membership as membership_frames
from dashboard.frames.membership import Scored
from dashboard.frames.rows import references
from dashboard.sections.membership import scores
from dashboard.text.labels import method_names, preset_title
from dashboard.widgets import messages, run_facts
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.errors import MucoreError
from mucore.metrics.membership import ATTACKS
from mucore.store import Store
from mucore.verdicts import Judged, nearest

PARAMETERS = ("run", "attack", "threshold", "scale")


def show(runs: pd.DataFrame, source: data.Source, judged: Mapping[str, Judged]) -> None:
    """Behind a head that opens it, and open where the address names any of `PARAMETERS`."""
    asked = any(map(state.param, PARAMETERS))
    box = st.expander(
        "One run, sample by sample: ROC, scores, most exposed samples",
        expanded=asked,
        icon=":material/person_search:",
        key=f"one-run-{asked}",
        on_change="rerun",
    )
    if box.open:
        with box:
            _inside(runs, source, judged)


def _inside(runs: pd.DataFrame, source: data.Source, judged: Mapping[str, Judged]) -> None:
    kept = kept_runs(source.store, source.name, source.change, tuple(runs["key"]))
    lines = runs[runs["key"].isin(kept)].set_index("key")
    first = first_run(lines, judged)
    if not first:
        messages.empty(
            "The predictions of these runs were not kept. Run the comparison again to see them.",
            "Launch a comparison",
            "launch",
        )
        return
    left, right = st.columns([6, 2], vertical_alignment="bottom", gap="small")
    with left:
        label = {name: run_label(lines.loc[name]) for name in lines.index}
        key = state.select(
            "Run", "run", list(lines.index), default=first, format_func=label.__getitem__
        )
    with right:
        scale = state.segmented("FPR axis", "scale", ["log", "linear"], format_func=str.capitalize)
    titles = {one: catalog.metric(f"mia_{one}").title for one in ATTACKS}
    attack = state.segmented(
        "Attack",
        "attack",
        list(ATTACKS),
        default=ATTACKS[1],
        format_func=lambda one: titles[one].removesuffix(" MIA efficacy"),
    )
    asked = state.param("run")
    if asked in set(runs["key"]) - set(lines.index):
        st.caption("The predictions of the run you clicked were not kept; this is another.")
    try:
        scored = {
            role: score(source, one, attack)
            for role, one in {"run": key, **references(lines, key)}.items()
        }
    except MucoreError as failure:
        messages.error(escape(str(failure)), "Choose another run or attack.")
        return
    scores.show(key, lines.loc[key], attack, scored, scale == "log")


@st.cache_data(show_spinner=False, max_entries=32)
def kept_runs(_store: Store, name: str, change: int, keys: tuple[str, ...]) -> frozenset[str]:
    """The runs whose predictions are still there; `name` and `change` say which store, and when it
    was read.
    """
    return frozenset(
        result.key
        for result in _store.results(metrics=False, brief=True, keys=keys)
        if result.outputs is not None and _store.artifacts.exists(result.outputs)
    )


def first_run(lines: pd.DataFrame, judged: Mapping[str, Judged]) -> str:
    """The key of the run to open on: of the methods that forgot the nearest to Retrain, by seed;
    where none did the first approximate method, in the catalogue's order; an exact one or a
    reference where there is none of these. "" for no run at all.
    """
    if lines.empty:
        return ""
    for line in nearest({line.keys: line for line in judged.values()}.values()):
        if kept := [key for key in line.keys if key in lines.index]:
            return min(kept, key=lambda key: int(lines.loc[key, "training_seed"]))
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
    return str(min(places, key=lambda key: places[key]))


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
