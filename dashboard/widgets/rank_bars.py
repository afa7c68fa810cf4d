"""Which test decides what the bars of a rank diagram join."""

from __future__ import annotations

from collections.abc import Iterable

from dashboard import state
from mucore.statistics.significance import Ranking, alike_in_pairs

TESTS = {"nemenyi": "Nemenyi's test", "wilcoxon": "Wilcoxon's, Holm"}


def pick(ranking: Ranking, pairs: Iterable[tuple[str, str, float]]) -> tuple[Ranking, bool]:
    """The ranking with the groups of the test that the reader chose, and whether every two methods
    have a test of their own; `pairs` are two names and the corrected p.
    """
    test = state.segmented(
        "Bars by", "bars", list(TESTS), format_func=TESTS.__getitem__, label_visibility="collapsed"
    )
    if test != "wilcoxon":
        return ranking, False
    return alike_in_pairs(ranking, pairs), True
