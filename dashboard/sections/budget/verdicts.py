"""What became of each method at each budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import assets, state, theme
from dashboard.charts.budget_curves import tick
from dashboard.frames.budget import DISTANCE
from dashboard.sections.budget import panels
from dashboard.text import verdicts


def show(found: pd.DataFrame) -> None:
    """A table a panel: a line a method, nearest to Retrain first, a column a budget; nothing where
    none is judged.
    """
    dark = state.dark()
    away = found[(found["metric"] == DISTANCE) & (found["family"] != "reference")]
    if away.empty:
        return
    cells = {
        (point["title"], point["panel"], point["size"]): cell(point, dark)
        for point in away.to_dict("records")
    }
    places = away[["panel", "size", "share"]].drop_duplicates().sort_values("size")
    groups = {name: places[places["panel"] == name] for name in dict.fromkeys(away["panel"])}
    order = away.groupby("title")["value"].mean().sort_values(kind="stable").index
    met = {each["fate"] for each in cells.values()}
    html = assets.template("verdict_grid.html.j2").render(
        groups=[
            {
                "title": panels.short(name),
                "heads": [tick(*each) for each in zip(mine["size"], mine["share"], strict=True)],
                "rows": [
                    (title, [cells.get((title, name, size), NONE) for size in mine["size"]])
                    for title in order
                ],
            }
            for name, mine in groups.items()
        ],
        key=[
            {"fate": name, "icon": icon, "color": theme.FATES[name].color(dark)}
            for name, icon in verdicts.FATES.items()
            if name in met
        ],
        unsure=any(each["unsure"] for each in cells.values()),
    )
    st.html(html)


NONE = {"fate": "", "icon": "", "said": "", "unsure": False}


def cell(point: Mapping[str, Any], dark: bool) -> dict[str, Any]:
    verdict = point["verdict"]
    if verdict is None:
        return NONE
    fate, said = verdicts.fate(verdict), verdicts.text(verdict)
    return {
        "fate": fate,
        "icon": verdicts.FATES[fate],
        "color": theme.FATES[fate].color(dark),
        "said": said if point["status"] == "ok" else f"{said} ({point['status']})",
        "unsure": verdict.provisional,
    }
