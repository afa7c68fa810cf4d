"""Results: MUBox's table for one scenario, the trade-off beside it, and the run behind every line."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, describe, frames, published, state, widgets, words
from dashboard.charts import class_accuracy, loss_curve, results_table, tradeoff
from mucore import catalog, report
from mucore.store import Store
from mucore.store.records import Result

TABLE = st.components.v2.component("mucore_results_table", html=results_table.FRAME, css=results_table.CSS, js=results_table.JS)
ALL = "all"


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.summaries()
    runs = runs[runs["scenario"].notna()]
    if runs.empty:
        widgets.header(
            "Which method forgets without hurting the rest?",
            "The table of a comparison: methods in rows, what they keep and forget in columns.",
        )
        widgets.empty("There are no results yet. A small comparison takes a few minutes on a laptop.", "Launch a comparison", "launch")
        return
    runs = select_runs(runs)
    if runs.empty:
        widgets.header("Which method forgets without hurting the rest?", "No run of this comparison has finished yet.")
        widgets.link("queue", "Watch the queue", icon=":material/list_alt:")
        return
    scenario = catalog.scenario(str(runs.iloc[0]["scenario"]))
    view: frames.View = "gap" if state.choice("view", ["value", "gap"]) == "gap" else "value"
    sort, descending = sorting()
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=scenario.id)
    table = frames.results_table(
        runs, values[values["key"].isin(runs["key"])], view=view, class_wise=scenario.class_wise, sort=sort or None, descending=descending
    )
    with top:
        widgets.header(scenario.question, caption(runs), source)
        outside = suspicious(runs, values, source.name, source.change, tuple(runs["key"]))
        count = flagged(source.store, source.name, source.change, tuple(runs["key"]))
        show_answers(frames.answers(table, flagged=count, outside=len(outside)))
    paper = paper_table(scenario.id, str(runs.iloc[0]["dataset"])) if state.choice("paper", ["0", "1"]) == "1" else None
    left, right = st.columns([63, 37], gap="medium")
    with left:
        show_table(table, sort, descending, paper)
    with right:
        figure = show_tradeoff(table)
    selected = table.row(state.param("row"))
    if selected is not None:
        drawer(selected, runs, outside.get(selected.id, ()))
    show_downloads(table)
    widgets.numbers(table.frame, f"results-{scenario.id}", figure)
    widgets.provenance(runs)


def select_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of one data set, model, recipe, scenario and forget set, as the reader chose them."""
    known = {str(one.id): one.name for one in data.comparisons()}
    row = st.columns([1.9, 2.2, 2.1, 1.6, 1.5], vertical_alignment="bottom", gap="small")
    with row[3], st.popover("Data, model", icon=":material/tune:", width="stretch"):
        comparison = state.select("Comparison", "comparison", [ALL, *known], format_func=lambda name: known.get(name, "All runs"))
        if comparison != ALL:
            mine = data.summaries(comparison=int(comparison))
            runs = runs[runs["key"].isin(mine["key"])]
        for label, column in (("Data set", "dataset"), ("Model", "model")):
            runs = keep(runs, column, state.select(label, column, frames.setups(runs, column)))
        recipes = {describe.short_id(text): text for text in frames.setups(runs, "recipe")}
        runs = keep(
            runs,
            "recipe",
            recipes.get(state.select("Recipe", "recipe", list(recipes), format_func=lambda name: describe.recipe_text(recipes[name])), ""),
        )
    with row[0]:
        present = frames.setups(runs, "scenario")
        order = [card.id for card in catalog.scenarios() if card.id in present]
        runs = keep(runs, "scenario", state.select("Scenario", "scenario", order, format_func=describe.scenario_title))
    with row[1]:
        sets = {describe.short_id(text): text for text in frames.setups(runs, "scenario_parameters")}
        runs = keep(
            runs,
            "scenario_parameters",
            sets.get(state.select("Forget set", "set", list(sets), format_func=lambda name: describe.settings_text(sets[name])), ""),
        )
    with row[2]:
        names = {"value": "Values", "gap": "Gaps to Retrain"}
        state.segmented("Show", "view", list(names), format_func=lambda name: names[name])
    with row[4], st.popover("Methods", icon=":material/filter_list:", width="stretch"):
        state.toggle("MUBox's printed numbers below yours", "paper")
        ids = [card.id for card in catalog.methods() if card.id in set(runs["method"]) and card.family != "reference"]
        chosen = state.multiselect("Methods", "methods", ids, default=ids, format_func=lambda name: catalog.method(name).title)
    return runs[runs["method"].isin(["original", "retrain", *chosen]) | ~runs["method"].isin([*ids, "original", "retrain"])]


@st.cache_data(show_spinner=False, max_entries=32)
def flagged(_store: Store, name: str, change: int, keys: tuple[str, ...]) -> int:
    """How many of the runs carry a sanity flag; `name` and `change` say which store, and when it was read."""
    return sum(bool(result.flags) for result in _store.results(keys=keys))


@st.cache_data(show_spinner=False, max_entries=32)
def suspicious(_runs: pd.DataFrame, _values: pd.DataFrame, name: str, change: int, keys: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """`frames.suspicious`; `name`, `change` and `keys` say which runs, so that the frames need no hashing."""
    return frames.suspicious(_runs, _values)


def keep(runs: pd.DataFrame, column: str, value: str) -> pd.DataFrame:
    return runs[runs[column] == value]


def sorting() -> tuple[str, bool]:
    """Column id and direction from the address: `fa` ascending, `-fa` descending, nothing for the paper's order."""
    text = state.param("sort")
    return text.removeprefix("-"), text.startswith("-")


def caption(runs: pd.DataFrame) -> str:
    first = runs.iloc[0]
    seeds = words.count(runs["training_seed"].nunique(), "training seed")
    forgotten = words.count(int(runs["forget_count"].median()), "sample")
    recipe = describe.recipe_text(str(first["recipe"]))
    chosen = describe.settings_text(str(first["scenario_parameters"]))
    return widgets.escape(f"{first['dataset']}, {first['model']}, {recipe}. {forgotten} to forget ({chosen}), {seeds}.")


def show_answers(answers: tuple[frames.Answer, ...]) -> None:
    for column, answer in zip(st.columns(len(answers), gap="small"), answers, strict=True):
        with column, st.container(gap=None):
            st.caption(answer.label)
            st.markdown(f"#### {widgets.escape(answer.value)}")
            st.caption(widgets.escape(answer.detail))


def paper_table(scenario: str, dataset: str) -> published.Published | None:
    return published.published_table(data.published("mubox_tables"), data.published("mubox_cost"), scenario=scenario, dataset=dataset)


def show_table(table: frames.ResultsTable, sort: str, descending: bool, paper: published.Published | None) -> None:
    """The table; a click on a row opens it below, a click on a head sorts."""
    st.caption("Shade grows with the distance to Retrain; click a line for its runs, a head to sort.")
    selected = state.param("row")
    html = results_table.html(table, dark=state.dark(), selected=selected, sort=sort, descending=descending, paper=paper)
    clicked = TABLE(data={"html": html, "selected": selected}, key="results_table", on_row_change=nothing, on_sort_change=nothing)
    st.caption(table.interval + (f" {paper.caption}" if paper else ""))
    if clicked.row is not None:
        state.set_param("row", None if clicked.row == selected else clicked.row)
        st.rerun()
    if clicked.sort is not None:
        turns = {clicked.sort: f"-{clicked.sort}", f"-{clicked.sort}": None}
        state.set_param("sort", turns.get(state.param("sort"), clicked.sort) if clicked.sort else None)
        st.rerun()


def nothing() -> None:
    """Streamlit hands a trigger back only where a callback is named; the page reads the value itself."""


def show_tradeoff(table: frames.ResultsTable):
    info = tradeoff.tradeoff_info(table)
    names = {"all": "All", "near": "Near Retrain"}
    st.caption("The star is Retrain: nearer is better, lower costs accuracy.")
    zoom = state.segmented("Zoom", "zoom", list(names), format_func=lambda name: names[name], label_visibility="collapsed") == "near"
    if not info.marks:
        st.markdown("No method has both gaps yet: they need the Retrain of the same training seed.")
        return None
    figure = tradeoff.draw(info, dark=state.dark(), zoom=zoom, selected=state.param("row"))
    event = widgets.chart(figure, "tradeoff", alt=tradeoff.alt_text(info), on_select="rerun", selection_mode="points")
    left_out = [f"Outside this window: {', '.join(info.outside)}."] if zoom and info.outside else []
    left_out += [f"Not drawn, for want of a gap: {', '.join(info.missing)}."] if info.missing else []
    if left_out:
        st.caption(widgets.escape(" ".join(left_out)))
    points = [point["customdata"][0] for point in event["selection"]["points"] if point.get("customdata")]
    if points != (state.ticket("tradeoff") or []):  # a selection stays in the widget, so only a new one may move the address
        state.set_ticket("tradeoff", points)
        if points:
            state.set_param("row", points[0])
            st.rerun()
    return figure


def show_downloads(table: frames.ResultsTable) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.caption("This table as")
        for label, suffix, mime, make in (
            ("CSV, full precision", "csv", "text/csv", lambda: report.to_csv(table.numbers)),
            ("LaTeX", "tex", "text/x-tex", lambda: report.to_latex(table.frame)),
            ("Markdown", "md", "text/markdown", lambda: report.to_markdown(table.frame)),
        ):
            st.download_button(label, make, f"results.{suffix}", mime, key=f"table:{suffix}", on_click="ignore")


def drawer(row: frames.Row, runs: pd.DataFrame, outside: tuple[str, ...]) -> None:
    """Everything about the runs of one line, one run at a time; `outside` are sentences about all of them."""
    with st.container(border=True, key="run_drawer"):
        head, pick, close = st.columns([4, 3, 1], vertical_alignment="bottom")
        lines = runs.set_index("key")
        with pick:
            key = state.select("Run", "run", list(row.keys), format_func=lambda name: seeds(lines.loc[name]))
        result = data.result(key)
        if result is None:
            st.markdown("This run was deleted a moment ago. Close this panel and choose another.")
            return
        with head:
            st.subheader(row.title, anchor=False)
            widgets.link("method", "How this method works", icon=":material/school:", method=row.method)
        if close.button("Close", icon=":material/close:", key="close_drawer"):
            state.set_param("row", None)
            st.rerun()
        for flag in (*([" ".join(outside)] if outside else []), *result.flags):
            st.warning(widgets.escape(flag), icon=":material/flag:")
        if result.status != "ok":
            st.warning(widgets.escape(f"Status {result.status}. {result.stop_reason or ''}"), icon=":material/error:")
        facts, pictures = st.columns([2, 3], gap="medium")
        with facts:
            show_facts(result)
        with pictures:
            show_pictures(row, result, lines)
        st.caption("The command that repeats this run")
        st.code(describe.command_line(result.spec), language="bash")


def seeds(line: pd.Series) -> str:
    return f"training seed {line['training_seed']}, unlearning {line['unlearning_seed']}, evaluation {line['evaluation_seed']}"


def show_facts(result: Result) -> None:
    cost = result.cost
    reads = sum(cost.get("reads", {}).values())
    spec = result.spec
    work = f"{words.count(int(cost.get('steps', 0)), 'step')}, {words.count(reads, 'sample')} read"
    memory = [words.size(cost.get(name)) for name in ("persistent_bytes", "scratch_bytes", "peak_memory_bytes")]
    shared = ", shared with other runs" if cost.get("shared_device") else ""
    facts = {
        "Time": cost.get("missing") or f"{words.duration(cost.get('seconds'))}, {work}",
        "Memory": "{} kept, {} aside, peak {}".format(*memory),
        "Device": f"{result.device}, {result.precision}, {words.count(int(cost.get('threads', 1)), 'thread')}{shared}",
        "Training loss": f"{result.losses[-1]:.3g} in the last epoch" if result.losses else "no training",
        "Stopped": result.stop_reason or "at the planned end",
        "Forget set": f"{words.count(result.forget_count, 'sample')}, hash {result.forget_hash or '–'}",
        "Settings": f"{spec.get('method_preset', 'authors')}: {describe.settings_text(spec.get('parameters', {}))}",
        "Key": result.key,
        "Versions": ", ".join(f"{name} {version}" for name, version in result.versions.items()) or "–",
    }
    st.markdown("\n".join(f"- **{name}**: {widgets.escape(str(value))}" for name, value in facts.items()))
    for note in result.notes:
        st.caption(widgets.escape(note))
    failed = {name: measured.error for name, measured in result.metrics.items() if measured.error}
    if failed:
        with st.expander(f"Why {words.count(len(failed), 'number is', 'numbers are')} missing"):
            st.markdown("\n".join(f"- **{widgets.escape(name)}**: {widgets.escape(error)}" for name, error in failed.items()))


def show_pictures(row: frames.Row, result: Result, lines: pd.DataFrame) -> None:
    if len(result.losses) > 1:  # one epoch is a number, not a curve
        info = loss_curve.loss_curve_info(result.losses)
        widgets.chart(loss_curve.draw(info, dark=state.dark()), "run_loss", alt=loss_curve.alt_text(info))
    twin = lines[(lines["method"] == "retrain") & (lines["training_seed"] == lines.loc[result.key, "training_seed"])]
    reference = data.result(str(twin.index[0])) if len(twin) and row.method != "retrain" else None
    own = result.confusion.get("test")
    if own is None:
        st.caption("Accuracy of each class is not shown: it was not stored with this run.")
        return
    names = catalog.dataset(result.spec["dataset"]).class_names
    classes = class_accuracy.class_accuracy_info(own, names, reference.confusion.get("test") if reference else None)
    widgets.chart(class_accuracy.draw(classes, dark=state.dark()), "run_classes", alt=class_accuracy.alt_text(classes))


page()
