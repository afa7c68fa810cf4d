"""How the settings of the preset `tuned` were found for a method: its studies, trial by trial."""

from __future__ import annotations

import streamlit as st

from dashboard import access, data, state
from dashboard.charts import search_progress
from dashboard.frames import method as frames
from dashboard.widgets import figures, header
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import shipped
from mucore.catalog import MethodCard
from mucore.errors import BadFile
from mucore.tuning.plan import FOLDER
from mucore.tuning.study import Facts, Study, facts_in, load


def show(card: MethodCard) -> None:
    """Nothing where a search for the method would make no sense."""
    if not card.search:
        return
    st.subheader("How its settings were found", anchor=False)
    searches = frames.found(*_read(card.id))
    if not searches:
        st.caption("No settings have been searched for this method yet.")
        link("launch", "Search settings", icon=":material/manage_search:", methods=card.id)
        return
    titles = {one.id: one.title for one in searches}
    short = {name: title.partition(" on ")[0] for name, title in titles.items()}
    titles = short if len({*short.values()}) == len(short) else titles
    name = state.segmented("Task", "searched", list(titles), format_func=lambda each: titles[each])
    one = next(each for each in searches if each.id == name)
    header.answer(frames.sentence(one))
    st.caption(
        f"{one.title}, validation data. Each mark is one setting, the first the authors'; the "
        "line is the best so far. Below 1 a setting passes."
    )
    info = search_progress.search_progress_info(one)
    figure = search_progress.draw(info, dark=state.dark())
    figures.chart(figure, "search_progress", alt=search_progress.alt_text(info))
    figures.numbers(frames.frame(one), f"search-{card.id}", figure, of="settings")


def _read(method: str) -> tuple[list[Study], list[Facts]]:
    """The studies of a method and what their tasks share: of two of one task the one that the
    preset `tuned` goes by, the reader's own before that which comes with the program where it has
    come to a setting. A damaged file is named and left out.
    """
    studies: dict[str, Study] = {}
    facts: list[Facts] = []
    for root in (data.own_store().home / FOLDER, shipped.DATA / FOLDER):
        try:
            facts += facts_in(root)
            for path in sorted(root.glob(f"*/{method}.json")):
                study = load(path)
                if study is None:
                    continue
                before = studies.get(str(study.task))
                if before is None or _came_to(study) > _came_to(before):
                    studies[str(study.task)] = study
        except BadFile as error:
            st.caption(f":material/warning: {escape(access.shown(str(error)))}")
    return list(studies.values()), facts


def _came_to(study: Study) -> tuple[bool, bool]:
    """Whether there is a setting, and whether it is the last word."""
    return study.choice() is not None, study.finished()
