"""Budget curves: how far every method ends from Retrain as the forget set grows, a panel a scenario
(after MUBox, Figures 3 and 4).
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import budget as budget_frames
from dashboard.sections.budget import figures as budget_figures
from dashboard.sections.budget import panels, verdicts
from dashboard.text import units
from dashboard.widgets import figures, header, messages, run_drawer
from dashboard.widgets.provenance import provenance

QUESTION = "Do methods keep forgetting as the request grows?"
HOW = """**Distance**: mean gap to Retrain over the deciding accuracies, in points.  
**Dotted**: Original, untouched. A line near it did nothing.  
**Thin bars**: from the lowest to the highest seed; of a metric the 95 % interval.  
Curves are means over the seeds that all budgets share.  
**Tuned**: found at one budget (of this scenario where searched), used at every budget.  
**Marks**: the verdict at each budget, as below. Click one for its run."""


def page() -> None:
    source = data.source()
    with st.container():
        header.header(QUESTION, HOW, source)
    runs = data.summaries()
    runs = runs[runs["scenario"].isin(budget_frames.scenarios())]
    if runs.empty:
        empty("No run has a forget set whose size can be chosen.", {"scenarios": "one_class"})
        return
    picked = panels.pick(runs)
    if not picked:
        query = budget_frames.launch_query(runs, budget_frames.MUBOX_BUDGETS)
        empty("A curve needs one method at two budgets or more.", query)
        return
    every = runs[runs["scenario"].isin({str(each.iloc[0]["scenario"]) for each in picked.values()})]
    shown = pd.concat([*picked.values()])
    answer = st.container()
    metric = budget_figures.pick_metric(panels.metrics(shown))
    wanted = () if metric == budget_frames.DISTANCE else (metric,)
    found = panels.points(
        picked, same_lines(every, shown), source.name, source.change, data.chosen(shown), wanted
    )
    titles = {name: panels.title(each) for name, each in picked.items()}
    if sentence := budget_frames.closest_sentence(found):
        with answer:
            header.answer(f"{next(iter(titles.values()))}. {sentence}")
    drawn = budget_figures.draw(found, metric, titles)
    run_drawer.run_drawer(budget_frames.beside(shown, state.param("run")))
    st.subheader("Verdict at each budget", anchor=False)
    verdicts.show(found)
    table = budget_frames.numbers(found[found["metric"] == metric], budget_figures.head(metric))
    figures.numbers(table, "budget", *drawn[:1])
    provenance(shown)


def same_lines(every: pd.DataFrame, shown: pd.DataFrame) -> pd.DataFrame:
    """The runs of all seeds of the lines that are shown, so that bars span all of them."""
    names = ["dataset", "model", "recipe", "scenario", "scenario_parameters", "hashes", "method"]
    return every.merge(shown[[*names, "parameters"]].drop_duplicates())


def empty(sentence: str, query: dict[str, str | list[str]]) -> None:
    budgets = ",".join(units.plain(share) for share in budget_frames.MUBOX_BUDGETS)
    messages.empty(
        sentence, "Launch several budgets", "launch", **{"one_class.budget": budgets, **query}
    )


page()
