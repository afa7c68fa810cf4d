"""Launch: how often, what all of it comes to, and the button that starts it."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import streamlit as st

from dashboard import data, describe, state, widgets, words
from dashboard.launching import parts
from mucore import catalog
from mucore.metrics.forgetting_quality import FEW_MODELS
from mucore.metrics.quality_experiment import FEWEST_MODELS
from mucore.runner.plan import Grid, Plan, launch
from mucore.runner.quality import Originals


@dataclass(frozen=True)
class Models:
    """A forgetting-quality experiment: so many models of each kind, unlearned from one original or from one each."""

    count: int
    originals: Originals


def choose_seeds() -> dict[str, Any]:
    st.subheader("How often, and how measured?", anchor=False)
    axes = {
        "training_seeds": ("Training seeds", "Each trains its own original and retrained model; intervals are over this axis."),
        "unlearning_seeds": ("Unlearning seeds", "Each repeats the methods on the same original."),
        "evaluation_seeds": ("Evaluation seeds", "Each repeats the membership attack on the same models."),
    }
    chosen: dict[str, Any] = {}
    columns = st.columns(4)
    for column, (name, (label, help_text)) in zip(columns, axes.items(), strict=False):
        with column:
            typed = state.text(label, name, default="0", help=f"{help_text} Such as 0 or 0,1 or 0-4.")
            chosen[name] = parts.checked(lambda typed=typed: words.parse_seeds(typed), [0])
    with columns[3]:
        help_text = "At most so many samples a side feed the membership attacks; they are drawn with the evaluation seed."
        chosen["mia_samples"] = state.number(
            "Attack samples", "mia_samples", default=2000, min_value=10, max_value=100_000, step=100, help=help_text
        )
    return chosen


def choose_models() -> Models | None:
    """How many models of each kind a forgetting-quality experiment takes; None for a comparison."""
    if not state.toggle(
        "Many models of each method, for forgetting quality",
        "experiment",
        help="Trains N models without the forgotten samples and unlearns N others, each with seeds of its own; the page Forgetting quality "
        "then says whether the two kinds can be told apart. Seeds above name the first ones.",
    ):
        return None
    number, start = st.columns(2)
    with number:
        count = state.number(
            "Models of each kind",
            "models",
            default=FEW_MODELS,
            min_value=FEWEST_MODELS,
            max_value=4096,
            help=f"The competition took 512; below {FEW_MODELS} the figure is rough.",
        )
    with start:
        names = {"one": "One original", "each": "An original each"}
        originals = state.segmented(
            "Unlearning starts from",
            "originals",
            list(names),
            format_func=lambda name: names[name],
            help="One, as in the competition: unlearning seeds differ. One each: training seeds differ, too.",
        )
    return Models(int(count), "each" if originals == "each" else "one")


def plan_of(content: dict[str, Any], models: Models | None = None) -> Plan | None:
    seeds = models.count if models else len(content["training_seeds"]) * len(content["evaluation_seeds"])
    of_methods = prod(len(content[name]) for name in ("methods", "unlearning_seeds", "noise", "scopes"))
    runs = seeds * len(content["scenarios"]) * (2 + of_methods)
    if runs > parts.MAX_RUNS:
        parts.tell(
            f"This comes to {words.count(runs, 'run')}, but one comparison holds at most {words.count(parts.MAX_RUNS, 'run')}. "
            f"Choose fewer {'models' if models else 'seeds, budgets'}, methods or values."
        )
        return None
    grid = Grid.model_validate(content)
    if models is not None:
        return parts.checked(lambda: data.experiment_plan(grid, models=models.count, originals=models.originals), None)
    return parts.checked(lambda: data.plan(grid), None)


def summary(plan: Plan | None, content: dict[str, Any], models: Models | None = None) -> None:
    """The column on the right: what will happen, and the button."""
    st.subheader("What this comes to", anchor=False)
    if plan is not None:
        left = len(plan.to_run)
        columns = st.columns(2)
        columns[0].metric(
            "Runs", len(plan.specs), help="The original's training, Original and Retrain of every scenario and seed, and the methods."
        )
        columns[1].metric("In the store already", len(plan.cached))
        columns[0].metric("Time", words.duration(plan.seconds) if left else "none", help=plan.basis)
        columns[1].metric("Peak memory", words.size(plan.memory_bytes), help="Largest of past runs alike.")
        st.caption(widgets.escape(plan.basis))
        for method, reason in dict.fromkeys((refused.method, refused.reason) for refused in plan.refused):
            st.caption(f":material/block: {widgets.escape(describe.with_titles(reason, method))}")
    default = default_name(content) + (f" · forgetting quality, {words.count(models.count, 'model')}" if models else "")
    name = st.text_input("Name of the comparison", placeholder=default, key="name", max_chars=120)
    note = st.text_input("Note", placeholder="What do you want to find out?", key="note", max_chars=2000)
    ready = plan is not None and not parts.problems()
    left = len(plan.to_run) if plan is not None else 0
    label = f"Start {words.count(left, 'run')}" if left else "Save; all runs are in the store" if ready else "Start"
    if (
        st.button(label, type="primary", icon=":material/play_arrow:", disabled=not ready, width="stretch", key="start")
        and plan is not None
    ):
        start(plan, name.strip() or default, note.strip())
    for sentence in dict.fromkeys(parts.problems()):
        widgets.problem(sentence)


def default_name(content: dict[str, Any]) -> str:
    scenarios = list(dict.fromkeys(catalog.scenario(one["id"]).title for one in content["scenarios"]))
    methods = list(dict.fromkeys(catalog.method(one["id"]).title for one in content["methods"]))
    what = ", ".join(scenarios[:2]) + (f" and {len(scenarios) - 2} more" if len(scenarios) > 2 else "")
    who = methods[0] if len(methods) == 1 else words.count(len(methods), "method")
    return f"{what or 'no scenario'} · {content['dataset'].partition(':')[0]} · {who}"


def start(plan: Plan, name: str, note: str) -> None:
    store = data.own_store()
    comparison = launch(plan, store, name=name, note=note)
    if not plan.to_run:
        st.switch_page(widgets.PAGES["results"], query_params={"comparison": str(comparison.id)})
    data.start_workers()
    st.switch_page(widgets.PAGES["queue"], query_params={"comparison": str(comparison.id)})
