"""What the sections of the launch page share: what is wrong with the fields, and fields with
several values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from dashboard import state
from dashboard.text import labels, units
from dashboard.widgets import messages
from mucore.catalog.cards import Parameter
from mucore.errors import BadValue, MucoreError
from mucore.runs import check

FIELDS: Final = 3  # of a scenario or of sweeps, side by side
MAX_VALUES: Final = 100  # in one field
LISTS: Final = ("ints", "ids", "pairs")  # kinds of parameters
_PROBLEMS: Final = "launch_problems"


def begin() -> None:
    """Forget what was wrong when the page was last drawn."""
    state.set_ticket(_PROBLEMS, [])


def problems() -> list[str]:
    """Sentences about fields of this run of the page; nothing can be started while there are
    any.
    """
    return list(state.ticket(_PROBLEMS) or [])


def extend(sentences: Sequence[str]) -> None:
    """Count sentences that the page shows already."""
    state.set_ticket(_PROBLEMS, [*problems(), *sentences])


def tell(sentence: str) -> None:
    """Say under a field what is wrong with it."""
    messages.problem(sentence)
    extend([sentence])


def checked(
    make: Callable[[], Any], fallback: Any, way_out: str = "", *, known: Sequence[str] = ()
) -> Any:
    """What `make` makes; where it raises a sentence, `fallback`, with the sentence told in titles
    (`with_titles`).
    """
    try:
        return make()
    except MucoreError as failure:
        tell(f"{labels.with_titles(str(failure), *known)} {way_out}".strip())
        return fallback


def parse_values(parameter: Parameter, typed: str, owner: str) -> list[Any]:
    """Several values of one parameter without doubles: commas between them, semicolons where a
    value is itself a list.
    """
    parts = typed.split(";") if parameter.kind in LISTS else typed.replace(";", ",").split(",")
    parts = [part.strip() for part in parts if part.strip()]
    if not parts:
        raise BadValue(
            f"{owner}: {parameter.name} needs a value, such as {units.plain(parameter.default)}."
        )
    if len(parts) > MAX_VALUES:
        raise BadValue(
            f"{owner}: {parameter.name} may have at most {MAX_VALUES} values at once, but got "
            f"{len(parts)}. Choose fewer."
        )
    values = [check(parameter, part, owner=owner) for part in parts]
    # by text, for 1 is one sample and 1.0 all of them
    return list({repr(value): value for value in values}.values())
