"""Forgetting quality: can many unlearned models be told from as many retrained ones? (NeurIPS 2023
competition, Figure 1)
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import quality as quality_frames
from dashboard.frames.quality import Found
from dashboard.sections.quality import classes, computing, example, methods
from dashboard.text import labels, units
from dashboard.widgets import figures, header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore.metrics.forgetting_quality import FEW_MODELS

QUESTION = "Can anyone tell the unlearned models from retrained ones?"


def page() -> None:
    source = data.source()
    top = st.container()
    every = data.unlearning_runs()
    runs = every[every["key"].isin(belonging(every, source.name, source.change))]
    if runs.empty:
        with top:
            header.header(
                QUESTION,
                "An experiment on many models of each method, after the NeurIPS 2023 competition.",
                source,
            )
        example.show(every.empty)
        return
    runs = run_filters.pick_runs(runs)
    found = pick_experiment(runs, source)
    if found is None:
        with top:
            header.header(
                QUESTION, "The methods that are ticked have no experiment together.", source
            )
        messages.empty(
            "Tick one method at least under Methods, or take another comparison.",
            "See the results",
            "results",
        )
        return
    used = runs[runs["key"].isin(found.keys)]
    with top:
        header.header(QUESTION, caption(used, found), source)
    findings, judged = computing.get_findings(source, found), data.judged(used)
    with top:
        header.answers(
            quality_frames.answers(findings, found.models, judged),
            first=quality_frames.headline(findings, judged),
        )
    warn_of_few(found.models)
    if len(findings) < len(found.methods):
        computing.offer_to_compute(
            source,
            found,
            [
                method
                for method in found.methods
                if method.keys not in {one.keys for one in findings}
            ],
        )
    drawn = methods.show(found, quality_frames.ordered(findings), judged) if findings else []
    classes.show(used, found)
    run_drawer.run_drawer(used)
    name = f"quality-{used.iloc[0]['scenario']}-{found.models}"
    figures.numbers(
        quality_frames.table(quality_frames.ordered(findings), judged), name, of="methods"
    )
    for part in drawn:
        figures.numbers(part.frame, f"{name}-{part.name}", part.figure, of=part.of)
    provenance(used)


@st.cache_data(show_spinner=False, max_entries=8)
def belonging(_runs: pd.DataFrame, name: str, change: int) -> frozenset[str]:
    """Keys of all runs that belong to an experiment."""
    return frozenset(quality_frames.in_experiments(_runs)["key"])


def pick_experiment(runs: pd.DataFrame, source: data.Source) -> Found | None:
    """The experiment that the address names, at first the largest whose numbers are known; no
    choice is drawn where there is but one.
    """
    options = {one.id: one for one in quality_frames.experiments(runs)}
    if len(options) < 2:
        return next(iter(options.values()), None)
    known = next(
        (name for name, one in options.items() if computing.get_findings(source, one)), None
    )
    named = {name: experiment_name(one) for name, one in options.items()}
    return options[
        state.segmented(
            "Models of each kind",
            "models",
            list(options),
            default=known,
            format_func=named.__getitem__,
        )
    ]


def experiment_name(found: Found) -> str:
    methods = units.count(len(found.methods), "method")
    own = ", an original each" if found.originals == "each" else ""
    return f"{found.models} models, {methods}{own}" + (
        f", from seed {found.seed}" if found.seed else ""
    )


def caption(runs: pd.DataFrame, found: Found) -> str:
    first = runs.iloc[0]
    from_what = "one original" if found.originals == "one" else "an original each"
    return escape(
        f"{labels.setup_text(first)}. {found.models} models of each kind, unlearned from "
        f"{from_what}; {units.count(int(first['forget_count']), 'sample')} to forget. F is 1 if "
        "no sample gives them away."
    )


def warn_of_few(models: int) -> None:
    if models < FEW_MODELS:
        st.warning(
            f"Only {models} models of each kind. Chance alone tells so few apart, and no finite ε "
            f"above ln(N − 1) = {quality_frames.bound(models):.1f} can show. Compare F with that "
            f"of Retrain's halves; {FEW_MODELS} are a fair number.",
            icon=":material/groups:",
        )


page()
