"""The entry of the application: navigation and nothing else. `python -m streamlit run
dashboard/app.py` from the repository's root.
"""

from pathlib import Path

import streamlit as st

from dashboard import access, logo, state
from dashboard.pages import BY_ID, MOVED, MOVED_VIEWS, PAGES, TAB
from dashboard.widgets import course, guests, messages, presenting, share, side_bar

# A file of our own: Streamlit would fetch a Material icon for the tab from another host.
ICON = str(Path(__file__).with_name("icon.png"))
st.set_page_config(
    page_title="mucore: unlearning compared",
    page_icon=ICON,
    layout="wide",
    initial_sidebar_state=200,
)
with messages.sentences():
    course.start()
    if sentence := access.refusal():
        messages.error(sentence)
        st.stop()
    if not access.enter():
        guests.log_in()
        st.stop()

    groups = {
        group: [page for page in PAGES if page.group == group]
        for group in dict.fromkeys(page.group for page in PAGES)
    }
    page = st.navigation(
        {
            group: [
                st.Page(
                    one.file,
                    title=one.title,
                    icon=f":material/{one.icon}:",
                    default=one is PAGES[0],
                )
                for one in members
            ]
            for group, members in groups.items()
        }
        | {"Moved": [st.Page(lambda: None, url_path=one, visibility="hidden") for one in MOVED]},
        expanded=True,  # Streamlit hides some pages as soon as anything stands below them
    )
    view = (page.url_path, state.param("view"))
    if moved := MOVED.get(page.url_path) or MOVED_VIEWS.get(view):  # of an earlier version
        room, tab = moved
        address = {**state.address(), TAB: tab}
        if room == page.url_path:
            del address["view"]
        st.switch_page(BY_ID[room].file, query_params=address)
    here = page.url_path or PAGES[0].id  # Start has no word in the address
    state.enter(here)
    st.logo(logo.svg(state.dark()), size="large")
    if status := access.status():
        st.sidebar.caption(status)
    guests.log_out()
    side_bar.follow_theme()
    presenting.begin()
    with messages.guarded():
        if here in BY_ID and BY_ID[here].works and not access.presents():
            guests.not_for_you(BY_ID[here])
        else:
            page.run()
    state.leave(here)
    if not presenting.on():  # a room sees no side bar
        share.fill(here)
        side_bar.keep_along()
    presenting.end(here)
