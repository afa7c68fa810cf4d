"""Comparisons: a name, a note, the grid that was asked for, and the keys of its runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from mucore import printable
from mucore.errors import BadValue
from mucore.store import schema
from mucore.store.database import Database, unknown
from mucore.store.records import Comparison
from mucore.store.schema import now
from mucore.store.transient_errors import patient


class Comparisons(Database):
    """The part of the store that holds comparisons."""

    @patient
    def create_comparison(
        self,
        name: str,
        note: str,
        grid: Mapping[str, Any],
        keys: Sequence[str],
        *,
        created: datetime | None = None,
        demo: bool = False,
    ) -> Comparison:
        """`keys` in the order of the table's rows; keys without a result yet are fine. One that was
        made elsewhere before says when. Raises `BadValue` for an empty name.
        """
        # where only the answer of a server is lost, patience writes it twice; runs are shared
        table = schema.comparison
        row = {
            "name": check_texts(name, note),
            "note": note,
            "grid": dict(grid),
            "created": created or now(),
            "demo": demo,
        }
        runs = tuple(dict.fromkeys(keys))
        with self.write("results") as connection:
            number = connection.execute(
                sa.insert(table).values(row).returning(table.c.id)
            ).scalar_one()
            if runs:
                rows = [
                    {"comparison": number, "position": position, "key": key}
                    for position, key in enumerate(runs)
                ]
                connection.execute(sa.insert(schema.comparison_run), rows)
            return _select(connection, table.c.id == number)[0]

    def comparisons(self) -> list[Comparison]:
        """All of them, newest first."""
        with self.read() as connection:
            return [self.shown(one) for one in _select(connection, sa.true())]

    def comparison(self, comparison_id: int) -> Comparison:
        """Raises `UnknownName`."""
        with self.read() as connection:
            if found := _select(connection, schema.comparison.c.id == comparison_id):
                return self.shown(found[0])
            raise unknown(connection, schema.comparison, comparison_id)

    def rename_comparison(self, comparison_id: int, name: str, note: str) -> Comparison:
        """Raises `UnknownName`, and `BadValue` for an empty name."""
        table = schema.comparison
        with self.write("results") as connection:
            update = (
                sa.update(table)
                .where(table.c.id == comparison_id)
                .values(name=check_texts(name, note), note=note)
            )
            if not connection.execute(update).rowcount:
                raise unknown(connection, table, comparison_id)
        return self.comparison(comparison_id)

    def delete_comparison(self, comparison_id: int) -> None:
        """Forget the name and the list; the runs and their jobs stay. Raises `UnknownName`."""
        with self.write("results") as connection:
            if not connection.execute(
                sa.delete(schema.comparison).where(schema.comparison.c.id == comparison_id)
            ).rowcount:
                raise unknown(connection, schema.comparison, comparison_id)


def check_texts(name: str, note: str) -> str:
    """The name of a comparison, where it and the note, in which lines may end, can be printed.
    Raises `BadValue`.
    """
    printable.checked("The note of a comparison", note.replace("\n", " ").replace("\t", " "))
    if not (found := printable.checked("The name of a comparison", name)):
        raise BadValue("A comparison needs a name. Give it a word or two that you will recognise.")
    return found


def _select(connection: Connection, condition: sa.ColumnElement[bool]) -> list[Comparison]:
    """Newest first. Raises `StoreError` for a damaged row."""
    table, run = schema.comparison, schema.comparison_run
    keys: dict[int, list[str]] = {}
    wanted = sa.select(table.c.id).where(condition)
    for row in connection.execute(
        sa.select(run)
        .where(run.c.comparison.in_(wanted))
        .order_by(run.c.comparison, run.c.position)
    ):
        keys.setdefault(row.comparison, []).append(row.key)
    query = sa.select(table).where(condition).order_by(table.c.id.desc())
    return [
        Comparison(**row._mapping, keys=tuple(keys.get(row.id, ())))
        for row in connection.execute(query)
    ]
