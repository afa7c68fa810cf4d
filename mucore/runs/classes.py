"""Classes by name: what a person may write in the place of a class's number, and what stands beside
the number where one reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mucore.errors import BadValue, UnknownName
from mucore.numbers import whole_number

PARAMETERS: Final = ("class_id", "class_ids", "target")  # of scenarios


def numbered(parameters: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The parameters of a scenario with numbers in the place of the names of classes. Raises
    `UnknownName`, and `BadValue` for a text that is one class's name and another's number.
    """
    return {
        name: _numbered(value, names) if name in PARAMETERS and names else value
        for name, value in parameters.items()
    }


def _numbered(value: Any, names: Sequence[str]) -> Any:
    if isinstance(value, list | tuple):
        return [_numbered(each, names) for each in value]
    if not isinstance(value, str) or not (text := value.strip()):
        return value
    number = whole_number(text)
    named = names.index(text) if text in names else None
    if named is not None and number is not None and number != named and number in range(len(names)):
        raise BadValue(
            f"{text!r} is the name of class {named} and the number of another one. Rename the "
            "classes so that it means one of them."
        )
    if named is not None or number is not None:
        return number if named is None else named
    parts = [part for part in text.replace(";", ",").split(",") if part.strip()]
    if len(parts) > 1:
        return [_numbered(part, names) for part in parts]
    if re.fullmatch(r"none|null|[-+.eE0-9]+", text):  # the card says what is wrong
        return value
    raise UnknownName("class", text, names)


def named(parameters: Mapping[str, Any], names: Sequence[str]) -> list[dict[str, Any]]:
    """The classes that checked parameters name, each by number and name."""
    found: list[int] = []
    for parameter in PARAMETERS:
        value = parameters.get(parameter)
        found += value if isinstance(value, list) else [] if value is None else [value]
    return [
        {"number": number, "name": names[number] if number < len(names) else str(number)}
        for number in dict.fromkeys(found)
    ]


def said(number: int, name: str) -> str:
    """A class by number and name: "class 8 (Bag)"; by the number alone where that is its name."""
    return f"class {number}" if name == str(number) else f"class {number} ({name})"
