"""Attacked images, and what the models say of them."""

from __future__ import annotations

import typing

import pandas as pd
import streamlit as st

from dashboard import access, data, state
from dashboard.charts import image_row
from dashboard.frames import budget as budget_frames
from dashboard.frames import depoisoning as depoisoning_frames
from dashboard.frames.rows import references
from dashboard.text import units
from dashboard.widgets import figures
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.errors import MucoreError
from mucore.outputs import Outputs
from mucore.store.rows import Result

NOT_KEPT = (
    "The predictions of {what} are not here: they were removed to save space, or the demo leaves "
    "them out. A new run, such as one with another training seed, keeps them."
)


def show(found: budget_frames.Curves, runs: pd.DataFrame, scenario: str, count: int) -> None:
    """Attacked images with the answers of original, Retrain and one method, all of one training
    seed.
    """
    steps = {line.id: step for line in found.methods if (step := line.step(count)) is not None}
    lines = [line for line in depoisoning_frames.ordered(found, count).methods if line.id in steps]
    if not lines:
        st.caption("There is no method to look at.")
        return
    # the first of which there is something to see
    predicted = data.predicted()
    nearest = min(lines, key=lambda line: steps[line.id].keys[0] not in predicted)
    titles = {line.id: line.title for line in lines}
    left, right = st.columns([35, 65], vertical_alignment="bottom")
    with left:
        chosen = state.select(
            "Method", "method", list(titles), default=nearest.id, format_func=titles.__getitem__
        )
    with right:
        names = {
            "any": "Any attacked image",
            "healed": "Healed by the method",
            "fooled": "Still fooled",
        }
        state.segmented("Images", "images", list(names), format_func=names.__getitem__)
    show = typing.cast(depoisoning_frames.Shown, state.choice("images", list(names)))
    key = steps[chosen].keys[0]
    at_size = runs[runs["forget_count"] == count].set_index("key")
    seed = int(at_size.loc[key, "training_seed"])
    twins = references(at_size, key)
    missing = [name for name in ("Original", "Retrain") if name not in twins]
    if missing:
        st.markdown(
            f"These images need the {' and the '.join(missing)} of training seed {seed}, which "
            "has not run yet."
        )
        link("queue", "Watch the queue", icon=":material/list_alt:")
        return
    keys = {"Original": twins["Original"], "Retrain": twins["Retrain"], titles[chosen]: key}
    split = depoisoning_frames.SPLIT[scenario]
    outputs: dict[str, Outputs | None] = {name: data.outputs(key) for name, key in keys.items()}
    splits = {
        name: each[split]
        for name, each in outputs.items()
        if each is not None and split in each and len(each[split])
    }
    if len(splits) < len(keys):
        st.markdown(NOT_KEPT.format(what=" and ".join(name for name in keys if name not in splits)))
        query = budget_frames.launch_query(at_size, ()) | {
            "training_seeds": str(1 + int(at_size["training_seed"].max()))
        }
        link("launch", "Launch a comparison", icon=":material/arrow_forward:", **query)
        return
    original = data.result(keys["Original"])
    if original is not None:
        show_images(
            original,
            depoisoning_frames.examples(splits, original.spec["poison"], show=show),
            scenario,
            seed,
        )


def show_images(
    original: Result, chosen: depoisoning_frames.Examples, scenario: str, seed: int
) -> None:
    where = (
        "training images with a flipped label"
        if scenario == "label_flip"
        else "test images under the patch, not of the target class"
    )
    if not len(chosen.ids):
        st.markdown(
            f"None of {units.count(chosen.total, 'image')} is of this kind. Choose other images, "
            "or another method."
        )
        return
    try:
        with st.spinner("Loading the images"):
            pixels = data.images(
                original.spec, chosen.ids.tolist(), triggered=scenario == "backdoor"
            )
    except MucoreError as failure:
        st.markdown(f"The images cannot be shown: {escape(access.shown(str(failure)))}")
        return
    info = image_row.image_row_info(
        pixels,
        data.numbered(original.spec, chosen.ids).tolist(),
        true=chosen.true.tolist(),
        taught=chosen.taught.tolist(),
        predicted=[(name, answers.tolist()) for name, answers in chosen.predicted.items()],
        names=catalog.dataset(original.spec["dataset"]).class_names,
    )
    figure = image_row.draw(info, dark=state.dark())
    with st.container(key="sideways_images"):
        figures.chart(figure, "poisoned_images", alt=image_row.alt_text(info))
    shown, matching = len(chosen.ids), chosen.matching
    st.caption(
        (
            f"All {shown} such images"
            if shown == matching
            else f"{shown} of {matching} such images, spread evenly"
        )
        + f"; predictions are here of {chosen.total} {where}. Bold and coloured: the "
        f"attacker's label. Italic: wrong, but not what the attacker wants. Training seed {seed}."
    )
