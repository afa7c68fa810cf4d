"""The top of a page, the same on all: its name, whose results it shows, how to read them, and what
can be taken along; below its chips the answer in a sentence and a bar of verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import streamlit as st

from dashboard import access, assets, data, state, theme
from dashboard.pages import BY_ID, TAB
from dashboard.text import verdicts
from dashboard.widgets import course, presenting
from dashboard.widgets.markdown import escape

# What every page needs beside the theme: the header's line and the chips below it, and labels that
# break instead of ending in dots.
LAYOUT: Final = assets.style("layout.css")


def header(question: str, how: str, source: data.Source | None = None, *, title: str = "") -> None:
    """The page's name, the switch between sources where there is a `source`, and two popovers: the
    question that it answers with `how` to read it, and what `share` is filled with. A room sees the
    question as the title of its screens. `title` stands in the place of the page's name.
    """
    st.html(LAYOUT)
    course.headed(question, how, source is not None and source.demo)
    if presenting.on():
        with presenting.head():
            st.title(question, anchor=False)
        return
    page = state.page()
    with st.container(key="page_header", horizontal=True, vertical_alignment="center", gap="small"):
        title = title or (BY_ID[page].title if page in BY_ID else question)
        st.title(title, anchor=False, width="stretch")
        if source is not None:
            _whose(source)
        with st.popover("How to read", icon=":material/help:", key="how_to_read"):
            st.markdown(f"**{question}**")
            st.markdown(how)
            if page in BY_ID and BY_ID[page].group in ("Compare", "Look inside"):
                st.markdown(assets.text("verdicts.md"))
        with st.popover("Share", icon=":material/ios_share:", key="share"):
            course.current().share = st.container()


def _whose(source: data.Source) -> None:
    """The switch between the demo and the reader's own results, where there are both."""
    if data.has_both():
        names = {"demo": "Demo", "own": "Yours" if access.presents() else "Ours"}
        state.carried_segmented(
            "Results",
            "source",
            data.SOURCES,
            format_func=lambda name: names[name],
            within=("comparison", "tag"),  # each store numbers its own
            label_visibility="collapsed",
        )
    elif source.demo:
        told = "A real run that comes with the program. Your own results take its place."
        st.badge("Demo", icon=":material/science:", color="gray", help=told)


def tabs(names: Mapping[str, str], old: Mapping[str, str] | None = None) -> str:
    """The tabs of a room, `names` by id: parameter `tab`. `old` are views of earlier addresses,
    with the tab that has what they showed. Returns the id of the one that is open.
    """
    view = state.param("view")
    with st.container(key="tabs"):
        tab = state.segmented(
            "View",
            TAB,
            list(names),
            default=(old or {}).get(view, view),
            format_func=names.__getitem__,
            label_visibility="collapsed",
        )
    course.steps(list(names), tab, lambda name: state.set_param(TAB, name))
    return tab


def answer(sentence: str) -> None:
    """A page's answer in a sentence of at most twenty words, which may be read aloud."""
    course.say(sentence)
    with st.container(key="answer"):
        st.markdown(escape(sentence))


def verdict_bar(rows: Sequence[verdicts.Line]) -> None:
    """How many of the methods among `rows` have which verdict, those by indication alone hatched;
    nothing where none is judged.
    """
    parts, dark = verdicts.parts(rows), state.dark()
    if parts:
        named = ", ".join(f"{part.count} {part.fate}" for part in parts if part.count)
        course.note(f"{named}.")
        st.html(
            assets.template("verdict_bar.html.j2").render(
                parts=[
                    {
                        "fate": part.fate,
                        "icon": verdicts.FATES[part.fate],
                        "color": theme.FATES[part.fate].color(dark),
                        "shown": part.count - part.indicated,
                        "indicated": part.indicated,
                        "count": part.count,
                    }
                    for part in parts
                ],
                said=named,
            )
        )
