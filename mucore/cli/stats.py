"""What `stats` writes: the statistics of a comparison as JSON, as tables on the screen, or one of
the tables as a frame.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

from mucore import catalog
from mucore.cli.printing import print_frame

if TYPE_CHECKING:
    import pandas as pd

    from mucore.statistics import Statistics

Table = Literal["intervals", "pairs", "ranks", "agreement", "tau"]


def content(found: Statistics) -> dict[str, Any]:
    """All of it as JSON takes it; numbers that do not exist are null."""
    same = ("metric", "score", "axis", "methods", "ranking", "suspicions", "notes")
    tables = ("intervals", "pairs", "agreement")
    return {
        **{name: getattr(found, name) for name in same},
        **{name: getattr(found, name).to_dict("records") for name in tables},
        "blocks": [{"setting": setting, "training_seed": seed} for setting, seed in found.blocks],
        "tau": {str(name): row.to_dict() for name, row in found.tau.iterrows()},
    }


def frame(found: Statistics, table: Table) -> pd.DataFrame:
    """One of the tables, for CSV, LaTeX and Markdown; without rows where it could not be made."""
    import pandas as pd

    if table == "ranks":
        ranks = found.ranking.ranks.items() if found.ranking else []
        return pd.DataFrame([*ranks], columns=["method", "average rank"])
    if table == "tau":
        return found.tau.rename_axis("metric").reset_index()
    return getattr(found, table)


def print_statistics(found: Statistics) -> None:
    """Everything as tables on stdout; notes on stderr."""
    card = catalog.metric(found.metric)
    print(f"{card.title} ({found.metric}). Intervals, 95 %, over {found.axis}.")
    print_frame(found.intervals)
    if (ranking := found.ranking) is not None:
        print(f"\nAverage ranks over {ranking.blocks} settings ({found.score}).")
        print_frame(frame(found, "ranks"))
        verdict = "the methods differ" if ranking.p < 0.05 else "no difference is shown"
        print(
            f"Friedman's test: p = {ranking.p:.3g}, {verdict}. Critical difference of two ranks: "
            f"{ranking.critical_difference:.2f}."
        )
        for group in ranking.groups:
            print(f"Not told apart: {', '.join(group)}.")
    if len(found.pairs):
        print(
            f"\nWilcoxon's signed-rank test with Holm's correction over {found.pairs['n'].iloc[0]} "
            f"blocks: settings, or the seeds of one ({found.score})."
        )
        print_frame(found.pairs.sort_values("p_holm", kind="stable"))
    if len(found.tau):
        print(
            "\nDo metrics rank the methods alike? Kendall's τ, 1 alike, 0 unrelated, −1 reversed; "
            "mean over the settings."
        )
        print_frame(frame(found, "tau"))
    if found.suspicions:
        print("\nOutside the range of original and Retrain:")
        for each in found.suspicions:
            print(f"- {each.sentence}")
    for note in found.notes:
        print(note, file=sys.stderr)
