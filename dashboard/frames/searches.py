"""What searches of settings came to, as a table. Plain functions of records
(`mucore/tuning/report.py`), no Streamlit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dashboard.text import labels
from mucore import catalog

MEANING = (
    "How much of the verdict's margin a setting uses up, by the number that uses most, on average "
    "over three seeds of validation data: at most 1 is inside."
)


def table(records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A row a study that has trials: the authors' and the best score, work as a share of Retrain's,
    the setting; dashes where there is no candidate.
    """
    return pd.DataFrame(
        [
            {
                "Method": labels.method_names(each["method"])[0],
                "Scenario": _task(each),
                "Settings": each["settings"],
                "Authors'": _shown(each["authors"]),
                "Best": _shown(each["score"]),
                "Work": _shown(each["work"]),
                "Setting": labels.settings_text(each["values"]) if each["values"] else "",
            }
            for each in records
        ]
    )


def cautions(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """What to beware of, a sentence a study at most."""
    return [said for each in records if (said := _caution(each))]


def _caution(record: Mapping[str, Any]) -> str:
    who = labels.method_names(record["method"])[0]
    where = f"“{_task(record)}”"
    if not record["finished"]:
        return f"{who} under {where} is not searched to the end."
    if record["score"] is None:
        return (
            f"{who} under {where} has no setting that may be chosen. Of {record['settings']}, "
            f"{record['why_none']}."
        )
    if record["nothing"] is not None and record["score"] > record["nothing"]:
        return (
            f"The best setting of {who} under {where} lies further from Retrain "
            f"({record['score']:.3g}) than doing nothing does ({record['nothing']:.3g})."
        )
    if record["edges"]:
        return (
            f"The best setting of {who} under {where} lies at the edge of what is searched "
            f"({'; '.join(record['edges'])}); a better one may lie beyond."
        )
    return ""


def _task(record: Mapping[str, Any]) -> str:
    """The scenario, and what tells this task from the usual one: "Part of one class (class 3)"."""
    title = catalog.scenario(record["scenario"]).title
    if not record["changed"]:
        return title
    return f"{title} ({labels.forget_set_text(record['changed'], record['dataset'])})"


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"
