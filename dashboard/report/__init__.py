"""The report for who must check a comparison, and the blocks that files to take home are made of.
No Streamlit. Texts are as shown: html.py escapes them.
"""

from dashboard.report.blocks import (
    Block,
    Command,
    Facts,
    Items,
    Link,
    Picture,
    Report,
    Section,
    Table,
    Text,
)
from dashboard.report.report import build, read
from dashboard.report.setting import latex

__all__ = [
    "Block",
    "Command",
    "Facts",
    "Items",
    "Link",
    "Picture",
    "Report",
    "Section",
    "Table",
    "Text",
    "build",
    "latex",
    "read",
]
