"""Budget curves: what every method keeps and forgets as the forget set grows (MUBox, Figures 3 and
4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, frames, state, widgets
from dashboard.charts import budget_curves
from dashboard.frames import budget as budget_frames
from dashboard.frames.table import DISTANCE_MEANING
from dashboard.papers import tables
from dashboard.text import labels, units
from dashboard.widgets import columns, run_drawer, run_filters
from mucore import catalog

QUESTION = "Do methods keep forgetting as the request grows?"
FIGURES = {"one_class": "MUBox, Figure 3", "all_classes": "MUBox, Figure 4"}
ALWAYS = ("ta", "fa")
NONE = "none"


def page() -> None:
    source = data.source()
    top = st.container()
    runs = data.summaries()
    runs = runs[runs["scenario"].isin(budget_frames.scenarios())]
    if runs.empty:
        with top:
            widgets.header(
                QUESTION,
                "Accuracy against the number of samples to forget, one line a method.",
                source,
            )
        widgets.empty(
            "No run has a forget set whose size can be chosen. Launch one scenario with several "
            "budgets, such as 0.02, 0.05, 0.1 and 0.2.",
            "Launch a comparison",
            "launch",
            scenarios="one_class",
            **{
                "one_class.budget": ",".join(
                    units.plain(share) for share in budget_frames.MUBOX_BUDGETS
                )
            },
        )
        return
    runs = run_filters.pick_runs(
        runs, scenarios=budget_frames.scenarios(), varying=budget_frames.AMOUNTS
    )
    if runs.empty:
        with top:
            widgets.none_finished(QUESTION, source)
        return
    scenario = str(runs.iloc[0]["scenario"])
    every = runs["training_seed"].nunique()
    runs, aside = budget_frames.alike(runs)
    values = data.metric_values(dataset=str(runs.iloc[0]["dataset"]), scenario=scenario)
    reading = st.container()
    left, middle, right = st.columns([36, 30, 34], gap="medium", vertical_alignment="bottom")
    with left:
        pick_view()
    with middle:
        names = {"all": "All", "near": "Near Retrain"}
        state.segmented("Range", "zoom", list(names), format_func=names.__getitem__)
    with right:
        third = pick_metric(values, runs)
    found = curves(runs, values, source.name, source.change, data.chosen(runs), (*ALWAYS, *third))
    with top:
        widgets.header(QUESTION, caption(runs, scenario), source)
        if sentence := budget_frames.growth_sentence(found):
            widgets.statement(sentence)
        widgets.answers(budget_frames.answers(found))
    with reading:
        show_reading(found, runs, scenario)
    ghosts = pick_ghosts(found, runs)
    figure = show_curves(found, ghosts) if measured(found) else show_nothing_measured()
    show_verdicts(found)
    show_left_out(aside, runs["training_seed"].nunique(), every)
    run_drawer.run_drawer(budget_frames.beside(runs, state.param("run")))
    widgets.numbers(
        pd.concat([budget_frames.numbers(found), ghost_numbers(found, ghosts)]),
        f"budget-{scenario}",
        figure,
    )
    widgets.provenance(runs)


def pick_view() -> None:
    names = {"value": "Values", "gap": "Gaps to Retrain"}
    state.segmented("Show", "view", list(names), format_func=lambda name: names[name])


def pick_metric(values: pd.DataFrame, runs: pd.DataFrame) -> tuple[str, ...]:
    """The metric of the third panel, if the reader asked for one."""
    options = [name for name in present(values, runs, data.chosen(runs)) if name not in ALWAYS]
    title = {
        NONE: "None",
        **{name: f"{catalog.metric(name).short}: {catalog.metric(name).title}" for name in options},
    }
    metric = state.choice("metric", [NONE, *options])
    meaning = (
        widgets.metric_help(metric)
        if metric != NONE
        else "Any other number that these runs have, in a panel of its own."
    )
    chosen = state.select(
        "Third panel", "metric", [NONE, *options], format_func=title.__getitem__, help=meaning
    )
    return () if chosen == NONE else (chosen,)


@st.cache_data(show_spinner=False, max_entries=32)
def present(_values: pd.DataFrame, _runs: pd.DataFrame, chosen: str) -> tuple[str, ...]:
    return budget_frames.measured(_values[_values["key"].isin(_runs["key"])])


@st.cache_data(show_spinner=False, max_entries=32)
def curves(
    _runs: pd.DataFrame,
    _values: pd.DataFrame,
    name: str,
    change: int,
    chosen: str,
    metrics: tuple[str, ...],
) -> budget_frames.Curves:
    """`budget_frames.curves`; `name`, `change` and `chosen` say which runs, so that the frames need
    no hashing.
    """
    return budget_frames.curves(_runs, _values, metrics, judged=data.judged(_runs))


def measured(found: budget_frames.Curves) -> bool:
    return any(
        step.cells[metric].value is not None
        for line in found.lines
        for step in line.steps
        for metric in found.metrics
    )


def caption(runs: pd.DataFrame, scenario: str) -> str:
    first = runs.iloc[0]
    sizes = units.count(runs["forget_count"].nunique(), "budget")
    seeds = units.count(runs["training_seed"].nunique(), "training seed")
    figure = FIGURES.get(scenario, "")
    paper = f" After {figure}, which prints numbers for one budget alone." if figure else ""
    return widgets.escape(f"{labels.setup_text(first)}. {sizes}, {seeds}.{paper}")


def show_verdicts(found: budget_frames.Curves) -> None:
    """What happened at each budget, one line a method."""
    frame = budget_frames.verdict_frame(found)
    if frame.empty:
        return
    st.caption(
        "What happened to each method at each budget, nearest to Retrain first; ? where more "
        "seeds may change the word."
    )
    meaning = st.column_config.Column(help=f"{DISTANCE_MEANING} Here the mean over the budgets.")
    st.dataframe(
        frame, hide_index=True, column_config=columns.aligned(frame, {frame.columns[-1]: meaning})
    )


def show_left_out(aside: Sequence[str], seeds: int, every: int) -> None:
    """Methods that were run at one budget alone, and training seeds that not every budget has."""
    said = []
    if aside:
        said.append(
            "Left out, because they were run at one budget alone: "
            f"{words_list([labels.method_names(name)[0] for name in aside])}."
        )
    if seeds < every:
        said.append(
            f"Left out: {units.count(every - seeds, 'training seed')} that not every budget has."
        )
    if said:
        st.caption(widgets.escape(" ".join(said)))


def show_nothing_measured() -> None:
    st.markdown(
        "None of these runs has a test or forget accuracy. Their drawer on the results page says "
        "why."
    )
    widgets.link("results", "Open the results", icon=":material/table_chart:")


def show_reading(found: budget_frames.Curves, runs: pd.DataFrame, scenario: str) -> None:
    """What to look for; with one budget, that it takes two, and where to get them."""
    if len(found.sizes) > 1:
        st.caption(
            "Look for lines that stay with Retrain's dashed one all the way; a flat line may also "
            "be a method that does nothing at any budget. In MUBox, SSD, Amnesiac and Fisher "
            "change most with the budget.",
            help=f"{widgets.metric_help('ta')}  \n\n{widgets.metric_help('fa')}",
        )
        return
    several = any(parameter.kind == "budget" for parameter in catalog.scenario(scenario).parameters)
    budgets = (
        budget_frames.MUBOX_POISONS
        if catalog.scenario(scenario).poisons
        else budget_frames.MUBOX_BUDGETS
    )
    with st.container(gap=None):
        size = units.count(next(iter(found.sizes)), "sample")
        st.markdown(
            f"These runs have one budget, {size}: points, no curves. A curve needs two budgets or "
            "more."
        )
        label = (
            "Launch these methods with several budgets"
            if several
            else "Launch these methods with another share"
        )
        widgets.link(
            "launch",
            label,
            icon=":material/arrow_forward:",
            **budget_frames.launch_query(runs, budgets),
        )


def pick_ghosts(found: budget_frames.Curves, runs: pd.DataFrame) -> list[budget_curves.Ghost]:
    """What papers print at a share of the class or the training set, where that share lies among
    these sizes; none unless switched on.
    """
    first = runs.iloc[0]
    dataset, model = str(first["dataset"]), str(first["model"])
    printed = tables.points(str(first["scenario"]), dataset=dataset, model=model)
    if not printed:
        return []
    whole = budget_frames.whole(runs)
    names = " and ".join(
        dict.fromkeys(f"{tables.NAMES[one.source]}, {one.table}" for one, _ in printed)
    )
    caption = printed[0][1].caption
    if len(printed) > 1:
        shares = ", ".join(f"{100 * (one.amount or 0.0):g}" for one, _ in printed)
        several = replace(printed[0][0], setting=f"{shares} % of a class")
        caption = tables.read(several, dataset=dataset, model=model).caption
    nowhere = (
        "These runs name a number of samples and no share, so the paper's share has no "
        "place on this axis."
    )
    on = state.toggle(
        f"The numbers of {names}",
        "paper",
        disabled=whole is None,
        help=nowhere if whole is None else caption,
    )
    if not on or whole is None:
        return []
    st.caption(widgets.escape(f"Open marks, as printed. {caption}"))
    made = []
    for one, table in printed:
        for method in dict.fromkeys(method for method, _ in table.values):
            values, gaps = (
                {metric: value for (name, metric), value in content.items() if name == method}
                for content in (table.values, table.gaps)
            )
            place = round((one.amount or 0.0) * whole)
            made.append(
                budget_curves.Ghost(
                    method=method,
                    x=place,
                    values=values,
                    gaps=gaps,
                    source=f"{tables.NAMES[one.source]}, {one.table}",
                )
            )
    return made


def ghost_numbers(
    found: budget_frames.Curves, ghosts: Sequence[budget_curves.Ghost]
) -> pd.DataFrame:
    """The printed numbers of the methods that have a line, in the columns of
    `budget_frames.numbers`.
    """
    titles = {line.method: line.title for line in reversed(found.lines)}
    made = []
    for ghost in ghosts:
        if ghost.method not in titles:
            continue
        row: dict[str, object] = {
            "Method": f"{titles[ghost.method]}, {ghost.source}",
            "Samples": ghost.x,
            "Status": "printed",
        }
        for metric in found.metrics:
            percent = budget_frames.unit(metric) == "percent"
            name, scale = catalog.metric(metric).short, 100.0 if percent else 1.0
            for head, content in (
                (f"{name} (%)" if percent else name, ghost.values),
                (f"{name} gap", ghost.gaps),
            ):
                if metric in content:
                    row[head] = scale * content[metric]
        made.append(row)
    return pd.DataFrame(made)


def show_curves(found: budget_frames.Curves, ghosts: Sequence[budget_curves.Ghost]) -> go.Figure:
    """The figure; a click on a mark opens its first run."""
    view: frames.View = "gap" if state.choice("view", ["value", "gap"]) == "gap" else "value"
    info = budget_curves.budget_curves_info(found, view=view, ghosts=ghosts)
    selected = next(
        (line.id for line in found.lines for step in line.steps if state.param("run") in step.keys),
        "",
    )
    zoom = state.choice("zoom", ["all", "near"]) == "near"
    figure = budget_curves.draw(info, dark=state.dark(), zoom=zoom, selected=selected)
    run_drawer.chart(figure, "budget_curves", alt=budget_curves.alt_text(info))
    st.caption(widgets.escape(" ".join(notes(found, info, zoom=zoom))))
    return figure


def notes(found: budget_frames.Curves, info: budget_curves.BudgetInfo, *, zoom: bool) -> list[str]:
    """What a reader must know about this very figure."""
    seeds = [step.seeds for line in found.lines for step in line.steps]
    made = ["Click a mark for its run."]
    if len(found.sizes) == 1 and len(found.methods) > 1:
        made.append("Marks stand side by side so that none hides another: they share one budget.")
    if any(line.damaged for line in found.methods):
        made.append("A cross: the model is damaged there.")
    if len(found.methods) > len(info.coloured):
        made.append("Grey: the other methods; hover for the name, or choose fewer under Methods.")
    if max(seeds) == 1:
        made.append("One training seed, so no interval.")
    else:
        made.append(
            f"{min(seeds)} to {max(seeds)} training seeds a mark; bars are 95 % t-intervals."
            if min(seeds) != max(seeds)
            else f"Bars are 95 % t-intervals over {max(seeds)} training seeds."
        )
    short = [line.title for line in found.lines if len(line.steps) < len(found.sizes)]
    if short and len(found.sizes) > 1:
        made.append(f"Not at every budget: {words_list(short)}.")
    for panel in info.panels:
        if zoom and panel.outside:
            made.append(
                f"Outside this range of {catalog.metric(panel.metric).short}: "
                f"{words_list(list(panel.outside))}."
            )
        hidden = sum(not panel.near[0] <= mark.y <= panel.near[1] for mark in panel.ghosts)
        if zoom and hidden:
            made.append(
                f"Printed numbers outside this range of {catalog.metric(panel.metric).short}: "
                f"{hidden}."
            )
        if panel.missing:
            what = "a gap" if panel.view == "gap" else "a value"
            made.append(
                f"Without {what} in {catalog.metric(panel.metric).short}: "
                f"{words_list(list(panel.missing))}."
            )
    if any(panel.view == "value" for panel in info.panels) and any(
        panel.view == "gap" for panel in info.panels
    ):
        made.append("A metric without a gap to Retrain is shown as its value.")
    return made


def words_list(names: list[str], most: int = 6) -> str:
    """Names with commas, the last ones counted where there are many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


page()
