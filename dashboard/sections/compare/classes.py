"""Classes: each run's accuracy in every class less that of its Retrain."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import class_accuracy, class_gaps
from dashboard.frames import NOISE
from dashboard.frames import budget as budget_frames
from dashboard.frames import compare as compare_frames
from dashboard.sections.compare.selection import Chosen, pick_split
from dashboard.widgets import clicks, figures, messages
from dashboard.widgets.links import anew
from dashboard.widgets.markdown import escape
from mucore.statistics import SETTING
from mucore.store.rows import Result


def show(chosen: Chosen) -> None:
    splits = {name for result in chosen.results for name in result.confusion}
    if not splits & set(compare_frames.SPLITS):
        sentence = "Accuracies of classes were not stored with these runs. New runs keep them."
        messages.empty(sentence, "Launch a comparison", "launch", **anew(chosen.runs))
        return
    split = pick_split(sorted(splits))
    info = gaps(chosen, split)
    if not info.rows:
        sentence = "This needs a method and the Retrain of the same training seed."
        messages.empty(
            sentence, "Launch a comparison", "launch", **budget_frames.launch_query(chosen.runs, ())
        )
        return
    figure = class_gaps.draw(info, dark=state.dark())
    shown = {title: key for key, title in chosen.titles.items()}
    clicks.heatmap(
        figure,
        "class_gaps",
        lambda grey, row, _: "" if grey else shown[info.rows[row - bool(info.noise)][0]],
        alt=class_gaps.alt_text(info),
    )
    if info.missing:
        st.caption(escape(f"No Retrain of the same training seed: {', '.join(info.missing)}."))
    grey = [(f"{NOISE}, ±", info.noise)] if info.noise else []
    frame = pd.DataFrame(
        [[title, *values] for title, values in (*grey, *info.rows)], columns=["Run", *info.classes]
    )
    figures.numbers(frame.round(2), f"class-gaps-{split}", figure)


def gaps(chosen: Chosen, split: str) -> class_gaps.ClassGapsInfo:
    """Each run against its own Retrain; classes without a sample in this split are left out."""
    infos = []
    for result in chosen.results:
        if result.spec["method"] != "retrain":
            base = chosen.retrains[result.key]
            title = chosen.titles[result.key]
            infos.append(
                class_gaps.class_gaps_info(
                    [(title, [result])], [base] if base else [], chosen.class_names, split=split
                )
            )
    compared = [info for info in infos if info.rows]
    classes = max((info.classes for info in compared), key=len, default=())
    rows = [row for info in compared for row in info.rows if info.classes == classes]
    kept = [
        place
        for place in range(len(classes))
        if any(values[place] is not None for _, values in rows)
    ]
    noise = class_accuracy.retrains_apart(retrains(chosen), chosen.class_names, split=split)
    return class_gaps.ClassGapsInfo(
        classes=tuple(classes[place] for place in kept),
        rows=tuple((title, tuple(values[place] for place in kept)) for title, values in rows),
        missing=tuple(title for info in infos for title in info.missing),
        limit=max((info.limit for info in compared), default=class_gaps.SMALLEST_LIMIT),
        of=compared[0].of if compared else "Class",
        split=split,
        noise=tuple(noise[place] for place in kept) if len(noise) == len(classes) else (),
    )


def retrains(chosen: Chosen) -> list[Result]:
    """All Retrains of the setting of the chosen runs; none where they are of several, for then no
    one line is true of all of them.
    """
    if len(chosen.runs[list(SETTING)].drop_duplicates()) > 1:
        return []
    alike = compare_frames.alike(data.unlearning_runs(), chosen.runs)
    keys = alike.loc[alike["method"] == "retrain", "key"]
    return [result for key in keys if (result := data.result(key)) is not None]
