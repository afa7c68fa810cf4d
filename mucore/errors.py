"""Errors whose text is a sentence for the person who caused them: the rule, the value, and a way
out.
"""

from __future__ import annotations

import difflib
import reprlib
import warnings
from collections.abc import Iterable
from typing import Any

LONGEST_PATH = 400  # letters of a path that a sentence tells whole
MOST_KNOWN = 60  # names that one lists


def said(value: Any, longest: int = 80) -> str:
    """A value as a sentence quotes it: as Python writes it, the middle left out where that is
    longer than `longest` letters.

    Numbers of thousands of digits, which Python refuses to write, and objects that cannot be
    written are told by their size or their type.
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 10_000:
        return f"a number of about {value.bit_length() * 3 // 10:,} digits"
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = longest
    try:
        text = short.repr(value)
    except Exception:  # a `__repr__` of somebody's own
        return f"a {type(value).__name__}"
    return text if len(text) <= 3 * longest else f"{text[: 3 * longest]}..."


def install(extra: str) -> str:
    """The command that installs the packages of an extra of mucore, which is in no index."""
    return f"python -m pip install -c constraints.txt -e '.[{extra}]' in your clone of mucore"


def need(holds: object, sentence: str) -> None:
    """Raise `BadValue` with the sentence where that does not hold."""
    if not holds:
        raise BadValue(sentence)


class MucoreError(Exception):
    """Base of all errors that a user can cause and mend; the CLI and the dashboard print the text
    without a traceback.
    """


class UnknownName(MucoreError):
    """A name that the catalogue does not know; the message suggests the nearest ones."""

    def __init__(self, kind: str, name: Any, known: Iterable[str]):
        known, text = sorted(known), name if isinstance(name, str) else said(name)
        # of a name that is no name, thousands of letters, nothing is near
        near = difflib.get_close_matches(text.lower()[:200], known, n=3, cutoff=0.5)
        listed = ", ".join([*known[:MOST_KNOWN], *["..."] * (len(known) > MOST_KNOWN)])
        hint = f"Did you mean {' or '.join(near)}?" if near else f"Known: {listed}."
        if not known:
            hint = "There is none yet."
        super().__init__(f"There is no {kind} named {said(text)}. {hint}")
        self.kind, self.name, self.near = kind, text, near


class BadValue(MucoreError):
    """A value outside its range, of the wrong type, or in conflict with another one."""


class Refused(BadValue):
    """A method, or a value of one of its parameters, that does not serve a scenario or a data set;
    others of the grid still run.
    """


class BadFile(MucoreError):
    """A file that is missing, corrupt or of another kind than the place asks for."""


class MethodFailed(MucoreError):
    """A user's own method that came to no result: it raised, died, or took more than it may."""


class StoreError(MucoreError):
    """The store cannot be opened or written: foreign file, newer schema, no space."""


class Unforeseen(MucoreError):
    """A defect of mucore: the sentence names the log that has the traceback, under `reference`.
    What was raised first is its `__cause__`.
    """

    def __init__(self, sentence: str, reference: str):
        super().__init__(sentence)
        self.reference = reference


class ReadOnly(StoreError):
    """Something was to be written, started or opened by who may only read."""


class MucoreWarning(UserWarning):
    """A sentence on what was asked for; the command line prints it on stderr."""


def warn(sentence: str) -> None:
    """Tell who asked: a warning in Python, a line on stderr of the command line."""
    warnings.warn(sentence, MucoreWarning, stacklevel=3)


class Cancelled(Exception):
    """Raised inside a run at the next step after a person asked for its end."""
