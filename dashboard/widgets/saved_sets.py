"""Forget sets: the sets that a reader saved, as pages list them."""

from __future__ import annotations

from dashboard import data
from dashboard.widgets.training_set import training_of
from mucore import catalog
from mucore.errors import MucoreError
from mucore.forget_sets import saved
from mucore.forget_sets.saved import NamedSet
from mucore.userfiles import doors


def saved_sets() -> tuple[list[NamedSet], list[str]]:
    """The reader's sets, newest first, and a sentence for each damaged file. Raises `ReadOnly`."""
    doors.check()
    return saved.listed(data.own_store().home)


def sets_of(dataset: str) -> list[NamedSet]:
    """The saved sets that name samples of a data set; none of a user's own data that cannot be
    read.
    """
    found = saved_sets()[0]
    if not catalog.dataset(dataset).takes_path:
        return [each for each in found if each.dataset == dataset]
    try:
        content = training_of(dataset).data_hash
    except MucoreError:
        return []
    return [each for each in found if each.data_hash == content]
