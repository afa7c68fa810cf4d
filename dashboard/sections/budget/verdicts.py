"""What became of each method at each budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard import assets, state, theme
from dashboard.charts.budget_curves import tick
from dashboard.frames.budget import Curves, Step
from dashboard.sections.budget import panels
from dashboard.text import verdicts


def show(found: Mapping[str, Curves]) -> None:
    """A line a method, nearest to Retrain first, a column a budget; nothing where none is
    judged.
    """
    dark = state.dark()
    lines = [line for each in found.values() for line in each.methods]
    lines = [line for line in lines if any(step.verdict is not None for step in line.steps)]
    titles = dict.fromkeys(line.title for line in sorted(lines, key=lambda line: line.order))
    if not titles:
        return
    steps = {
        (line.title, panel, step.count): step
        for panel, each in found.items()
        for line in each.methods
        for step in line.steps
    }
    places = [(panel, count) for panel, each in found.items() for count in each.sizes]
    first = {(panel, next(iter(each.sizes))) for panel, each in found.items()}
    rows: list[dict[str, Any]] = [
        {
            "title": title,
            "cells": [
                cell(steps.get((title, *place)), dark) | {"first": place in first}
                for place in places
            ],
        }
        for title in titles
    ]
    met = {each["fate"] for row in rows for each in row["cells"]}
    html = assets.template("verdict_grid.html.j2").render(
        groups=[
            {"title": panels.short(name), "heads": [tick(*size) for size in each.sizes.items()]}
            for name, each in found.items()
        ],
        rows=rows,
        key=[
            {"fate": name, "icon": icon, "color": theme.FATES[name].color(dark)}
            for name, icon in verdicts.FATES.items()
            if name in met
        ],
        unsure=any(each["unsure"] for row in rows for each in row["cells"]),
    )
    st.html(html)


def cell(step: Step | None, dark: bool) -> dict[str, Any]:
    if step is None or step.verdict is None:
        return {"fate": "", "icon": "", "said": "", "unsure": False}
    fate = verdicts.fate(step.verdict)
    said = step.said if step.status == "ok" else f"{step.said} ({step.status})"
    color, icon = theme.FATES[fate].color(dark), verdicts.FATES[fate]
    unsure = step.verdict.provisional
    return {"fate": fate, "icon": icon, "color": color, "said": said, "unsure": unsure}
