"""The guided lessons: one Markdown file each, read once. No Streamlit, no store."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from dashboard.lessons.reader import read

ORDER: Final = (
    "typical-and-outlier",
    "forget-one-class",
    "one-metric",
    "backdoor",
    "encoder",
    "worst-and-best",
)
LESSONS: Final = {name: read(Path(__file__).with_name(f"{name}.md")) for name in ORDER}
