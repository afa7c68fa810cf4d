"""What the runs cost, and what the numbers of a report mean."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from dashboard.report.blocks import Block, Table, Text
from dashboard.report.selection import Setting
from dashboard.report.statistics import AGREEMENT, JUDGED
from dashboard.report.verdicts import verdict_cells
from dashboard.text import units
from dashboard.text.labels import MISSING, number
from mucore import catalog

COSTS = {
    "unlearning_seconds": "Seconds",
    "rte": "RTE",
    "rte_work": "RTE, work",
    "optimizer_steps": "Steps",
    "samples_read": "Samples read",
    "persistent_bytes": "Kept",
    "scratch_bytes": "Aside",
    "peak_memory_bytes": "Peak memory",
}


def cost_blocks(found: Sequence[Setting], values: pd.DataFrame) -> tuple[Block, ...]:
    """Mean costs of every method in every setting, without the original."""
    costs = values[values["metric"].isin(list(COSTS))].pivot(
        index="key", columns="metric", values="value"
    )
    lines = []
    for setting in found:
        for row in setting.values.rows:
            if row.method == "original":
                continue
            means = costs.reindex(index=list(row.keys), columns=list(COSTS)).mean()
            said = {"Setting": setting.label, "Method": row.title, **verdict_cells(row)}
            lines.append(said | {head: _cost(name, means[name]) for name, head in COSTS.items()})
    if not lines:
        return (Text("No cost was stored with these runs."),)
    devices = sorted(
        {
            str(result.device)
            for setting in found
            for result in setting.results.values()
            if result.device
        }
    )
    caption = (
        "Means over runs; RTE is a share of Retrain's time, or of its work. Kept: from training "
        "on for later requests; aside: at most while unlearning. Device: "
        f"{', '.join(devices) or MISSING}."
    )
    return (Table(caption, pd.DataFrame(lines), by="Setting"),)


def _cost(name: str, value: float) -> str:
    if not math.isfinite(value):
        return MISSING
    if name.endswith("_bytes"):
        return units.size(value)
    return number(value, "count" if name in ("optimizer_steps", "samples_read") else "ratio")


def meanings(found: Sequence[Setting], values: pd.DataFrame) -> Table:
    """What every metric of the report means, whether high or low is good, its source and its
    caveat.
    """
    present = set(values.loc[values["value"].notna(), "metric"])
    shown = [column.id for setting in found for column in setting.values.columns]
    used = [
        name for name in dict.fromkeys([*shown, *JUDGED, *AGREEMENT, *COSTS]) if name in present
    ]
    good = {"retrain": "near Retrain's", "high": "high", "low": "low", "none": MISSING}
    lines = []
    for name in used:
        card = catalog.metric(name)
        lines.append(
            {
                "Metric": f"{card.title} ({card.short})",
                "Meaning": card.meaning,
                "Good": good[card.ideal],
                "Source": card.source,
                "Beware": card.caveat,
            }
        )
    return Table(
        "Metrics in this report.",
        pd.DataFrame(lines, columns=["Metric", "Meaning", "Good", "Source", "Beware"]),
    )
