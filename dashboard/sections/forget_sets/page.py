"""Forget sets: put samples together, see what that comes to, and give it a name."""

from __future__ import annotations

import streamlit as st

from dashboard import state
from dashboard.charts import set_classes
from dashboard.sections.forget_sets import add, import_list, preview, save, working_set
from dashboard.sections.forget_sets import map as maps
from dashboard.sections.forget_sets.dataset import choose_data, show_source
from dashboard.widgets import figures
from dashboard.widgets.markdown import escape

WAYS = {
    "scenario": ("Scenario", add.by_scenario),
    "class": ("Class", add.by_class),
    "images": ("Images", add.by_images),
    "map": ("Map", maps.by_map),
    "list": ("List", import_list.by_list),
}


def show() -> None:
    """The set on the left, in any order and as often as a reader likes; what it comes to, right."""
    training = choose_data()
    if training is not None:
        now = working_set.read(training)
        copies = preview.copies_of(training, now)
        left, right = st.columns([11, 9], gap="large")
        with left:
            st.subheader("Add or take away", anchor=False)
            way = state.segmented(
                "Way",
                "way",
                list(WAYS),
                format_func=lambda name: WAYS[name][0],
                label_visibility="collapsed",
            )
            WAYS[way][1](training, now)
        with right:
            st.subheader("The set so far", anchor=False)
            for sentence in now.problems:
                st.warning(escape(sentence), icon=":material/rule:")
            with st.container(horizontal=True, gap="small"):
                st.button(
                    "Undo",
                    key="undo",
                    icon=":material/undo:",
                    disabled=not working_set.can_undo(),
                    on_click=working_set.undo,
                )
                st.button(
                    "Start over",
                    key="start_over",
                    icon=":material/restart_alt:",
                    disabled=not len(now.ids),
                    on_click=working_set.start_over,
                )
            with st.container(horizontal=True, gap="medium"):
                for fact in preview.facts(training, now, copies):
                    st.metric(fact.label, fact.value, help=fact.detail, width="content")
            if len(now.ids):
                save.save_and_launch(training, now)
                preview.show(training, now, copies)
            else:
                st.markdown(
                    "No sample yet. Choose a way on the left: a scenario, classes, images, a map, "
                    "or a list of ids."
                )
    save.show_saved(training)
    if training is not None:
        info = preview.classes_info(training, now)
        figures.numbers(
            set_classes.table(info), "forget-set-classes", set_classes.draw(info, dark=state.dark())
        )
        show_source(training, now)
