"""The pages in the order of the side bar: the only list. A page has one id: its file in views/, its
address, its name in every layer.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    Page("playground", "Playground", "bubble_chart", "Learn"),
    Page("draw", "Draw a digit", "draw", "Learn"),
    Page("lessons", "Lessons", "school", "Learn"),
    Page("results", "Results", "table_rows", "Compare"),
    Page("budget", "Budget curves", "show_chart", "Compare"),
    Page("tradeoffs", "Trade-offs", "balance", "Compare"),
    Page("depoisoning", "Depoisoning (ASR)", "healing", "Compare"),
    Page("representation", "t-SNE and CKA", "grain", "Look inside"),
    Page("attacks", "Attacks", "person_search", "Look inside"),
    Page("compare", "Classes and images", "image", "Look inside"),
    Page("identity", "Persons", "face", "Look inside"),
    Page("launch", "Launch", "rocket_launch", "Run", works=True),
    Page("queue", "Queue", "list_alt", "Run"),
    Page("reference", "Reference", "menu_book", "Reference"),
)
BY_ID: Final = {page.id: page for page in PAGES}
TAB: Final = "tab"  # the parameter that names one of a page's tabs
# Where the pages of earlier addresses went, or one view of them: a page and its tab.
MOVED: Final[Mapping[str, tuple[str, str]]] = {
    "board": ("results", "board"),
    "forget_sets": ("launch", "forget_sets"),
    "membership": ("attacks", "membership"),
    "quality": ("attacks", "quality"),
    "efficacy": ("attacks", "efficacy"),
    "replay": ("compare", "replay"),
    "method": ("reference", "methods"),
    "glossary": ("reference", "words"),
    "papers": ("reference", "papers"),
    "reports": ("results", "table"),
}
MOVED_VIEWS: Final[Mapping[tuple[str, str], tuple[str, str]]] = {
    ("tradeoffs", "requests"): ("tradeoffs", "requests"),
    **{("tradeoffs", view): ("results", "statistics") for view in ("ranks", "agreement", "tests")},
}
