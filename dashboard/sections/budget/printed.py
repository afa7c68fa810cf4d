"""What papers print at one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from dashboard import state
from dashboard.charts import budget_curves
from dashboard.frames import budget as budget_frames
from dashboard.papers import tables
from dashboard.widgets.markdown import escape
from mucore import catalog


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
    st.caption(escape(f"Open marks, as printed. {caption}"))
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
