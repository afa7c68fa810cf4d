"""A results table of a few runs whose gaps to Retrain are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pandas as pd

from dashboard import frames
from mucore.verdicts import Check, Verdict, Word
from mucore.verdicts.rules import Chance

# FA and TA of Retrain are 0.5 and 0.9; (FA gap, TA gap) of the methods
GAPS = {
    "finetune": (0.40, 0.01),
    "scrub": (0.04, -0.02),
    "ssd": (-0.02, -0.30),
    "salun": (0.06, -0.03),
}


def line(method: str, seed: int = 0, status: str = "ok") -> dict:
    return {
        "key": f"{method}-{seed}",
        "method": method,
        "method_preset": "authors",
        "parameters": "{}",
        "training_seed": seed,
        "unlearning_seed": 0,
        "evaluation_seed": 0,
        "status": status,
    }


def table() -> frames.ResultsTable:
    lines = [
        line("original"),
        line("retrain"),
        *(line(method) for method in GAPS),
        line("bad_teacher", status="diverged"),
    ]
    values: list[tuple] = [
        ("original-0", "fa", 1.0, None, None),
        ("original-0", "ta", 0.91, None, None),
    ]
    values += [("retrain-0", "fa", 0.5, None, None), ("retrain-0", "ta", 0.9, None, None)]
    for method, (fa, ta) in GAPS.items():
        values += [
            (f"{method}-0", "fa", 0.5 + fa, fa, None),
            (f"{method}-0", "ta", 0.9 + ta, ta, None),
        ]
    values += [("bad_teacher-0", "fa", None, None, "No <forget> set & no value.")]
    return frames.results_table(
        pd.DataFrame(lines),
        pd.DataFrame(values, columns=["key", "metric", "value", "gap", "error"]),
        view="gap",
    )


def with_verdicts(table: frames.ResultsTable, words: Mapping[str, Word]) -> frames.ResultsTable:
    """The same table, judged: `words` by method, an indication for SCRUB."""

    def judged(row: frames.Row) -> frames.Row:
        if row.method not in words:
            return row
        check = Check(
            metric="fa",
            value=0.9,
            original=1.0,
            retrain=0.5,
            margin=0.03,
            gap=Chance(0.04, 0.05),
            way=Chance(0.01, 0.01),
            moved=Chance(0.01, 0.01),
        )
        verdict = Verdict(
            word=words[row.method],
            metric="fa",
            sentence='Said of "it" & others.',
            shown=row.method != "scrub",
            checks=(check,),
            retrains=3,
        )
        return replace(row, verdict=verdict)

    return replace(table, rows=tuple(judged(row) for row in table.rows))
