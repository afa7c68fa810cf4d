"""The pages in the order of the side bar: the only list. A page has one id: its file in views/, its
address, its name in every layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Page:
    id: str
    title: str
    icon: str  # a name of Material Symbols
    group: str = ""
    works: bool = False  # there to start and change things: nothing on it is for who only reads

    @property
    def file(self) -> str:
        """Its script, as Streamlit finds it from app.py."""
        return f"views/{self.id}.py"


PAGES: Final = (
    Page("start", "Start", "home"),
    Page("launch", "Launch", "rocket_launch", "Run", works=True),
    Page("forget_sets", "Forget sets", "checklist", "Run", works=True),
    Page("queue", "Queue", "list_alt", "Run"),
    Page("results", "Results", "table_chart", "Compare"),
    Page("board", "Board", "leaderboard", "Compare"),
    Page("budget", "Budget curves", "show_chart", "Compare"),
    Page("tradeoffs", "Trade-offs", "balance", "Compare"),
    Page("compare", "Compare", "compare", "Compare"),
    Page("membership", "Membership", "person_search", "Look inside"),
    Page("representation", "Representation", "scatter_plot", "Look inside"),
    Page("replay", "Replay", "replay", "Look inside"),
    Page("efficacy", "Efficacy", "query_stats", "Look inside"),
    Page("quality", "Forgetting quality", "ssid_chart", "Look inside"),
    Page("depoisoning", "Depoisoning", "pest_control", "Look inside"),
    Page("identity", "Identity", "face", "Look inside"),
    Page("playground", "Playground", "bubble_chart", "Learn"),
    Page("draw", "Draw a digit", "draw", "Learn"),
    Page("lessons", "Lessons", "cast_for_education", "Learn"),
    Page("method", "Methods", "school", "Learn"),
    Page("glossary", "Glossary", "dictionary", "Learn"),
    Page("papers", "Papers", "menu_book", "Learn"),
    Page("reports", "Reports", "description", "Report"),
)
BY_ID: Final = {page.id: page for page in PAGES}
