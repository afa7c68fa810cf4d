"""Rows of results and models as records, and records as rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from mucore.runs import settings
from mucore.store.records import Measured, Model, Result
from mucore.store.schema import from_json, to_json

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

AXES = ("training", "unlearning", "evaluation")  # of seeds
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


def row_of(result: Result) -> dict[str, Any]:
    spec, cost = result.spec, result.cost
    metrics = {name: _checked(measured) for name, measured in result.metrics.items()}
    each, why = metrics.values(), {k: m.error for k, m in metrics.items() if m.error is not None}
    row = {name: getattr(result, name) for name in _COLUMNS}
    return row | {
        **{name: spec.get(name, "") for name in ("dataset", "model", "method", "method_preset")},
        **{f"{axis}_seed": spec.get(f"{axis}_seed", 0) for axis in AXES},
        "scenario": spec.get("scenario"),
        "seconds": None if cost.get("seconds") is None else float(cost["seconds"]),
        "steps": None if cost.get("steps") is None else int(cost["steps"]),
        **setting_columns(spec),
        "metric_names": to_json(list(metrics)),
        "metric_numbers": to_json([[m.value for m in each], [m.gap for m in each], why]),
        "record": to_json({name: getattr(result, name) for name in _RECORD}),
    }


def metrics_of(row: Any, wanted: Collection[str] | None) -> dict[str, Measured]:
    """Those that are wanted, None being all."""
    if wanted is not None and not wanted:
        return {}
    values, gaps, errors = from_json(row.metric_numbers)
    return {
        name: Measured(value, error=errors.get(name), gap=gap)
        for name, value, gap in zip(from_json(row.metric_names), values, gaps, strict=True)
        if wanted is None or name in wanted
    }


def result_of(row: Any, metrics: Mapping[str, Measured]) -> Result:
    """Raises `StoreError` for a damaged row."""
    # A row of another version may know fewer fields, or more.
    record = {name: value for name, value in from_json(row.record).items() if name in _RECORD}
    if record.get("started"):
        record["started"] = datetime.fromisoformat(record["started"])
    fields = {name: getattr(row, name) for name in _COLUMNS}
    return Result(metrics=metrics, **fields, **_tuples(record, "losses", "notes", "flags"))


def model_of(row: Any) -> Model:
    """Raises `StoreError` for a damaged row."""
    record = {name: value for name, value in row.record.items() if name in MODEL_RECORD}
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
    gap = None if gap is None or math.isnan(gap) else float(gap)
    if value is not None and math.isnan(value):
        return Measured(None, error=measured.error or NOT_A_NUMBER)
    return Measured(None if value is None else float(value), error=measured.error, gap=gap)


def _tuples(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: tuple(value) if name in names else value for name, value in record.items()}
