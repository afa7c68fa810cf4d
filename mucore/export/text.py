"""Stored results as the text of a file: one table of means for papers, a row a run for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pydantic_core

from mucore.errors import BadValue, UnknownName
from mucore.export import records, tables
from mucore.store import Store

FORMATS = ("csv", "latex", "markdown", "json")


def text(
    store: Store,
    format: str,
    *,
    means: bool = False,
    metrics: Sequence[str] = (),
    caption: str | None = None,
    **filters: Any,
) -> str:
    """CSV and JSON have a row a run. LaTeX, with a `caption`, Markdown, and CSV with `means` have
    `tables.results_table`. Raises `BadValue` where nothing matches, and `UnknownName`.
    """
    if format not in FORMATS:
        raise UnknownName("format of a table", format, FORMATS)
    if store.summaries(**filters).empty:
        raise BadValue("No result matches, so there is nothing to export: `results` lists them.")
    if format == "json":
        document = records.document(store, **filters)
        return pydantic_core.to_json(document, indent=2, inf_nan_mode="null").decode() + "\n"
    if format == "csv" and not means:
        return tables.to_csv(tables.comparison_frame(store, metrics=metrics or None, **filters))
    table = tables.results_table(store, metrics=metrics, **filters)
    return tables.write(table, format, caption)
