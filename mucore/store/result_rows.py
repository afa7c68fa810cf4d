"""Rows of results and models as records, and records as rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import sqlalchemy as sa

from mucore.errors import StoreError
from mucore.spec import settings
from mucore.store import schema
from mucore.store.rows import Measured, Model, Result
from mucore.store.schema import check_spec, check_times, from_json, to_json, whole_row

# Fields of `Result` with a column of the same name and value; the others but `metrics` lie in
# `record`.
_COLUMNS = (
    "key",
    "model_key",
    "status",
    "device",
    "precision",
    "forget_count",
    "forget_hash",
    "demo",
    "finished",
    "outputs",
    "weights",
)
_RECORD = tuple(f.name for f in dataclasses.fields(Result) if f.name not in (*_COLUMNS, "metrics"))
MODEL_RECORD = tuple(
    f.name for f in dataclasses.fields(Model) if f.name not in ("model_key", "weights", "created")
)

NOT_A_NUMBER = "The computation gave no number (NaN)."


def setting_columns(spec: Mapping[str, Any]) -> dict[str, str]:
    """What a run forgets and how, as the JSON texts of `summaries`: scenario parameters, effective
    parameters, recipe.
    """
    return {
        "scenario_parameters": to_json(
            {**spec.get("scenario_parameters", {}), **_earlier(spec)}, canonical=True
        ),
        "parameters": parameters_column(spec),
        "recipe": to_json(spec.get("recipe", {}), canonical=True),
    }


def parameters_column(spec: Mapping[str, Any]) -> str:
    """The effective parameters alone, as `setting_columns` has them."""
    return to_json(settings(spec), canonical=True)


def _earlier(spec: Mapping[str, Any]) -> dict[str, list[str]]:
    """The earlier requests of a sequence as one more setting of the scenario, so that its runs are
    not taken for single requests.
    """
    requests: list[str] = []
    while (before := spec.get("after")) is not None:
        values = " ".join(
            f"{name}={to_json(value)}"
            for name, value in sorted(before["scenario_parameters"].items())
        )
        requests.insert(0, f"{before['scenario']} {values}".strip())
        spec = before
    return {"after": requests} if requests else {}


def record_of(text: str) -> dict[str, Any]:
    """What is stored of a result beside its columns, with nothing in it where that is damaged."""
    try:
        content = from_json(text)
        check_spec(content["spec"])
    except (StoreError, TypeError, LookupError):
        return {"spec": {}}
    return content


def key_of(row: Any) -> str:
    return row.key


def row_of(result: Result) -> dict[str, Any]:
    spec, cost = result.spec, result.cost
    metrics = {name: _checked(measured) for name, measured in result.metrics.items()}
    row = {name: getattr(result, name) for name in _COLUMNS}
    return row | {
        "dataset": spec.get("dataset", ""),
        "model": spec.get("model", ""),
        "scenario": spec.get("scenario"),
        "method": spec.get("method", ""),
        "method_preset": spec.get("method_preset", ""),
        "training_seed": spec.get("training_seed", 0),
        "unlearning_seed": spec.get("unlearning_seed", 0),
        "evaluation_seed": spec.get("evaluation_seed", 0),
        "seconds": None if cost.get("seconds") is None else float(cost["seconds"]),
        "steps": None if cost.get("steps") is None else int(cost["steps"]),
        **setting_columns(spec),
        "metric_names": to_json(list(metrics)),
        "metric_numbers": to_json(
            [
                [measured.value for measured in metrics.values()],
                [measured.gap for measured in metrics.values()],
                {
                    name: measured.error
                    for name, measured in metrics.items()
                    if measured.error is not None
                },
            ]
        ),
        "record": to_json({name: getattr(result, name) for name in _RECORD}),
    }


def brief_record() -> Any:
    """The column `record` with what verdicts ask of a run; whole for a Retrain, whose counts they
    need.
    """
    columns = schema.result.c
    kept = chain.from_iterable(
        (name, sa.func.json_extract(columns.record, f"$.{name}"))
        for name in ("spec", "notes", "flags")
    )
    brief = sa.func.json_object(
        *kept, "stop_reason", None, "cost", sa.func.json("{}"), type_=sa.Text
    )
    # what cannot be read is named where it is read whole
    whole = (columns.method == "retrain") | (sa.func.json_valid(columns.record) == 0)
    return sa.case((whole, columns.record), else_=brief).label("record")


def metrics_of(row: Any, places: Sequence[tuple[int, str]]) -> dict[str, Measured]:
    with whole_row():
        values, gaps, errors = from_json(row.metric_numbers)
        return {
            name: Measured(values[place], error=errors.get(name), gap=gaps[place])
            for place, name in places
        }


def result_of(row: Any, metrics: Mapping[str, Measured]) -> Result:
    # A row of another version may know fewer fields, or more.
    with whole_row():
        record = {name: value for name, value in from_json(row.record).items() if name in _RECORD}
        if record.get("started"):
            record["started"] = datetime.fromisoformat(record["started"])
        check_spec(record["spec"])
        check_times(row.finished)
        fields = {name: getattr(row, name) for name in _COLUMNS} | _tuples(
            record, "losses", "notes", "flags"
        )
        return Result(metrics=metrics, **fields)


def model_of(row: Any) -> Model:
    """Raises `StoreError` for a damaged row."""
    with whole_row():
        check_times(row.created)
        record = {
            name: value for name, value in from_json(row.record).items() if name in MODEL_RECORD
        }
        return Model(
            model_key=row.model_key,
            weights=row.weights,
            created=row.created,
            **_tuples(record, "losses", "notes"),
        )


def _checked(measured: Measured) -> Measured:
    """Python floats, and no NaN: neither database keeps it apart from a missing value in the same
    way.
    """
    value, gap = measured.value, measured.gap
    if type(value) is float and value == value:  # as all but a few of a hundred thousand
        if gap is None or (type(gap) is float and gap == gap):
            return measured
    gap = None if gap is None or math.isnan(gap) else float(gap)
    if value is not None and math.isnan(value):
        return Measured(None, error=measured.error or NOT_A_NUMBER)
    return Measured(None if value is None else float(value), error=measured.error, gap=gap)


def _tuples(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: tuple(value) if name in names else value for name, value in record.items()}
