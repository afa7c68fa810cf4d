"""An evidence report: what was asked, the answer, tables, figures, caveats and the commands that
repeat it, as a list of plain blocks.

Pandas and whole results in, frozen records out; html.py and latex.py write them.
No Streamlit, no store. Texts are as shown: what a person typed is kept as it is here and escaped by
whoever writes it.
"""

from dashboard.report.blocks import (
    DEFAULT_TITLE,
    MAX_AUTHOR,
    MAX_REMARK,
    MAX_TITLE,
    PARTS,
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
    listed,
)
from dashboard.report.report import MAX_RUNS, build
from dashboard.report.selection import outline, standing
from dashboard.report.verdicts import counts_sentence

__all__ = [
    "DEFAULT_TITLE",
    "MAX_AUTHOR",
    "MAX_REMARK",
    "MAX_RUNS",
    "MAX_TITLE",
    "PARTS",
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
    "counts_sentence",
    "listed",
    "outline",
    "standing",
]
