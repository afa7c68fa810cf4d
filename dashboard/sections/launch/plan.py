"""Launch: how often, what all of it comes to, and the button that starts it."""

from __future__ import annotations

from dataclasses import dataclass
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
from mucore.runner.plan import Plan, launch, parse_grid
from mucore.runner.quality import Originals


@dataclass(frozen=True)
class Models:
    """A forgetting-quality experiment: so many models of each kind, unlearned from one original or
    from one each.
    """

    count: int
    originals: Originals


def choose_seeds() -> dict[str, Any]:
    st.subheader("How many repeats, and how measured?", anchor=False)
    axes = {
        "training_seeds": (
            "Training seeds",
            (
                "Each trains its own original and retrained model; intervals are taken over these "
                "seeds."
            ),
        ),
        "unlearning_seeds": ("Unlearning seeds", "Each repeats the methods on the same original."),
        "evaluation_seeds": (
            "Evaluation seeds",
            "Each repeats the membership attacks on the same models.",
        ),
    }
    chosen: dict[str, Any] = {}
    columns = st.columns(4)
    for column, (name, (label, help_text)) in zip(columns, axes.items(), strict=False):
        with column:
            typed = state.text(
                label, name, default="0", help=f"{help_text} For example 0, or 0,1, or 0-4."
            )
            chosen[name] = fields.checked(lambda typed=typed: units.parse_seeds(typed), [0])
    with columns[3]:
        help_text = (
            "The most samples that membership attacks take from each side; they are drawn "
            "with the evaluation seed."
        )
        chosen["mia_samples"] = fields.whole_number(
            "Attack samples",
            "mia_samples",
            default=2000,
            low=10,
            high=100_000,
            step=100,
            help=help_text,
        )
    return chosen


def choose_models() -> Models | None:
    """How many models of each kind a forgetting-quality experiment takes; None for a comparison."""
    if not state.toggle(
        "Many models of each method, for forgetting quality",
        "experiment",
        help="Trains N models without the forgotten samples and unlearns N others, each with its "
        "own seeds; the page Forgetting quality says whether the two kinds can be told apart. "
        "The seeds above are the first ones.",
    ):
        return None
    number, start = st.columns(2)
    with number:
        count = fields.whole_number(
            "Models of each kind",
            "models",
            default=FEW_MODELS,
            low=FEWEST_MODELS,
            high=4096,
            help=f"The competition used 512; with fewer than {FEW_MODELS} the figure is only "
            "rough.",
        )
    with start:
        names = {"one": "One original", "each": "An original each"}
        originals = state.segmented(
            "Unlearning starts from",
            "originals",
            list(names),
            format_func=lambda name: names[name],
            help="One original, as in the competition: only unlearning seeds differ. An original "
            "each: training seeds differ, too.",
        )
    return Models(count, "each" if originals == "each" else "one")


def plan_of(content: dict[str, Any], models: Models | None = None) -> Plan | None:
    grid = fields.checked(lambda: parse_grid(content), None)
    if grid is None:
        return None
    known = [content["dataset"], content["model"], *(choice["id"] for choice in content["methods"])]
    if models is not None:
        return fields.checked(
            lambda: queue_data.experiment_plan(
                grid, models=models.count, originals=models.originals
            ),
            None,
            known=known,
        )
    return fields.checked(lambda: queue_data.plan(grid), None, known=known)


def summary(plan: Plan | None, content: dict[str, Any], models: Models | None = None) -> None:
    """The column on the right: what will happen, and the button."""
    st.subheader("What this comes to", anchor=False)
    allowed = True
    if plan is not None:
        left = len(plan.to_run)
        figures = st.container(horizontal=True, gap="medium")  # in a narrow column they wrap
        what = (
            "Training the original; measuring Original and Retrain for every scenario and "
            "seed; and the methods."
        )
        figures.metric("Runs", len(plan.specs), width="content", help=what)
        figures.metric("In the store already", len(plan.cached), width="content")
        first = plan.specs[0]
        basis = labels.with_titles(
            plan.basis.replace(first.dataset, f"“{uploads.title_of(first.dataset)}”"), first.model
        )
        if left and plan.ahead:
            before = units.count(plan.ahead, "run")
            basis += f" The time includes {before} ahead of it in the queue."
        figures.metric("Time", about(plan.time) if left else "none", width="content", help=basis)
        figures.metric(
            "Peak memory",
            units.size(plan.memory_bytes),
            width="content",
            help="The largest among past runs like these.",
        )
        if plan.fit is not None:
            said = plan.fit.refusal("start it all the same below") or plan.fit.warning()
            if said:
                st.warning(
                    escape(labels.with_titles(said, plan.fit.run.method)), icon=":material/memory:"
                )
            if plan.fit.hopeless:
                allowed = st.checkbox("Start it all the same", key="anyway")
        for method, reason in dict.fromkeys(
            (refused.method, refused.reason) for refused in plan.refused
        ):
            st.caption(f":material/block: {escape(labels.with_titles(reason, method))}")
    place = st.container()  # the button stands above what is optional, so that it stays in sight
    default = default_name(content) + (
        f" · forgetting quality, {units.count(models.count, 'model')}" if models else ""
    )
    with st.expander("Name and note", icon=":material/label:"):
        name = st.text_input("Name", placeholder=default, key="name", max_chars=120)
        note = st.text_input(
            "Note",
            placeholder="What is it for? #tag",
            key="note",
            max_chars=2000,
            help="Words that begin with # are tags. Queue and Results filter by them.",
        )
    ready = plan is not None and allowed and not fields.problems()
    left = len(plan.to_run) if plan is not None else 0
    label = (
        f"Start {units.count(left, 'run')}"
        if left
        else "Save; all runs are in the store"
        if ready
        else "Start"
    )
    with place:
        pressed = st.button(
            label,
            type="primary",
            icon=":material/play_arrow:",
            disabled=not ready,
            width="stretch",
            key="start",
        )
    if pressed and plan is not None:
        start(plan, name.strip() or default, note.strip())
    for sentence in dict.fromkeys(fields.problems()):
        messages.problem(sentence)


def default_name(content: dict[str, Any]) -> str:
    scenarios = list(
        dict.fromkeys(catalog.scenario(one["id"]).title for one in content["scenarios"])
    )
    methods = list(dict.fromkeys(labels.method_names(one["id"])[0] for one in content["methods"]))
    what = units.shortened(scenarios, 2)
    who = methods[0] if len(methods) == 1 else units.count(len(methods), "method")
    return f"{what or 'no scenario'} · {uploads.title_of(content['dataset'])} · {who}"


def start(plan: Plan, name: str, note: str) -> None:
    store = data.own_store()
    comparison = launch(plan, store, name=name, note=note)
    if not plan.to_run:
        st.switch_page(BY_ID["results"].file, query_params={"comparison": str(comparison.id)})
    queue_data.start_workers()
    st.switch_page(BY_ID["queue"].file, query_params={"comparison": str(comparison.id)})
