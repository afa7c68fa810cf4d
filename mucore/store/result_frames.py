"""Rows of many results as data frames, without a record for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from mucore.spec import with_version
from mucore.store.schema import check_times, from_json, to_json, whole_row

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
    """Of each row the columns of `SUMMARY`, and behind them the hash of the user's own method
    file. Raises `StoreError` for a damaged row.
    """
    import pandas as pd

    *found, files = list(zip(*rows, strict=True)) or [()] * (len(SUMMARY) + 1)
    columns: dict[str, Sequence[Any]] = dict(zip(SUMMARY, found, strict=True))
    with whole_row():
        for name, values in columns.items():
            if name in ("scenario_parameters", "parameters", "recipe"):  # few differ
                for text in set(values):
                    from_json(text)
            elif name == "finished":
                check_times(*values)
        if any(files):
            columns["parameters"] = _versioned(columns["parameters"], files)
        return pd.DataFrame({name: _series(columns[name], kind) for name, kind in SUMMARY.items()})


def _versioned(parameters: Sequence[str], files: Sequence[str]) -> list[str]:
    """The texts of effective parameters, as this version writes them: stores that are older than
    the versions of own method files lack these.
    """
    pairs = list(zip(parameters, files, strict=True))
    made = {
        (text, file): to_json(with_version(from_json(text), file), canonical=True) if file else text
        for text, file in set(pairs)
    }
    return [made[pair] for pair in pairs]


def metric_values_of(rows: Sequence[Any]) -> pd.DataFrame:
    """Raises `StoreError` for a damaged row."""
    import pandas as pd

    with whole_row():
        every_name = {text: from_json(text) for text in {row[1] for row in rows}}
        names = [every_name[row[1]] for row in rows]
        numbers = from_json(f"[{','.join(row[2] for row in rows)}]")
        counts = np.array([len(each) for each in names], dtype=np.int64)
        known = sorted(set(chain.from_iterable(every_name.values())))
        code = {name: number for number, name in enumerate(known)}
        codes = {
            text: np.array([code[name] for name in each], dtype=np.int64)
            for text, each in every_name.items()
        }
        size = int(counts.sum())
        return pd.DataFrame(
            {
                "key": _repeated([row[0] for row in rows], np.repeat(np.arange(len(rows)), counts)),
                "metric": _repeated(
                    known,
                    np.concatenate([codes[row[1]] for row in rows])
                    if rows
                    else np.empty(0, np.int64),
                ),
                "value": np.fromiter(
                    chain.from_iterable(_floats(each[0]) for each in numbers), np.float64, size
                ),
                "gap": np.fromiter(
                    chain.from_iterable(_floats(each[1]) for each in numbers), np.float64, size
                ),
                "error": _errors(names, [each[2] for each in numbers], size),
            }
        )


def _floats(values: list[float | None]) -> list[float]:
    """Replaces None; the common list without any is passed on untouched, which halves the time of a
    large frame.
    """
    return [math.nan if value is None else value for value in values] if None in values else values  # ty: ignore[invalid-explicit-return]


def _series(values: Sequence[Any], kind: str) -> Any:
    import pandas as pd

    if kind == "str":
        return _strings(values)
    if kind.startswith("datetime"):
        return pd.to_datetime(pd.Series(list(values), dtype="object"), utc=True).astype(kind)
    return (
        pd.array(list(values), dtype=kind)
        if kind == "Int64"
        else np.array([np.nan if v is None else v for v in values], dtype=kind)
    )


def _strings(values: Any) -> pd.api.extensions.ExtensionArray:
    """A pandas string array from Python strings or an arrow array, without a detour over
    objects.
    """
    import pandas as pd
    import pyarrow as pa

    array = values if isinstance(values, pa.Array) else pa.array(values, pa.large_string())
    return pd.array(array, dtype="str")


def _repeated(values: Sequence[str], positions: np.ndarray) -> pd.api.extensions.ExtensionArray:
    import pyarrow as pa

    return _strings(pa.array(values, pa.large_string()).take(pa.array(positions)))


def _errors(
    names: list[list[str]], errors: list[dict[str, str]], size: int
) -> pd.api.extensions.ExtensionArray:
    texts: list[str | None] = [None] * size
    start = 0
    for each, found in zip(names, errors, strict=True):
        for name, text in found.items():
            texts[start + each.index(name)] = text
        start += len(each)
    return _strings(texts)
