"""Average ranks over scenarios, in a sentence and a table."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dashboard.frames.tradeoffs.lines import line_title
from dashboard.frames.tradeoffs.measures import by_metric
from dashboard.text import units
from mucore.statistics.significance import LEVEL, Ranking


def ranks_sentence(metric: str, ranking: Ranking, forgot: Mapping[str, int]) -> str:
    """Whether a method wins, to be read aloud; none does that cannot be told from the next, or that
    never forgot.
    """
    by, best, others = by_metric(metric), next(iter(ranking.ranks)), len(ranking.ranks) - 1
    over = units.count(ranking.blocks, "scenario")
    methods = [name.partition(" ")[0] for name in ranking.ranks]
    many = units.methods(methods)
    what = "methods" if len(set(methods)) == len(methods) else "settings"
    if ranking.p >= 1 - LEVEL:
        return (
            f"{by}, there is no winner: chance alone may explain the ranks of these {many} over "
            f"{over}."
        )
    if ranking.alike:
        return (
            f"{by}, there is no winner: {len(ranking.alike)} of the other {others} {what} cannot "
            "be told apart from first place."
        )
    said = f"{line_title(best)} ranks first of {many} over {over}"
    if not forgot[best]:
        return f"{by}, there is no winner: {said}, but forgot in none of them."
    return f"{by}, {said}, and forgot in {forgot[best]} of them."


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
