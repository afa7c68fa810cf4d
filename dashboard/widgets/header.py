"""The top of a page: its question, whose results it shows, its views and filters, and the answer
in a few figures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from dashboard import access, assets, data, state
from dashboard.frames import Answer
from dashboard.text import labels
from dashboard.widgets import course, presenting
from dashboard.widgets.markdown import escape, metric_help

# What every page needs beside the theme. Buttons in a row of filters are as high as its select
# boxes, so their labels stand on one line. Labels break their lines instead of ending in dots; a
# choice in a list, which has one line, does end in them. A row of filters goes on below where the
# window is narrow, and narrow windows give less of their width to margins.
LAYOUT: Final = assets.style("layout.css")


def header(question: str, caption: str, source: data.Source | None = None) -> None:
    """The page's question and a line on how to read it; with `source`, the badge that says whose
    results these are.
    """
    st.html(LAYOUT)
    course.headed(question, caption, source is not None and source.demo)
    with presenting.head():
        st.title(question, anchor=False)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if source is not None:
                demo_badge(source)
            st.caption(caption)


def demo_badge(source: data.Source) -> None:
    """Whose results a page shows."""
    mine = access.presents()
    if source.demo:
        owner = "you have results of your own" if mine else "the presenter has results"
        help_text = (
            f"Results of a real run that come with the program. Once {owner}, you can switch "
            "between the two in the side bar."
        )
        st.badge("Demo results", icon=":material/science:", color="orange", help=help_text)
    else:
        st.badge(
            "Your results" if mine else "The presenter's results",
            icon=":material/database:",
            color="blue",
            help=f"Folder {source.store.home}" if mine else None,
        )


def pick_view(
    names: Mapping[str, str],
    questions: Mapping[str, str],
    captions: Mapping[str, str],
    source: data.Source,
    top: st.delta_generator.DeltaGenerator,
) -> tuple[str, st.delta_generator.DeltaGenerator]:
    """The choice among a page's views (`names` by id, parameter `view`); the head of the chosen one
    goes into `top`.

    Returns its id and a place under the head for its answers.
    """
    view = state.segmented(
        "View",
        "view",
        list(names),
        format_func=lambda name: names[name],
        label_visibility="collapsed",
    )
    course.steps(list(names), view, lambda name: state.set_param("view", name))
    with top:
        header(questions[view], captions[view], source)
        return view, st.container()


def filter_row(widths: Sequence[float]) -> list[st.delta_generator.DeltaGenerator]:
    """Columns of these relative widths for a page's filters, of which there is one row; in a narrow
    window the last ones go below.
    """
    with st.container(key="filters"):
        return st.columns(widths, vertical_alignment="bottom", gap="small")


def statement(sentence: str, beside: str = "") -> None:
    """A page's answer in a sentence that may be read aloud, above everything else; `beside` is what
    else belongs to it, in plain type.
    """
    course.say(sentence, beside)
    with st.container(gap=None):
        st.markdown(f"**{escape(sentence)}**")
        if beside:
            st.markdown(escape(beside))


def answers(found: Sequence[Answer], *, first: str = "") -> None:
    """The answer in a few figures, side by side above a page's chart; nothing where there is none.
    `first` is a sentence above them.

    A tile that is about metrics, or names some by their short names, says under its label what
    these are.
    """
    if first:
        course.say(first)
        st.markdown(f"**{escape(first)}**")
    if not found:
        return
    told = course.current()
    if not told.sentence:
        course.above(f"{found[0].label}: {found[0].value}", found[0].detail)
    told.answers += [f"{each.label}: {each.value}; {each.detail}" for each in found]
    for column, answer in zip(st.columns(len(found), gap="small"), found, strict=True):
        named = dict.fromkeys(
            [*answer.metrics, *labels.metrics_named(answer.label, answer.value, answer.detail)]
        )
        with column, st.container(gap=None):
            told = [answer.help, *(metric_help(name) for name in named)]
            st.caption(answer.label, help="\n\n".join(text for text in told if text) or None)
            st.markdown(f"#### {escape(answer.value)}")
            st.caption(escape(answer.detail))
