"""Forget sets: links to pages that ask for a data set."""

from __future__ import annotations

from dashboard.widgets.links import link


def to_launch(dataset: str, label: str, **query: str | list[str]) -> None:
    """A link to Launch with a data set filled in; `query` are further URL parameters."""
    link("launch", label, icon=":material/rocket_launch:", **data_query(dataset), **query)


def data_query(dataset: str) -> dict[str, str]:
    """The URL parameters of a data set's name."""
    kind, _, path = dataset.partition(":")
    return {"dataset": kind, "path": path} if path else {"dataset": kind}
