"""Identity: are persons forgotten, and is the model still of use? (MUFAC and MUCAC: NoMUS
tables)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dashboard import data, frames
from dashboard.frames import Row
from dashboard.frames import identity as identity_frames
from dashboard.frames.identity import Orders
from dashboard.sections.identity import methods, one_run, table
from dashboard.text import labels, units
from dashboard.text.presets import settings_across
from dashboard.widgets import figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.statistics import SETUP
from mucore.verdicts import Judged

QUESTION = "Are these persons forgotten, and is the model still useful?"
SCENARIOS = tuple(
    card.id for card in catalog.scenarios() if card.id in (catalog.metric("nomus").scenarios or ())
)
EXAMPLE = (
    "python -m mucore run --dataset faces --model mlp --preset quick --scenario identities --set "
    "scenario.count=60 --methods finetune,cf_k,gradient_ascent,advanced_neggrad,scrub"
)


def page() -> None:
    source = data.source()
    top = st.container()
    every = data.summaries()
    runs = every[every["scenario"].isin(SCENARIOS)]
    if runs.empty:
        with top:
            header.header(QUESTION, "Persons, not classes: the tables of MUFAC and MUCAC.", source)
        show_empty(every.empty)
        return
    runs = run_filters.pick_runs(runs, scenarios=SCENARIOS)
    if runs.empty:
        with top:
            messages.none_finished(QUESTION, source)
        return
    rows = person_rows(runs, source.name, source.change, tuple(runs["key"]))
    found = orders(every, runs, rows)
    with top:
        header.header(QUESTION, caption(runs), source)
        images = int(runs["forget_count"].median())
        header.answers(
            identity_frames.answers(rows, found, images),
            first=identity_frames.headline(rows, images),
        )
    paper = table.show(rows, str(runs.iloc[0]["dataset"]))
    st.caption(escape(orders_sentence(found)))
    figure = methods.show(rows, paper)
    st.caption(chance(runs))
    one_run.show(rows, runs)
    run_drawer.run_drawer(runs)
    figures.numbers(
        identity_frames.table(rows, paper), f"identity-{runs.iloc[0]['scenario']}", figure
    )
    provenance(runs)


def show_empty(nothing: bool) -> None:
    messages.empty(
        ("There are no results yet. " if nothing else "No run has forgotten persons yet. ")
        + "The drawn faces come with the program and need no licence; a first comparison takes "
        "a few minutes on a laptop.",
        "Launch a comparison",
        "launch",
    )
    st.code(EXAMPLE, language="bash", wrap_lines=True)


@st.cache_data(show_spinner=False, max_entries=32)
def rows_of(
    _runs: pd.DataFrame,
    _values: pd.DataFrame,
    _judged: Mapping[str, Judged],
    name: str,
    change: int,
    keys: tuple[str, ...],
) -> tuple[Row, ...]:
    """`frames.metric_rows`, nearest to Retrain first; `name`, `change` and `keys` say which runs,
    so that the frames need no hashing.
    """
    return identity_frames.ordered(
        frames.metric_rows(
            _runs, _values[_values["key"].isin(keys)], identity_frames.METRICS, judged=_judged
        )
    )


def person_rows(
    runs: pd.DataFrame, name: str, change: int, keys: tuple[str, ...]
) -> tuple[Row, ...]:
    first = runs.iloc[0]
    values = data.metric_values(dataset=str(first["dataset"]), scenario=str(first["scenario"]))
    return rows_of(runs, values, data.judged(runs), name, change, keys)


def orders(every: pd.DataFrame, runs: pd.DataFrame, rows: Sequence[Row]) -> Orders | None:
    """The order of methods here and under class_wise with the same data set, model and recipe, of
    the commonest forget set. `rows` are of `runs`.
    """
    first = runs.iloc[0]
    same = every[every["scenario"] == "class_wise"]
    for column in SETUP:
        same = run_filters.keep(same, column, first[column])
    sets = frames.setups(same, "scenario_parameters")
    if not sets:
        return None
    same = run_filters.keep(same, "scenario_parameters", sets[0])
    both = pd.concat([runs, same])
    settings_of = dict(zip(both["key"], settings_across(both), strict=True))
    source = data.source()
    classes = person_rows(same, source.name, source.change, tuple(same["key"]))
    return identity_frames.orders(rows, classes, settings_of)


def orders_sentence(found: Orders | None) -> str:
    if found is not None:
        return identity_frames.orders_text(found)
    return (
        "Whether methods that are good at forgetting classes are good at forgetting persons, "
        "too, is not settled by these runs. It takes three methods that were also run under "
        f"{labels.scenario_title('class_wise')}, with the same settings, data, model and recipe."
    )


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    images = units.count(int(runs["forget_count"].median()), "image")
    return escape(f"{labels.setup_text(first)}. {images} of the forgotten persons, {seeds}.")


def chance(runs: pd.DataFrame) -> str:
    """How large a difference of forgetting scores has to be to mean anything."""
    images = int(runs["forget_count"].median())
    seeds = " There is one training seed." if runs["training_seed"].nunique() == 1 else ""
    return (
        f"With {units.count(images, 'forgotten image')}, mere guessing scores up to "
        f"{identity_frames.by_chance(images):.3f} in 19 of 20 cases: smaller differences between "
        f"methods say nothing.{seeds}"
    )


page()
