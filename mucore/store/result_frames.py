"""Rows of many results as data frames, without a record for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from mucore.store.schema import from_json

if TYPE_CHECKING:
    import pandas as pd

# Columns of `summaries`, with the pandas type of each.
SUMMARY: dict[str, str] = {
    "key": "str",
    "model_key": "str",
    "dataset": "str",
    "model": "str",
    "scenario": "str",
    "scenario_parameters": "str",
    "method": "str",
    "method_preset": "str",
    "parameters": "str",
    "training_seed": "int64",
    "unlearning_seed": "int64",
    "evaluation_seed": "int64",
    "status": "str",
    "seconds": "float64",
    "steps": "Int64",
    "device": "str",
    "precision": "str",
    "forget_count": "int64",
    "forget_hash": "str",
    "demo": "bool",
    "finished": "datetime64[us, UTC]",
    "recipe": "str",
    # "data=3f2a… original=9c1b… pretrained=…": hashes of the user's own data and files of weights,
    # as far as there are any
    "hashes": "str",
}


def summaries_of(rows: Sequence[Any]) -> pd.DataFrame:
    """The columns of `SUMMARY`; `hashes` are read off the record of a row, where there is one."""
    import pandas as pd

    columns = list(zip(*rows, strict=True)) or [()] * len(SUMMARY)
    found: dict[str, Iterable[Any]] = dict(zip(SUMMARY, columns, strict=True))
    found["hashes"] = ["" if record is None else _hashes(record) for record in found["hashes"]]
    frame = pd.DataFrame(found, dtype="object")
    frame["finished"] = pd.to_datetime(frame["finished"], utc=True)
    return frame.astype(SUMMARY)


def _hashes(record: str) -> str:
    spec = from_json(record)["spec"]
    names = ("data", "original", "pretrained")
    return " ".join(f"{name}={found}" for name in names if (found := spec.get(f"{name}_hash")))


def metric_values_of(rows: Sequence[Any]) -> pd.DataFrame:
    """One row a result and metric, from keys, names of metrics and their numbers."""
    import pandas as pd

    of_text = {text: from_json(text) for text in {row[1] for row in rows}}
    names = [of_text[row[1]] for row in rows]
    numbers = [from_json(row[2]) for row in rows]
    errors = [
        errors.get(name) if errors else None
        for each, (_, _, errors) in zip(names, numbers, strict=True)
        for name in each
    ]
    keys = [row[0] for row in rows]
    return pd.DataFrame(
        {
            "key": pd.array(np.repeat(np.array(keys, "object"), list(map(len, names))), "str"),
            "metric": pd.array(list(chain.from_iterable(names)), "str"),
            "value": np.array(list(chain.from_iterable(each[0] for each in numbers)), float),
            "gap": np.array(list(chain.from_iterable(each[1] for each in numbers)), float),
            "error": pd.array(errors, "str"),
        }
    )
