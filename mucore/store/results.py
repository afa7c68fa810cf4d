"""Results and models: frozen records in, frozen records and frames out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
import sqlalchemy as sa

from mucore.store import schema
from mucore.store.claims import Claims
from mucore.store.records import Model, Result
from mucore.store.result_rows import MODEL_RECORD, metrics_of, model_of, result_of, row_of
from mucore.store.schema import from_json
from mucore.store.transient_errors import patient

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


class Filters(TypedDict, total=False):
    """Which results: None means all; a sequence means any of these. `comparison` is an id."""

    keys: Collection[str] | None
    dataset: str | Sequence[str] | None
    model: str | Sequence[str] | None
    scenario: str | Sequence[str] | None
    method: str | Sequence[str] | None
    comparison: int | None


class Results(Claims):
    """The part of the store that holds results and models."""

    def put_result(self, result: Result) -> None:
        """Store a result; one of the same key is replaced. A metric that is NaN is stored as
        missing, with a sentence. Raises `LostJob` inside `working_on` a job of somebody else.
        """
        self.put_results([result])

    @patient
    def put_results(self, results: Collection[Result]) -> None:
        """Many results in one transaction."""
        rows = [row_of(result) for result in results]
        if not rows:
            return
        with self.write("results") as connection:
            self.check_claim(connection)
            self._replace(connection, schema.result.c.key, rows)

    def get_result(self, key: str) -> Result | None:
        found = self.results(keys=[key])
        return found[0] if found else None

    def known(self, keys: Collection[str]) -> set[str]:
        """Those of `keys` that have a result."""
        return self._keys(self.among(schema.result.c.key, keys))

    def count_results(self) -> int:
        return len(self._keys(sa.true()))

    def with_outputs(self) -> set[str]:
        """The keys of the results whose predictions were kept; retention may have removed the files
        since.
        """
        return self._keys(schema.result.c.outputs.is_not(None))

    @patient
    def _keys(self, condition: sa.ColumnElement[bool]) -> set[str]:
        with self.read() as connection:
            found = connection.execute(sa.select(schema.result.c.key).where(condition))
            return set(found.scalars())

    @patient
    def results(
        self, *, metrics: bool | Collection[str] = True, **filters: Unpack[Filters]
    ) -> list[Result]:
        """Whole records, in the order in which they were finished. With some `metrics` alone, or
        none, the others are left out, which is faster.
        """
        wanted = None if metrics is True else frozenset(metrics or ())
        rows = self._select(list(schema.result.c), filters)
        return [self.shown(result_of(row, metrics_of(row, wanted))) for row in rows]

    def recent_results(
        self,
        *,
        dataset: str | None = None,
        model: str | None = None,
        method: Sequence[str] | None = None,
        each: int,
    ) -> list[Result]:
        """The newest `each` of every data set, model, method and recipe, trainings of originals
        apart, without metrics; oldest first.
        """
        table = schema.result
        alike = [table.c[name] for name in ("dataset", "model", "method", "recipe")]
        place = sa.func.row_number().over(
            partition_by=[*alike, table.c.scenario.is_(None)],
            order_by=[table.c.finished.desc(), table.c.key.desc()],
        )
        filters: Filters = {"dataset": dataset, "model": model, "method": method}
        rows = self._select([table.c.key, place], filters)
        return self.results(metrics=False, keys=[key for key, place in rows if place <= each])

    def summaries(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """One row a result without its metrics; columns and types as in `SUMMARY`. `seconds` and
        `steps` are the method's own cost.
        """
        table = schema.result
        # most records have no hashes, and a look for that takes a tenth of the time of parsing them
        none = table.c.record.contains('"original_hash":"","pretrained_hash":""') & sa.not_(
            table.c.dataset.contains(":")
        )
        spec = sa.case((none, None), else_=table.c.record)
        columns = [table.c[name] for name in SUMMARY if name != "hashes"]
        return summaries_of(self._select([*columns, spec.label("hashes")], filters))

    def metric_values(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """One row a result and metric: key, metric, value, gap (both float, NaN where missing),
        error (str, NaN where there is none).
        """
        columns = schema.result.c
        return metric_values_of(
            self._select([columns.key, columns.metric_names, columns.metric_numbers], filters)
        )

    @patient
    def put_model(self, model: Model) -> None:
        """Store a model's row; one of the same key is replaced. Write its weights first. Raises
        `LostJob` as `put_result` does.
        """
        row = {"model_key": model.model_key, "weights": model.weights, "created": model.created}
        row["record"] = {name: getattr(model, name) for name in MODEL_RECORD}
        with self.write("results") as connection:
            self.check_claim(connection)
            self._replace(connection, schema.model.c.model_key, [row])

    @patient
    def get_model(self, model_key: str) -> Model | None:
        with self.read() as connection:
            row = connection.execute(
                sa.select(schema.model).where(schema.model.c.model_key == model_key)
            ).one_or_none()
        return None if row is None else self.shown(model_of(row))

    @patient
    def stored_models(self, model_keys: Collection[str]) -> set[str]:
        """Those of `model_keys` whose weights are stored."""
        table = schema.model
        query = sa.select(table.c.model_key).where(
            table.c.weights.is_not(None), self.among(table.c.model_key, model_keys)
        )
        with self.read() as connection:
            return set(connection.execute(query).scalars())

    def _select(self, columns: Sequence[Any], filters: Filters) -> Sequence[Any]:
        table = schema.result
        query = sa.select(*columns).order_by(table.c.finished, table.c.key)
        if (keys := filters.get("keys")) is not None:
            query = query.where(self.among(table.c.key, keys))
        for name in ("dataset", "model", "scenario", "method"):
            if (wanted := filters.get(name)) is not None:
                names = [wanted] if isinstance(wanted, str) else list(wanted)
                query = query.where(table.c[name].in_(names))
        if (comparison := filters.get("comparison")) is not None:
            run = schema.comparison_run
            mine = sa.select(run.c.key).where(run.c.comparison == comparison)
            query = query.where(table.c.key.in_(mine))
        with self.read() as connection:
            return connection.execute(query).all()


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
