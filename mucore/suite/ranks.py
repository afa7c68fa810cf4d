"""What separates the best line of a table from the next, and the methods of a division from each
other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mucore.statistics.significance import LEVEL, Pair, Ranking, average_ranks, holm, wilcoxon_holm
from mucore.suite.scores import paired_p
from mucore.suite.tables import Line, Table, compared


def best_of(lines: Sequence[Line]) -> tuple[str | None, tuple[str, ...]]:
    """The one line whose score is lower than each other's on the seeds that both have, by paired t
    tests with Holm's correction; else the methods of the lowest and of those that cannot be told
    from it. A line of too few seeds is never the lowest, but may be one of those; another pack's
    line of the lowest one's method is no rival.
    """
    first = next(iter(compared(lines)), None)
    if first is None:
        return None, ()
    others = [line for line in lines if line.scores and line.method != first.method]
    p = holm([_lower(first.scores, other.scores) for other in others]) if others else ()
    alike = [other.method for other, each in zip(others, p, strict=True) if each > 1 - LEVEL]
    return (first.method, ()) if not alike else (None, (first.method, *dict.fromkeys(alike)))


def _lower(one: Mapping[int, float], other: Mapping[int, float]) -> float:
    """`paired_p`, and 1 where it is the other whose mean is lower on the seeds that both have."""
    shared = [seed for seed in one if seed in other]
    if sum(one[seed] - other[seed] for seed in shared) >= 0:
        return 1.0
    return paired_p(one, other)


def ranking_of(tables: Sequence[Table]) -> Ranking | None:
    """Of the methods that have one scored line in every table."""
    columns = [_scored_once(table) for table in tables]
    if len(columns) < 2:
        return None
    whole = [name for name in columns[0] if all(name in column for column in columns)]
    if len(whole) < 3:
        return None
    scores = {name: [column[name] for column in columns] for name in whole}
    return average_ranks(scores)


def _scored_once(table: Table) -> dict[str, float]:
    """The mean scores of a table by method; without those that several packs have a score of."""
    found: dict[str, list[float]] = {}
    for line in table.compared:
        if (score := line.score) is not None:
            found.setdefault(line.method, []).append(score.mean)
    return {name: scores[0] for name, scores in found.items() if len(scores) == 1}


def pairs_of(tables: Sequence[Table], ranking: Ranking | None) -> tuple[tuple[Pair, ...], int]:
    """Wilcoxon's signed-rank test of every two ranked methods over the seeds of all tasks that
    every one of them has a score of, with Holm's correction; and how many of these blocks there
    are. No pairs below two.
    """
    if ranking is None:
        return (), 0
    columns: dict[str, dict[tuple[str, int], float]] = {name: {} for name in ranking.ranks}
    for table in tables:
        for line in table.compared:  # one a ranked method: `_scored_once`
            if line.method in columns:
                columns[line.method] |= {
                    (table.task.id, seed): score for seed, score in line.scores.items()
                }
    shared = sorted(set.intersection(*(set(column) for column in columns.values())))
    if len(shared) < 2:
        return (), len(shared)
    scores = {name: [column[block] for block in shared] for name, column in columns.items()}
    return wilcoxon_holm(scores), len(shared)
