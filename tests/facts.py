"""What tests ask of a sentence whatever its words are: the numbers and names that it holds."""

from __future__ import annotations

import re

_SPACES = str.maketrans({"\u2009": " ", "\u202f": " ", "\xa0": " "})
_NUMBER = re.compile(r"(?<![\w.,-])[+−-]?\d+(?:,\d{3})*(?:\.\d+)?")


def tells(text: str, *facts: object) -> bool:
    """Whether one line of `text` has the facts (numbers, names, ids), each whole and in this order.
    So 5 is neither in 50 nor in 0.5, and a space of any width is a space.
    """
    wanted = ".*?".join(
        rf"(?<!\w)(?<!\d[.,]){re.escape(str(fact).translate(_SPACES))}(?!\w)(?![.,]\d)"
        for fact in facts
    )
    return any(re.search(wanted, line) for line in text.translate(_SPACES).splitlines())


def numbers(text: str) -> list[str]:
    """Every number in `text` as it is printed, in its order; digits in a name such as "ResNet-18"
    are none.
    """
    return _NUMBER.findall(text)
