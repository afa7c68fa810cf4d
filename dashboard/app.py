"""The entry of the application: navigation and nothing else. `python -m streamlit run dashboard/app.py` from the repository's root."""

from pathlib import Path

import streamlit as st

from dashboard import data, logo, state, widgets

# A file of our own: Streamlit would fetch a Material icon for the tab from another host.
ICON = str(Path(__file__).with_name("icon.png"))
st.set_page_config(page_title="mucore: unlearning compared", page_icon=ICON, layout="wide", initial_sidebar_state=230)

PAGES = widgets.PAGES
page = st.navigation(
    {
        "": [st.Page(PAGES["start"], title="Start", icon=":material/home:", default=True)],
        "Run": [
            st.Page(PAGES["launch"], title="Launch", icon=":material/rocket_launch:"),
            st.Page(PAGES["forget_sets"], title="Forget sets", icon=":material/checklist:"),
            st.Page(PAGES["queue"], title="Queue", icon=":material/list_alt:"),
        ],
        "Compare": [
            st.Page(PAGES["results"], title="Results", icon=":material/table_chart:"),
            st.Page(PAGES["budget"], title="Budget curves", icon=":material/show_chart:"),
            st.Page(PAGES["tradeoffs"], title="Trade-offs", icon=":material/balance:"),
            st.Page(PAGES["compare"], title="Compare", icon=":material/compare:"),
        ],
        "Look inside": [
            st.Page(PAGES["membership"], title="Membership", icon=":material/person_search:"),
            st.Page(PAGES["representation"], title="Representation", icon=":material/scatter_plot:"),
            st.Page(PAGES["replay"], title="Replay", icon=":material/replay:"),
            st.Page(PAGES["efficacy"], title="Efficacy", icon=":material/query_stats:"),
            st.Page(PAGES["quality"], title="Forgetting quality", icon=":material/ssid_chart:"),
            st.Page(PAGES["depoisoning"], title="Depoisoning", icon=":material/pest_control:"),
            st.Page(PAGES["identity"], title="Identity", icon=":material/face:"),
        ],
        "Learn": [
            st.Page(PAGES["lessons"], title="Lessons", icon=":material/cast_for_education:"),
            st.Page(PAGES["method"], title="Methods", icon=":material/school:"),
            st.Page(PAGES["glossary"], title="Glossary", icon=":material/dictionary:"),
            st.Page(PAGES["papers"], title="Papers", icon=":material/menu_book:"),
        ],
        "Report": [st.Page(PAGES["reports"], title="Reports", icon=":material/description:")],
    },
    expanded=True,  # Streamlit hides some pages as soon as anything stands below them
)
state.enter(page.url_path)
st.logo(logo.svg(state.dark()), size="large")
if data.has_both():
    with st.sidebar:
        names = {"own": "Yours", "demo": "Demo"}
        state.carried_segmented("Results", "source", data.SOURCES, format_func=lambda name: names[name], width="stretch")
widgets.follow_theme()
with widgets.guarded(), data.opening(f"{page.url_path} {state.param('view')}"):
    page.run()
state.leave(page.url_path)
widgets.keep_along()
