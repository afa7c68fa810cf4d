"""The entry of the application: navigation and nothing else. `python -m streamlit run dashboard/app.py` from the repository's root."""

from pathlib import Path

import streamlit as st

from dashboard import state, widgets

# A file of our own: Streamlit would fetch a Material icon for the tab from another host.
ICON = str(Path(__file__).with_name("icon.png"))
st.set_page_config(page_title="mucore: unlearning compared", page_icon=ICON, layout="wide", initial_sidebar_state=230)

PAGES = widgets.PAGES
page = st.navigation(
    {
        "": [st.Page(PAGES["start"], title="Start", icon=":material/home:", default=True)],
        "Run": [
            st.Page(PAGES["launch"], title="Launch", icon=":material/rocket_launch:"),
            st.Page(PAGES["queue"], title="Queue", icon=":material/list_alt:"),
        ],
        "Compare": [st.Page(PAGES["results"], title="Results", icon=":material/table_chart:")],
        "Learn": [
            st.Page(PAGES["method"], title="Methods", icon=":material/school:"),
            st.Page(PAGES["glossary"], title="Glossary", icon=":material/dictionary:"),
        ],
    }
)
state.enter(page.url_path)
with widgets.guarded():
    page.run()
