"""What the caller of a function gave, checked once, by the type that the function writes."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import islice
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, create_model

from mucore.errors import BadValue
from mucore.runs.recipe import first_problem

MOST_NAMES: Final = 20_000  # of scenarios or methods


def _names(given: Any) -> Any:
    """Each name once; a text may hold several, with commas or blanks between."""
    if isinstance(given, str):
        return list(dict.fromkeys(re.findall(r"[^,\s]+", given)))
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        return given
    listed = [*islice(given, MOST_NAMES + 1)]
    return _names(",".join(listed)) if all(isinstance(each, str) for each in listed) else listed


def _path(given: Any) -> Any:
    return os.fspath(given) if isinstance(given, os.PathLike) else given


def _several(given: Any) -> Any:
    return [given] if isinstance(given, str | os.PathLike) else given


Names = Annotated[list[str], BeforeValidator(_names), Field(max_length=MOST_NAMES)]
PathText = Annotated[str, BeforeValidator(_path)]
_KINDS: Final[Mapping[str, Any]] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    'Literal["one", "each"]': Literal["one", "each"],
    "str | Sequence[str]": Names,
    "Sequence[str]": Names,
    "str | Path": PathText,
    "str | Path | Sequence[str | Path]": Annotated[list[PathText], BeforeValidator(_several)],
    "str | Path | None": PathText | None,
    "Mapping[str, Any] | None": dict[str, Any] | None,
}


def checked(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call in the types of its function, as far as these are in `_KINDS`; others
    as they are. Raises `BadValue`.
    """
    try:
        found = _model(function).model_validate(given)
    except ValidationError as error:
        raise BadValue(first_problem("", error)) from None
    return {name: getattr(found, name) for name in given}


@cache
def _model(function: Callable[..., Any]) -> type[BaseModel]:
    """With a field for each argument of a function, whose annotations are texts."""
    parameters = inspect.signature(function).parameters.items()
    fields = {name: (_KINDS.get(one.annotation, Any), None) for name, one in parameters}
    return create_model("Arguments", **cast(dict[str, Any], fields))
