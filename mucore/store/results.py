"""Results and models: frozen records in, frozen records and frames out."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import sqlalchemy as sa

from mucore import catalog
from mucore.errors import StoreError
from mucore.store import schema
from mucore.store.claims import Claims
from mucore.store.result_frames import SUMMARY, metric_values_of, summaries_of
from mucore.store.result_rows import (
    MODEL_RECORD,
    brief_record,
    key_of,
    metrics_of,
    model_of,
    record_of,
    result_of,
    row_of,
)
from mucore.store.rows import Model, Remarks, Result
from mucore.store.schema import from_json, to_json, whole_row
from mucore.store.trouble import patient

if TYPE_CHECKING:
    import pandas as pd

# Parts of `record` in which `remarks` looks: hashes, then sentences.
_HASHES = ("data_hash", "original_hash", "pretrained_hash")
_SAID = ("notes", "flags")
_SHIPPED = tuple(card.id for card in (catalog.ORIGINAL, *catalog.METHODS))


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
            connection.execute(sa.insert(schema.result).values(row_of(result)))

    @patient
    def put_results(self, results: Iterable[Result]) -> None:
        """Many results in one transaction."""
        rows = [row_of(result) for result in results]
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
            columns["record"] = brief_record()
        rows = self._select(list(columns.values()), filters)
        # few results differ in which metrics they have
        places: dict[str, list[tuple[int, str]]] = {}

        def made(row: Any) -> Result:
            if unread:
                return result_of(row, {})
            if (text := row.metric_names) not in places:
                with whole_row():
                    names = list(enumerate(from_json(text)))
                places[text] = [one for one in names if wanted is None or one[1] in wanted]
            return result_of(row, metrics_of(row, places[text]))

        with nothing_collected():
            return self._whole("result", rows, made, key_of)

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
        with nothing_collected():
            columns = [
                _hashes(sqlite=self.sqlite) if name == "hashes" else schema.result.c[name]
                for name in SUMMARY
            ]
            columns.append(_method_file(sqlite=self.sqlite))
            return self._framed(self._select(columns, filters), summaries_of)

    def metric_values(self, **filters: Unpack[Filters]) -> pd.DataFrame:
        """One row a result and metric: key, metric, value, gap (both float, NaN where missing),
        error (str, NaN where there is none).
        """
        columns = schema.result.c
        with nothing_collected():
            rows = self._select(
                [columns.key, columns.metric_names, columns.metric_numbers], filters
            )
            return self._framed(rows, metric_values_of)

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

            return frame(self._whole("result", rows, tried, key_of))

    @patient
    def remarks(self, **filters: Unpack[Filters]) -> dict[str, Remarks]:
        """By key, in the order of `summaries`; none of a result whose record is damaged."""
        record = schema.result.c.record
        parts = [f"$.spec.{name}" for name in _HASHES] + [f"$.{name}" for name in _SAID]
        if not self.sqlite:  # which reads a part of a JSON text without Python
            found = {}
            for key, text in self._select([schema.result.c.key, record], filters):
                content = record_of(text)
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
        row["record"] = to_json({name: getattr(model, name) for name in MODEL_RECORD})
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
        return next(iter(self._whole("model", rows, model_of, lambda row: row.model_key)), None)

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


def _hashes(*, sqlite: bool) -> sa.ColumnElement[str]:
    """The column `hashes` of `SUMMARY`, read off the record; "" where that is damaged."""
    record = schema.result.c.record

    def part(name: str) -> sa.ColumnElement[str]:
        found = _of_spec(name, sqlite=sqlite)
        word = sa.literal(f" {name.removesuffix('_hash')}=")
        return sa.case((found != "", word.concat(found)), else_="")

    data, original, pretrained = map(part, _HASHES)
    text = sa.func.ltrim(data.concat(original).concat(pretrained))
    if not sqlite:
        return sa.type_coerce(text, sa.Text)
    # most records have none, and a look for that takes a tenth of the time that parsing takes
    none = (sa.func.instr(record, '"original_hash":"","pretrained_hash":""') > 0) & sa.not_(
        schema.result.c.dataset.contains(":")
    )
    return sa.case((none, ""), (sa.func.json_valid(record) == 1, text), else_="")


def _method_file(*, sqlite: bool) -> sa.ColumnElement[str]:
    """The hash of the file of a user's own method, read off the record; "" where that is damaged,
    and for mucore's methods, whose records need not be looked into.
    """
    columns = schema.result.c
    found = sa.func.coalesce(_of_spec("method_hash", sqlite=sqlite), "")
    read = sa.case((sa.func.json_valid(columns.record) == 1, found), else_="") if sqlite else found
    return sa.case((columns.method.in_(_SHIPPED), ""), else_=read)


def _of_spec(name: str, *, sqlite: bool) -> sa.ColumnElement[str]:
    """A text in the spec of a record; SQL's NULL where it is missing."""
    record = schema.result.c.record
    if sqlite:
        return sa.func.json_extract(record, f"$.spec.{name}")
    # the first match, which is in the spec: Postgres ends a query at a text that is no JSON
    return sa.func.substring(record, f'"{name}": ?"([^"]*)"')


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
