"""Average ranks of methods over the settings of a report."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from dashboard.charts import critical_difference
from dashboard.frames import tradeoffs
from dashboard.report.blocks import Block, Picture, Table, Text
from mucore import statistics
from mucore.errors import BadValue
from mucore.verdicts import Judged

METRIC = "fa"  # that the tab Statistics opens on


def ranks(
    runs: pd.DataFrame, values: pd.DataFrame, judged: Mapping[str, Judged]
) -> tuple[Block, ...]:
    """Average ranks as a table, and as a figure where some two of them can differ; else why there
    are none.
    """
    named = statistics.label_runs(runs)
    try:
        found = statistics.statistics_of(
            named, values, metric=METRIC, agreement=[METRIC], watch=False
        )
    except BadValue as reason:
        return (Text(str(reason)),)
    ranking = found.ranking
    if ranking is None:
        return tuple(Text(note) for note in found.notes if note.startswith("No average ranks"))
    words = {key: line.verdict.word for key, line in judged.items() if line.verdict}
    forgot = tradeoffs.forgot_in(found, tradeoffs.line_verdicts(named, words))
    frame = tradeoffs.ranks_frame(ranking, forgot)
    frame["Average rank"] = frame["Average rank"].map("{:.2f}".format)
    table = Table(
        f"Ranks in {tradeoffs.short_name(METRIC)}; 1 is closest to Retrain. Friedman p "
        f"{ranking.p:.2g}, critical difference {ranking.critical_difference:.2f} (Nemenyi).",
        frame,
    )
    if ranking.critical_difference >= len(ranking.ranks) - 1:
        return (table,)
    titles = {
        name: (tradeoffs.line_title(name), tradeoffs.line_family(name)) for name in ranking.ranks
    }
    info = critical_difference.critical_difference_info(ranking, titles, forgot=forgot)
    figure = critical_difference.draw(info, dark=False)
    said = "A bar joins methods that the test cannot tell apart."
    alt = critical_difference.alt_text(info)
    return (Picture("ranks", "Average ranks", said, figure, alt), table)
