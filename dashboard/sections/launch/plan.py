"""Launch: how often, what all of it comes to, and the button that starts it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dashboard import data, queue_data, state
from dashboard.pages import BY_ID
from dashboard.text import labels, units
from dashboard.widgets import fields, messages, uploads
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.metrics.forgetting_quality import FEW_MODELS
from mucore.metrics.quality_experiment import FEWEST_MODELS
from mucore.runner.estimate import about
from mucore.runner.grid import parse_grid
from mucore.runner.plan import Plan, launch

SEEDS = {
    "training_seeds": (
        "Training seeds",
        "Each trains its own original and retrained model; intervals are over these seeds.",
    ),
    "unlearning_seeds": ("Unlearning seeds", "Each repeats the methods on the same original."),
    "evaluation_seeds": ("Evaluation seeds", "Each repeats the attacks on the same models."),
}
ORIGINALS = {"one": "One original", "each": "An original each"}


def choose_seeds() -> dict[str, Any]:
    st.subheader("How many repeats, and how measured?", anchor=False)
    chosen: dict[str, Any] = {}
    *columns, last = st.columns(4)
    for column, (name, (label, help_text)) in zip(columns, SEEDS.items(), strict=True):
        with column:
            chosen[name] = state.text(
                label, name, default="0", help=f"{help_text} For example 0, or 0,1, or 0-4."
            )
    with last:
        chosen["mia_samples"] = state.number(
            "Attack samples",
            "mia_samples",
            default=2000,
            min_value=10,
            max_value=100_000,
            step=100,
            help="The most samples that membership attacks take from each side.",
        )
    return chosen


def choose_models() -> dict[str, Any]:
    """How many models of each kind a forgetting-quality experiment takes, and from what they are
    unlearned; empty for a comparison.
    """
    if not state.toggle(
        "Many models of each method, for forgetting quality",
        "experiment",
        help="Trains N models without the forgotten samples and unlearns N others, each with its "
        "own seeds; Attacks says whether the two kinds can be told apart.",
    ):
        return {}
    number, start = st.columns(2)
    with number:
        count = state.number(
            "Models of each kind",
            "models",
            default=FEW_MODELS,
            min_value=FEWEST_MODELS,
            max_value=4096,
            help=f"The competition used 512; with fewer than {FEW_MODELS} the figure is rough.",
        )
    with start:
        originals = state.segmented(
            "Unlearning starts from",
            "originals",
            list(ORIGINALS),
            format_func=ORIGINALS.__getitem__,
            help="One original, as in the competition: only unlearning seeds differ. An original "
            "each: training seeds differ, too.",
        )
    return {"models": count, "originals": originals}


def plan_of(content: dict[str, Any], models: dict[str, Any]) -> Plan | None:
    known = [content["dataset"], content["model"], *(choice["id"] for choice in content["methods"])]
    return fields.checked(lambda: queue_data.plan(parse_grid(content), **models), None, known=known)


def summary(plan: Plan | None, content: dict[str, Any], models: dict[str, Any]) -> None:
    """The column on the right: what will happen, and the button."""
    default = default_name(content, models)
    st.subheader("Summary", anchor=False)
    allowed = True if plan is None else show(plan)
    ready = plan is not None and allowed and not fields.problems()
    left = len(plan.to_run) if plan is not None else 0
    many = units.count(len({one["id"] for one in content["methods"]}), "method")
    st.caption(escape(default))  # what the button starts
    pressed = st.button(
        f"Start {units.count(left, 'run')}: {many}" if left else "Save" if ready else "Start",
        type="primary",
        icon=":material/play_arrow:",
        disabled=not ready,
        width="stretch",
        key="start",
    )
    with st.expander("Name and note", icon=":material/label:"):
        name = st.text_input("Name", placeholder=default, key="name", max_chars=120)
        note = st.text_input(
            "Note",
            placeholder="What is it for? #tag",
            key="note",
            max_chars=2000,
            help="Words that begin with # become tags that pages filter by.",
        )
    if pressed and plan is not None:
        start(plan, name.strip() or default, note.strip())
    for sentence in dict.fromkeys(fields.problems()):
        messages.problem(sentence)


def show(plan: Plan) -> bool:
    """Counts, time and memory, and what is left out; whether it may be started."""
    figures = st.container(horizontal=True, gap="medium")  # in a narrow column they wrap
    figures.metric("Runs", len(plan.specs), width="content")
    figures.metric("Already computed", len(plan.cached), width="content")
    figures.metric("Time", about(plan.time) if plan.to_run else "none", width="content")
    if plan.fit is not None:
        figures.metric("Memory", units.size(plan.fit.needed), width="content")
    if plan.to_run and plan.ahead:
        st.caption(f"{units.count(plan.ahead, 'run')} ahead of it in the queue")
    for reason, method in {each.reason: each.method for each in plan.refused}.items():
        st.caption(f":material/block: {escape(labels.with_titles(reason, method))}")
    if plan.fit is None:
        return True
    if said := plan.fit.refusal("start it all the same below") or plan.fit.warning():
        st.warning(escape(labels.with_titles(said, plan.fit.run.method)), icon=":material/memory:")
    return not plan.fit.hopeless or st.checkbox("Start it all the same", key="anyway")


def default_name(content: dict[str, Any], models: dict[str, Any]) -> str:
    scenarios = dict.fromkeys(catalog.scenario(one["id"]).title for one in content["scenarios"])
    methods = list(dict.fromkeys(labels.method_names(one["id"])[0] for one in content["methods"]))
    parts = [
        units.shortened(list(scenarios), 2) or "no scenario",
        uploads.title_of(content["dataset"]),
        methods[0] if len(methods) == 1 else units.count(len(methods), "method"),
    ]
    if models:
        parts.append(f"forgetting quality, {units.count(models['models'], 'model')}")
    return " · ".join(parts)


def start(plan: Plan, name: str, note: str) -> None:
    comparison = launch(plan, data.own_store(), name=name, note=note)
    if plan.to_run:
        queue_data.start_workers()
    page = BY_ID["queue" if plan.to_run else "results"]
    st.switch_page(page.file, query_params={"comparison": str(comparison.id)})
