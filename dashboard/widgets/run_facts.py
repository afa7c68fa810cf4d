"""One run in full: verdict, flags, facts, what it cost, weights, loss curve, class accuracies."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dashboard import access, data, state
from dashboard.charts import class_accuracy, loss_curve
from dashboard.text import labels, units
from dashboard.widgets import figures, missing_runs
from dashboard.widgets.markdown import escape
from dashboard.widgets.verdict_line import verdict_line
from mucore import catalog, titles
from mucore.runs import settings
from mucore.statistics import SETTING
from mucore.store.records import Result


def show(key: str, lines: pd.DataFrame, outside: tuple[str, ...] = ()) -> None:
    """Verdict, flags, loss curve, class accuracies and facts of a run; `lines` are runs by key,
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
    show_pictures(result, lines)
    show_facts(result)
    weights_button(result)
    st.caption("The command that repeats this run")
    st.code(labels.command_or_why_not(result.spec), language="bash")


def show_verdict(key: str, lines: pd.DataFrame) -> None:
    """The verdict on the line that a run belongs to."""
    judged = data.judged_line(key, lines.rename_axis("key").reset_index())
    if judged is None:
        return
    verdict_line(judged)
    missing_runs.offer(judged, lines)
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
    cost, spec = result.cost, result.spec
    memory = [
        units.size(cost.get(name))
        for name in ("persistent_bytes", "scratch_bytes", "peak_memory_bytes")
    ]
    steps = units.count(int(cost.get("steps", 0)), "step")
    prepared = cost.get("prepared_seconds", 0) + cost.get("prepared_for_request_seconds", 0)
    facts = {
        "Data": labels.setup_text(spec),
        "Forgets": _forgets(result),
        "Time": cost.get("missing") or f"{units.duration(cost.get('seconds'))}, {steps}",
        "Prepared": units.duration(prepared) if prepared else "",
        "Samples read": reads_text(cost.get("reads", {})),
        "Memory": "{} kept, {} aside, peak {}".format(*memory),
        "Device": f"{result.device}, {result.precision}"
        + (", shared with other runs" if cost.get("shared_device") else ""),
        "Stopped": result.stop_reason or "at the planned end",
        "Settings": (
            f"{labels.preset_title(spec.get('method_preset', 'authors'))}: "
            f"{labels.settings_text(settings(spec))}"
        ),
        "Key": result.key,
        "Versions": ", ".join(f"{name} {version}" for name, version in result.versions.items()),
    }
    st.markdown(
        "\n".join(f"- **{name}**: {escape(str(value))}" for name, value in facts.items() if value)
    )
    for note in result.notes:
        st.caption(escape(labels.note_text(note)))
    failed = {name: measured.error for name, measured in result.metrics.items() if measured.error}
    if failed:
        with st.expander(f"Numbers that are missing: {len(failed)}"):
            st.dataframe(
                pd.DataFrame(
                    {
                        "Metric": [labels.metric_title(name) for name in failed],
                        "Why": list(failed.values()),
                    }
                ),
                hide_index=True,
            )


def _forgets(result: Result) -> str:
    """What the request was, how many samples, and their hash; "" for a training."""
    spec = result.spec
    if not spec.get("scenario"):
        return ""
    what = labels.forget_set_text(spec["scenario_parameters"], spec["dataset"])
    count = units.count(result.forget_count, "sample")
    return f"{labels.scenario_title(spec['scenario'])} ({what}), {count}, {result.forget_hash}"


def reads_text(reads: Mapping[str, int]) -> str:
    """Samples of each set by passes, "set/backward" or "set/forward"."""
    return ", ".join(f"{name} {count:,}" for name, count in reads.items())


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
