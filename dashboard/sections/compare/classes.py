"""Classes: each run's accuracy in every class less that of its Retrain."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.charts import class_accuracy, class_gaps
from dashboard.charts.parts import clickable
from dashboard.frames import NOISE
from dashboard.frames import budget as budget_frames
from dashboard.frames import compare as compare_frames
from dashboard.sections.compare.selection import Chosen, pick_split
from dashboard.widgets import clicks, figures, messages
from dashboard.widgets.links import anew
from dashboard.widgets.markdown import escape
from mucore.statistics import SETTING
from mucore.store.records import Result


def show(chosen: Chosen) -> None:
    splits = {name for result in chosen.results for name in result.confusion}
    if not splits & set(compare_frames.SPLITS):
        sentence = "Accuracies of classes were not stored with these runs. New runs keep them."
        messages.empty(sentence, "Launch a comparison", "launch", **anew(chosen.runs))
        return
    split = pick_split(sorted(splits))
    found = gaps(chosen, split)
    if found.empty:
        sentence = "This needs a method and the Retrain of the same training seed."
        messages.empty(
            sentence, "Launch a comparison", "launch", **budget_frames.launch_query(chosen.runs, ())
        )
        return
    halves = class_accuracy.retrains_apart(retrains(chosen), chosen.class_names, split=split)
    shown = found.rename(index=chosen.titles)
    figure, narrow = (
        class_gaps.draw(shown, halves, split, dark=state.dark(), stacked=stacked)
        for stacked in (False, True)
    )
    keys = ["", *found.index] if len(halves) else [*found.index]
    clickable.selectable(figure, lambda _, row, __: keys[row])
    clickable.selectable(narrow, lambda _, __, column: keys[column])
    alt = class_gaps.alt_text(shown, halves, split)
    clicks.open_run(clicks.stacking(figure, narrow, "class_gaps", alt=alt))
    alone = [chosen.titles[key] for key, base in chosen.retrains.items() if base is None]
    if alone:
        st.caption(escape(f"No Retrain of the same training seed: {', '.join(alone)}."))
    grey = pd.DataFrame({f"{NOISE}, ±": halves} if len(halves) else {}).T
    numbers = pd.concat([grey, shown]).round(2)
    figures.numbers(numbers.rename_axis("Run").reset_index(), f"class-gaps-{split}", figure)


def gaps(chosen: Chosen, split: str) -> pd.DataFrame:
    """Points by run (key) and class, of each run less its own Retrain; classes without a sample in
    this split are left out.
    """
    found = {}
    for result in chosen.results:
        base = chosen.retrains[result.key]
        if result.spec["method"] != "retrain" and base and split in result.confusion:
            mine, other = (
                class_accuracy.accuracies(each.confusion[split], chosen.class_names)
                for each in (result, base)
            )
            found[result.key] = mine - other
    return pd.DataFrame(found).T.dropna(axis=1, how="all")


def retrains(chosen: Chosen) -> list[Result]:
    """All Retrains of the setting of the chosen runs; none where they are of several, for then no
    one line is true of all of them.
    """
    if len(chosen.runs[list(SETTING)].drop_duplicates()) > 1:
        return []
    alike = compare_frames.alike(data.unlearning_runs(), chosen.runs)
    keys = alike.loc[alike["method"] == "retrain", "key"]
    return [result for key in keys if (result := data.result(key)) is not None]
