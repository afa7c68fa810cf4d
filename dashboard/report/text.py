"""Names and phrases that several sections share."""

from __future__ import annotations

import pandas as pd

from dashboard.text.labels import THIN
from mucore import catalog
from mucore.errors import UnknownName
from mucore.store.rows import Result


def without_thin_spaces(frame: pd.DataFrame) -> pd.DataFrame:
    """Without thin spaces, which LaTeX and many PDF readers lose."""
    return frame.map(lambda text: text.replace(THIN, " ") if isinstance(text, str) else text)


def scenario_title(scenario: str) -> str:
    try:
        return catalog.scenario(scenario).title
    except UnknownName:
        return scenario


def short_name(metric: str) -> str:
    return catalog.metric(metric).short


def versions(result: Result) -> str:
    return ", ".join(f"{name} {version}" for name, version in result.versions.items())
