"""What `stats` writes: the statistics of a comparison as JSON, as tables on the screen, or one of
the tables as a frame.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import TYPE_CHECKING, Any, Literal

from mucore import catalog
from mucore.cli.printing import print_table

if TYPE_CHECKING:
    import pandas as pd

    from mucore.statistics import Statistics
    from mucore.statistics.significance import Ranking

Table = Literal["intervals", "pairs", "ranks", "agreement", "tau"]


def content(found: Statistics) -> dict[str, Any]:
    """All of it as JSON takes it; numbers that do not exist are null."""
    return {
        "metric": found.metric,
        "score": found.score,
        "axis": found.axis,
        "intervals": found.intervals.to_dict("records"),
        "methods": found.methods,
        "blocks": [{"setting": setting, "training_seed": seed} for setting, seed in found.blocks],
        "pairs": found.pairs.to_dict("records"),
        "ranking": dataclasses.asdict(found.ranking) if found.ranking is not None else None,
        "agreement": found.agreement.to_dict("records"),
        "tau": {str(name): row.to_dict() for name, row in found.tau.iterrows()},
        "suspicions": [dataclasses.asdict(each) for each in found.suspicions],
        "notes": found.notes,
    }


def frame(found: Statistics, table: Table) -> pd.DataFrame:
    """One of the tables, for CSV, LaTeX and Markdown; without rows where it could not be made."""
    import pandas as pd

    if table == "ranks":
        return pd.DataFrame(
            list(found.ranking.ranks.items()) if found.ranking else [],
            columns=["method", "average rank"],
        )
    if table == "tau":
        return found.tau.rename_axis("metric").reset_index()
    return getattr(found, table)


def print_statistics(found: Statistics) -> None:
    """Everything as tables on stdout; notes on stderr."""
    card = catalog.metric(found.metric)
    percent = card.unit == "fraction"
    print(f"{card.title} ({found.metric}). Intervals over {found.axis}.")
    heads = ["setting", "method", "seeds", "mean", "std", "95 % interval"]
    gaps = bool(found.intervals["gap_mean"].notna().any())
    if gaps:
        heads += ["gap", "95 % interval of the gap"]
    rows = []
    for row in found.intervals.to_dict("records"):
        shown = {
            name: _number(row[name], percent, sign="+" if name.startswith("gap") else "")
            for name in ("mean", "std", "low", "high", "gap_mean", "gap_low", "gap_high")
        }
        cells = [row["setting"], row["method"], row["seeds"], shown["mean"], shown["std"]]
        cells.append(_span(shown["low"], shown["high"]))
        if gaps:
            cells += [shown["gap_mean"], _span(shown["gap_low"], shown["gap_high"])]
        rows.append(cells)
    print_table(heads, rows)
    if found.ranking is not None:
        print(f"\nAverage ranks over {found.ranking.blocks} settings ({found.score}).")
        _print_ranking(found.ranking)
    if len(found.pairs):
        print(
            f"\nWilcoxon's signed-rank test with Holm's correction over {len(found.blocks)} "
            f"blocks of setting and seed ({found.score})."
        )
        print_table(
            ("first", "second", "median difference", "p", "p corrected"),
            [
                (
                    pair["first"],
                    pair["second"],
                    _number(pair["difference"], percent, sign="+"),
                    f"{pair['p']:.3g}",
                    f"{pair['p_holm']:.3g}",
                )
                for pair in found.pairs.sort_values("p_holm", kind="stable").to_dict("records")
            ],
        )
    if len(found.tau):
        print(
            "\nDo metrics rank the methods alike? Kendall's τ, 1 alike, 0 unrelated, −1 reversed; "
            "mean over the settings."
        )
        shorts = [catalog.metric(name).short for name in found.tau]
        tau = zip(shorts, found.tau.to_numpy(), strict=True)
        print_table(
            ("", *shorts), [(short, *(f"{each:.2f}" for each in row)) for short, row in tau]
        )
    if found.suspicions:
        print("\nOutside the range of original and Retrain:")
        for each in found.suspicions:
            print(f"- {each.sentence}")
    for note in found.notes:
        print(note, file=sys.stderr)


def _print_ranking(ranking: Ranking) -> None:
    print_table(
        ("method", "average rank"), [(name, f"{rank:.2f}") for name, rank in ranking.ranks.items()]
    )
    verdict = (
        "the methods differ" if ranking.p < 0.05 else "no difference between the methods is shown"
    )
    print(
        f"Friedman's test: p = {ranking.p:.3g}, {verdict}. Critical difference of two ranks: "
        f"{ranking.critical_difference:.2f}."
    )
    for group in ranking.groups:
        print(f"Not told apart: {', '.join(group)}.")


def _number(value: float, percent: bool, *, sign: str = "") -> str:
    if math.isnan(value):
        return ""
    return f"{100 * value:{sign}.1f} %" if percent else f"{value:{sign}.4g}"


def _span(low: str, high: str) -> str:
    return f"{low} to {high}" if low else ""
