"""Results and models: frozen records in, frozen records and frames out."""

from __future__ import annotations

import dataclasses
import gc
import math
from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
import sqlalchemy as sa

from mucore.errors import StoreError
from mucore.spec import settings
from mucore.store import schema
from mucore.store.claims import Claims
from mucore.store.rows import Measured, Model, Remarks, Result
from mucore.store.schema import check_spec, check_times, from_json, to_json, whole_row
from mucore.store.trouble import patient

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
}

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
_MODEL_RECORD = tuple(
    f.name for f in dataclasses.fields(Model) if f.name not in ("model_key", "weights", "created")
)

# Parts of `record` in which `remarks` looks: hashes, then sentences.
_HASHES = ("data_hash", "original_hash", "pretrained_hash")
_SAID = ("notes", "flags")

NOT_A_NUMBER = "The computation gave no number (NaN)."


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

    @patient
    def put_result(self, result: Result) -> None:
        """Store a result; one of the same key is replaced. A metric that is NaN is stored as
        missing, with a sentence. Raises `LostJob` inside `working_on` a job of somebody else.
        """
        with self.write("results") as connection:
            self.check_claim(connection)
            connection.execute(sa.delete(schema.result).where(schema.result.c.key == result.key))
            connection.execute(sa.insert(schema.result).values(_to_row(result)))

    @patient
    def put_results(self, results: Iterable[Result]) -> None:
        """Many results in one transaction."""
        rows = [_to_row(result) for result in results]
        if not rows:
            return
        with self.write("results") as connection:
            connection.execute(
                sa.delete(schema.result).where(
                    self.among(schema.result.c.key, [row["key"] for row in rows])
                )
            )
            connection.execute(sa.insert(schema.result), rows)

    def get_result(self, key: str) -> Result | None:
        found = self.results(keys=[key])
        return found[0] if found else None

    @patient
    def known(self, keys: Collection[str]) -> set[str]:
        """Those of `keys` that have a result."""
        with self.read() as connection:
            return set(
                connection.execute(
                    sa.select(schema.result.c.key).where(self.among(schema.result.c.key, keys))
                ).scalars()
            )

    @patient
    def count_results(self) -> int:
        with self.read() as connection:
            return connection.execute(
                sa.select(sa.func.count()).select_from(schema.result)
            ).scalar_one()

    @patient
    def with_outputs(self) -> set[str]:
        """The keys of the results whose predictions were kept; retention may have removed the files
        since.
        """
        with self.read() as connection:
            return set(
                connection.execute(
                    sa.select(schema.result.c.key).where(schema.result.c.outputs.is_not(None))
                ).scalars()
            )

    @patient
    def results(
        self,
        *,
        metrics: bool | Collection[str] = True,
        brief: bool = False,
        **filters: Unpack[Filters],
    ) -> list[Result]:
        """Whole records, in the order in which they were finished. With some `metrics` alone, or
        none, the others are left out, which is much faster; so are, with `brief`, of all runs but
        Retrains most fields without a column, apart from spec, notes and flags.
        """
        wanted = None if metrics is True else frozenset(metrics or ())
        unread = ("metric_names", "metric_numbers") if wanted == frozenset() else ()
        columns = {column.name: column for column in schema.result.c if column.name not in unread}
        if brief and self.sqlite:  # which reads a part of a JSON text without Python
            columns["record"] = _brief_record()
        rows = self._select(list(columns.values()), filters)
        # few results differ in which metrics they have
        places: dict[str, list[tuple[int, str]]] = {}

        def made(row: Any) -> Result:
            if unread:
                return _from_row(row, {})
            if (text := row.metric_names) not in places:
                with whole_row():
                    names = list(enumerate(from_json(text)))
                places[text] = [one for one in names if wanted is None or one[1] in wanted]
            return _from_row(row, _metrics(row, places[text]))

        with nothing_collected():
            return self._whole("result", rows, made, _key)

    @patient
    def damaged_results(self) -> list[str]:
        """The keys of results that were left out, since their rows are damaged: of all that this
        object has read, and not made anew since.
        """
        named = self._left_out("result")
        if not named:
            return []
        read = [{one.key for one in self.results(keys=named)}]
        read += [set(frame(keys=named)["key"]) for frame in (self.summaries, self.metric_values)]
        still = self.known(named) - set.intersection(*read)
        self._is_whole("result", set(named) - still)
        return sorted(still)

    @patient
    def recent_results(
        self,
        *,
        dataset: str | None = None,
        model: str | None = None,
        method: Sequence[str] | None = None,
        each: int,
        before: datetime | None = None,
    ) -> list[Result]:
        """The newest `each` of every data set, model, method and recipe, trainings of originals
        apart, without metrics; oldest first.

        `before`: only what had ended by then.
        """
        table = schema.result
        alike = (
            table.c.dataset,
            table.c.model,
            table.c.method,
            table.c.scenario.is_(None),
            table.c.recipe,
        )
        place = (
            sa.func.row_number()
            .over(partition_by=alike, order_by=[table.c.finished.desc(), table.c.key])
            .label("place")
        )
        query = sa.select(table.c.key, place)
        for column, wanted in ((table.c.dataset, dataset), (table.c.model, model)):
            query = query if wanted is None else query.where(column == wanted)
        query = query if method is None else query.where(table.c.method.in_(list(method)))
        numbered = (query if before is None else query.where(table.c.finished < before)).subquery()
        with self.read() as connection:
            keys = (
                connection.execute(sa.select(numbered.c.key).where(numbered.c.place <= each))
                .scalars()
                .all()
            )
        return self.results(metrics=False, keys=list(keys))

    def delete_result(self, key: str) -> None:
        """Forget a result. Its files go at the next `gc`; comparisons keep the key and show it as
        not run.
        """
        with self.write("results") as connection:
            connection.execute(sa.delete(schema.result).where(schema.result.c.key == key))

    def summaries(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """One row a result without its metrics; columns and types as in `SUMMARY`. `seconds` and
        `steps` are the method's own cost.
        """
        rows = self._select([schema.result.c[name] for name in SUMMARY], filters)
        return self._framed(rows, _summaries)

    def metric_values(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """One row a result and metric: key, metric, value, gap (both float, NaN where missing),
        error (str, NaN where there is none).
        """
        columns = schema.result.c
        rows = self._select([columns.key, columns.metric_names, columns.metric_numbers], filters)
        return self._framed(rows, _metric_values)

    def _framed(
        self, rows: Sequence[Any], frame: Callable[[Sequence[Any]], pd.DataFrame]
    ) -> pd.DataFrame:
        """The frame of all rows, damaged ones left out; they are looked for only where there are
        any.
        """
        try:
            return frame(rows)
        except StoreError:

            def tried(row: Any) -> Any:
                frame([row])
                return row

            return frame(self._whole("result", rows, tried, _key))

    @patient
    def remarks(self, **filters: Unpack[Filters]) -> dict[str, Remarks]:
        """By key, in the order of `summaries`; none of a result whose record is damaged."""
        record = schema.result.c.record
        parts = [f"$.spec.{name}" for name in _HASHES] + [f"$.{name}" for name in _SAID]
        if not self.sqlite:  # which reads a part of a JSON text without Python
            found = {}
            for key, text in self._select([schema.result.c.key, record], filters):
                content = _record(text)
                with whole_row():
                    data, original, pretrained = (content["spec"].get(name) for name in _HASHES)
                    found[key] = Remarks(
                        (data or "", original or "", pretrained or ""),
                        *(tuple(content.get(name) or ()) for name in _SAID),
                    )
            return found
        whole = sa.case((sa.func.json_valid(record) == 1, record), else_="{}")
        columns = [sa.func.json_extract(whole, part) for part in parts]
        rows = self._select([schema.result.c.key, *columns], filters)
        with whole_row():
            notes, flags = (
                from_json(f"[{','.join(row[column] or '[]' for row in rows)}]") for column in (4, 5)
            )
            return {
                row[0]: Remarks(
                    (row[1] or "", row[2] or "", row[3] or ""), tuple(noted), tuple(flagged)
                )
                for row, noted, flagged in zip(rows, notes, flags, strict=True)
            }

    @patient
    def put_model(self, model: Model) -> None:
        """Store a model's row; one of the same key is replaced. Write its weights first. Raises
        `LostJob` as `put_result` does.
        """
        row = {"model_key": model.model_key, "weights": model.weights, "created": model.created}
        row["record"] = to_json({name: getattr(model, name) for name in _MODEL_RECORD})
        with self.write("results") as connection:
            self.check_claim(connection)
            connection.execute(
                sa.delete(schema.model).where(schema.model.c.model_key == model.model_key)
            )
            connection.execute(sa.insert(schema.model).values(row))

    @patient
    def get_model(self, model_key: str) -> Model | None:
        """None also where its row is damaged: it is trained anew then."""
        with self.read() as connection:
            row = connection.execute(
                sa.select(schema.model).where(schema.model.c.model_key == model_key)
            ).one_or_none()
        rows = [] if row is None else [row]
        return next(iter(self._whole("model", rows, _model, lambda row: row.model_key)), None)

    @patient
    def stored_models(
        self, model_keys: Collection[str], *, before: datetime | None = None
    ) -> set[str]:
        """Those of `model_keys` whose weights are stored, or were made before a time and still
        are.
        """
        table = schema.model
        query = sa.select(table.c.model_key).where(
            table.c.weights.is_not(None), self.among(table.c.model_key, model_keys)
        )
        query = query if before is None else query.where(table.c.created < before)
        with self.read() as connection:
            return set(connection.execute(query).scalars())

    def _select(self, columns: Sequence[Any], filters: Filters) -> Sequence[Any]:
        table = schema.result
        query = sa.select(*columns).order_by(table.c.finished, table.c.key)
        if (keys := filters.get("keys")) is not None:
            query = query.where(self.among(table.c.key, keys))
        for name in ("dataset", "model", "scenario", "method"):
            if (wanted := filters.get(name)) is not None:
                query = query.where(
                    table.c[name] == wanted
                    if isinstance(wanted, str)
                    else table.c[name].in_(list(wanted))
                )
        if (comparison := filters.get("comparison")) is not None:
            run = schema.comparison_run
            query = query.where(
                table.c.key.in_(sa.select(run.c.key).where(run.c.comparison == comparison))
            )
        with self.read() as connection:
            return connection.execute(query).all()


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


def _record(text: str) -> dict[str, Any]:
    """What is stored of a result beside its columns, with nothing in it where that is damaged."""
    try:
        content = from_json(text)
        check_spec(content["spec"])
    except (StoreError, TypeError, LookupError):
        return {"spec": {}}
    return content


def _key(row: Any) -> str:
    return row.key


def _summaries(rows: Sequence[Any]) -> pd.DataFrame:
    """Raises `StoreError` for a damaged row."""
    import pandas as pd

    columns = list(zip(*rows, strict=True)) or [()] * len(SUMMARY)
    with whole_row():
        for name, values in zip(SUMMARY, columns, strict=True):
            if name in ("scenario_parameters", "parameters", "recipe"):  # few differ
                for text in set(values):
                    from_json(text)
            elif name == "finished":
                check_times(*values)
        return pd.DataFrame(
            {
                name: _series(values, kind)
                for (name, kind), values in zip(SUMMARY.items(), columns, strict=True)
            }
        )


def _metric_values(rows: Sequence[Any]) -> pd.DataFrame:
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


def _to_row(result: Result) -> dict[str, Any]:
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


def _brief_record() -> Any:
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


@contextmanager
def nothing_collected() -> Generator[None, None, None]:
    """Python looks through all objects for circles while many are made; records have none, and the
    search takes a third of the time of reading ten thousand.
    """
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()


def _metrics(row: Any, places: Sequence[tuple[int, str]]) -> dict[str, Measured]:
    with whole_row():
        values, gaps, errors = from_json(row.metric_numbers)
        return {
            name: Measured(values[place], error=errors.get(name), gap=gaps[place])
            for place, name in places
        }


def _from_row(row: Any, metrics: Mapping[str, Measured]) -> Result:
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


def _model(row: Any) -> Model:
    """Raises `StoreError` for a damaged row."""
    with whole_row():
        check_times(row.created)
        record = {
            name: value for name, value in from_json(row.record).items() if name in _MODEL_RECORD
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
