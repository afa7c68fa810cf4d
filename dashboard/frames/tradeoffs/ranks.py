"""Average ranks over scenarios, in a table."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dashboard.frames.tradeoffs.lines import line_title
from dashboard.text import units
from mucore.statistics.significance import Ranking


def ranks_frame(ranking: Ranking, forgot: Mapping[str, int]) -> pd.DataFrame:
    """Methods with their average rank, best first, and in how many scenarios they forgot."""
    lines = [(line_title(name), rank, forgot[name]) for name, rank in ranking.ranks.items()]
    return pd.DataFrame(
        lines,
        columns=[
            "Method",
            "Average rank",
            f"Forgot in, of {units.count(ranking.blocks, 'scenario')}",
        ],
    )
