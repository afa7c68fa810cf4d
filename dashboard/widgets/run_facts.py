"""One run in full: verdict, flags, facts, what it cost, weights, loss curve, class accuracies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import access, data, state
from dashboard.charts import class_accuracy, loss_curve
from dashboard.text import labels, units
from dashboard.widgets import figures, missing_runs
from dashboard.widgets.markdown import escape
from dashboard.widgets.verdict_line import verdict_line
from mucore import catalog, titles
from mucore.spec import settings
from mucore.statistics import SETTING
from mucore.store.rows import Result


def show(key: str, lines: pd.DataFrame, outside: tuple[str, ...] = ()) -> None:
    """Verdict, flags, facts, loss curve and class accuracies of a run; `lines` are runs by key,
    among them its Retrain, if there is one.
    """
    result = data.result(key)
    if result is None:
        st.markdown("This run was deleted a moment ago. Close this panel and choose another.")
        return
    show_verdict(key, lines)
    for flag in (*([" ".join(outside)] if outside else []), *result.flags):
        st.warning(
            escape(labels.with_titles(flag, str(result.spec["method"]))), icon=":material/flag:"
        )
    if result.status != "ok":
        st.warning(
            escape(f"Status {result.status}. {result.stop_reason or ''}"), icon=":material/error:"
        )
    show_facts(result)
    weights_button(result)
    show_pictures(result, lines)
    st.caption("The command that repeats this run")
    st.code(labels.command_or_why_not(result.spec), language="bash")


def show_verdict(key: str, lines: pd.DataFrame) -> None:
    """The verdict on the line that a run belongs to."""
    judged = data.judged_line(key, lines.rename_axis("key").reset_index())
    if judged is None:
        return
    verdict_line(judged)
    missing_runs.offer(judged)
    if judged.verdict is not None and len(judged.keys) > 1:
        st.caption(
            f"The verdict is on all {len(judged.keys)} runs of this method with these settings, "
            "not on this one alone."
        )


def setting(line: pd.Series) -> str:
    """Scenario, data set, model and seeds of a run in a line."""
    scenario = (
        labels.scenario_title(str(line["scenario"]))
        if isinstance(line["scenario"], str)
        else "Training"
    )
    return escape(
        f"{scenario}. {titles.dataset(str(line['dataset']))}, {titles.model(str(line['model']))}, "
        f"{seeds(line)}."
    )


def seeds(line: pd.Series) -> str:
    return (
        f"training seed {line['training_seed']}, unlearning {line['unlearning_seed']}, evaluation "
        f"{line['evaluation_seed']}"
    )


def show_facts(result: Result) -> None:
    cost = result.cost
    spec = result.spec
    memory = [
        units.size(cost.get(name))
        for name in ("persistent_bytes", "scratch_bytes", "peak_memory_bytes")
    ]
    shared = ", shared with other runs" if cost.get("shared_device") else ""
    forgets = (
        f"; {labels.scenario_title(spec['scenario'])} "
        f"({labels.forget_set_text(spec['scenario_parameters'], spec['dataset'])})"
    )
    facts = {
        "Data": labels.setup_text(spec) + (forgets if spec.get("scenario") else ""),
        "Time": cost.get("missing")
        or (
            f"{units.duration(cost.get('seconds'))}, "
            f"{units.count(int(cost.get('steps', 0)), 'step')}"
        ),
        "Prepared": prepared_text(cost),
        "Samples read": reads_text(cost.get("reads", {})),
        "Memory": "{} kept, {} aside, peak {}".format(*memory),
        "Device": (
            f"{result.device}, {result.precision}, "
            f"{units.count(int(cost.get('threads', 1)), 'thread')}{shared}"
        ),
        "Training loss": f"{result.losses[-1]:.3g} in the last epoch".replace("-", labels.MINUS)
        if result.losses
        else "no training",
        "Stopped": result.stop_reason or "at the planned end",
        "Forget set": (
            f"{units.count(result.forget_count, 'sample')}, hash {result.forget_hash or '–'}"
        ),
        "Settings": (
            f"{labels.preset_title(spec.get('method_preset', 'authors'))}: "
            f"{labels.settings_text(settings(spec))}"
        ),
        "Key": result.key,
        "Versions": ", ".join(f"{name} {version}" for name, version in result.versions.items())
        or "–",
    }
    st.markdown("\n".join(f"- **{name}**: {escape(str(value))}" for name, value in facts.items()))
    for note in result.notes:
        st.caption(escape(labels.note_text(note)))
    failed = {name: measured.error for name, measured in result.metrics.items() if measured.error}
    if failed:
        with st.expander(f"Why {units.count(len(failed), 'number is', 'numbers are')} missing"):
            st.markdown(
                "\n".join(
                    f"- **{escape(labels.metric_title(name))}**: {escape(error)}"
                    for name, error in failed.items()
                )
            )


def prepared_text(cost: Mapping[str, Any]) -> str:
    """What was made for the run outside its clock, once or for its forget set."""
    parts = (
        ("prepared_seconds", "for any request"),
        ("prepared_for_request_seconds", "for this one"),
    )
    made = [f"{units.duration(cost[name])} {what}" for name, what in parts if cost.get(name)]
    return ", ".join(made) or (
        "nothing" if parts[0][0] in cost else "not counted by the version that made the run"
    )


def reads_text(reads: Mapping[str, int]) -> str:
    """Passes over each set, with and without a gradient; `reads` counts samples by "set/backward"
    or "set/forward".
    """
    kinds = {"backward": "with a gradient", "forward": "without"}
    roles: dict[str, list[str]] = {}
    for name, count in reads.items():
        role, _, kind = name.partition("/")
        roles.setdefault(role, []).append(f"{count:,} {kinds.get(kind, kind)}")
    return "; ".join(f"{role} set {' and '.join(parts)}" for role, parts in roles.items()) or "none"


def weights_button(result: Result) -> None:
    """A file with the run's weights, where they are there; those of the demo did not come with it.
    Guests get none, for weights tell of the data that they were trained on.
    """
    store = data.source().store
    if not access.presents():
        return
    if result.weights is not None and store.artifacts.exists(result.weights):
        weights = result.weights
        st.download_button(
            "Weights",
            lambda: store.artifacts.content(weights),
            f"{result.spec['method']}-{result.key[:8]}.safetensors",
            "application/octet-stream",
            key="run_weights",
            icon=":material/download:",
            on_click="ignore",
            help="The network's state dict as safetensors, for other programs, `--original` and "
            "the method `uploaded`.",
        )


def show_pictures(result: Result, lines: pd.DataFrame) -> None:
    if len(result.losses) > 1:  # one epoch is a number, not a curve
        info = loss_curve.loss_curve_info(result.losses)
        figures.chart(
            loss_curve.draw(info, dark=state.dark()), "run_loss", alt=loss_curve.alt_text(info)
        )
    mine, same = lines.loc[result.key], list(SETTING)
    retrains = lines[(lines["method"] == "retrain") & lines[same].eq(mine[same]).all(axis=1)]
    twin = retrains.index[retrains["training_seed"] == mine["training_seed"]]
    compared = len(twin) and result.spec["method"] != "retrain"
    reference = data.result(str(twin[0])) if compared else None
    own = result.confusion.get("test")
    if own is None:
        st.caption("Accuracy of each class is not shown: it was not stored with this run.")
        return
    names = catalog.dataset(result.spec["dataset"]).class_names
    others = [data.result(str(key)) for key in retrains.index] if reference else []
    theirs = reference.confusion.get("test") if reference else None
    shown = (
        class_accuracy.accuracies(own, names),
        None if theirs is None else class_accuracy.accuracies(theirs, names),
        class_accuracy.retrains_apart([each for each in others if each is not None], names),
    )
    figures.chart(
        class_accuracy.draw(*shown, dark=state.dark()),
        "run_classes",
        alt=class_accuracy.alt_text(*shown),
    )
