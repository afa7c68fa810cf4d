"""What queued and running jobs work on and build on, which no sweep may take from them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import sqlalchemy as sa
from pydantic import ValidationError

from mucore.errors import MucoreError
from mucore.spec import RunSpec
from mucore.store import schema
from mucore.store.rows import ACTIVE
from mucore.store.schema import from_json, to_json

Among = Callable[[sa.ColumnElement[str], Collection[str]], sa.ColumnElement[bool]]


@dataclass
class Needed:
    """`keys` of results, with those of the jobs themselves, and `models`, the keys of weights; of
    `every_model` while a search is active, for it does not say which references it has.
    """

    keys: set[str] = field(default_factory=set)
    models: set[str] = field(default_factory=set)
    every_model: bool = False


def needed_by_jobs(connection: sa.Connection, among: Among) -> Needed:
    job, result = schema.job, schema.result
    needed, analysed = Needed(), set[str]()
    active = sa.select(job.c.kind, job.c.key, job.c.needs, job.c.spec)
    for row in connection.execute(active.where(job.c.state.in_(ACTIVE))):
        needed.keys |= {row.key, *from_json(row.needs)}
        if row.kind == "search":
            needed.every_model = True
        elif row.kind == "analysis":
            analysed |= _analysed(row.spec)
        elif (spec := _spec(row.spec)) is not None:
            needed.models.add(spec.model_key)  # its weights are stored before its result is
    records = sa.select(result.c.record).where(among(result.c.key, analysed))
    for text in connection.execute(records).scalars():
        spec = _spec(to_json(from_json(text)["spec"]))
        for request in spec.requests if spec is not None else ():
            for one in (request, *request.needs()):
                needed.keys.add(one.key)
                needed.models.add(one.model_key)
    stored = sa.select(result.c.model_key).where(among(result.c.key, needed.keys))
    needed.models |= set(connection.execute(stored).scalars())
    return needed


def _spec(text: str) -> RunSpec | None:
    """None where this code cannot read it."""
    try:
        return RunSpec.model_validate(from_json(text))
    except (MucoreError, ValidationError):
        return None


def _analysed(text: str) -> set[str]:
    """The keys of the runs that an analysis looks at."""
    asked = from_json(text).get("parameters", {})
    return {*asked.get("keys", ()), *filter(None, [asked.get("key")])}
