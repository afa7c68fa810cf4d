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
    return {"intervals": found.intervals, "pairs": found.pairs, "agreement": found.agreement}[table]


def print_statistics(found: Statistics) -> None:
    """Everything as tables on stdout; notes on stderr."""
    card = catalog.metric(found.metric)
    percent = card.unit == "fraction"
    print(
        f"{card.title} ({found.metric}){', percent' if percent else ''}. Intervals over "
        f"{found.axis}."
    )
    gaps = bool(found.intervals["gap_mean"].notna().any())
    heads = (
        "setting",
        "method",
        "seeds",
        "mean",
        "std",
        "95 % interval",
        *(("gap", "95 % interval of the gap") if gaps else ()),
    )
    rows = []
    for row in found.intervals.to_dict("records"):
        cells = [
            row["setting"],
            row["method"],
            row["seeds"],
            _number(row["mean"], percent),
            _number(row["std"], percent),
        ]
        cells.append(_span(row["low"], row["high"], percent))
        if gaps:
            cells += [
                _number(row["gap_mean"], percent, sign="+"),
                _span(row["gap_low"], row["gap_high"], percent, sign="+"),
            ]
        rows.append(cells)
    print_table(heads, rows)
    if found.ranking is not None:
        print(f"\nAverage ranks over {found.ranking.blocks} settings ({found.score}).")
        _print_ranking(found.ranking)
    if len(found.pairs):
        print(
            "\n"
            f"Wilcoxon's signed-rank test with Holm's correction over {len(found.blocks)} blocks "
            f"of setting and seed ({found.score})."
        )
        pairs = found.pairs.sort_values("p_holm", kind="stable").to_dict("records")
        print_table(
            ("first", "second", "median difference", "p", "p corrected"),
            [
                (
                    p["first"],
                    p["second"],
                    _number(p["difference"], percent, sign="+"),
                    f"{p['p']:.3g}",
                    f"{p['p_holm']:.3g}",
                )
                for p in pairs
            ],
        )
    if len(found.tau):
        settings = found.agreement["setting"].nunique()
        print(
            "\n"
            "Do metrics rank the methods alike? Kendall's τ, 1 alike, 0 unrelated, −1 reversed; "
            f"mean of {_settings(settings)}."
        )
        shorts = [catalog.metric(name).short for name in found.tau]
        print_table(
            ("", *shorts),
            [
                (short, *(_tau(v) for v in row))
                for short, row in zip(shorts, found.tau.to_numpy(), strict=True)
            ],
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


def _settings(number: int) -> str:
    return "one setting" if number == 1 else f"{number} settings"


def _number(value: float, percent: bool, *, sign: str = "") -> str:
    if math.isnan(value):
        return ""
    return f"{100 * value:{sign}.1f}" if percent else f"{value:{sign}.4g}"


def _span(low: float, high: float, percent: bool, *, sign: str = "") -> str:
    return (
        ""
        if math.isnan(low)
        else f"{_number(low, percent, sign=sign)} to {_number(high, percent, sign=sign)}"
    )


def _tau(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2f}"
