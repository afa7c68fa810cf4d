"""What the commands share: exit codes, flags, the store, and what is said on stderr."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated, Any, TextIO, get_origin

from cyclopts import Parameter

from mucore import catalog
from mucore.errors import MucoreWarning, UnknownName, said
from mucore.numbers import MOST, whole_number

if TYPE_CHECKING:
    from mucore.store import Store

FAILED, WRONG, UNFORESEEN, INTERRUPTED = 1, 2, 3, 130
WAITING_SECONDS = 300.0


def _whole(hint: Any, tokens: Sequence[Any]) -> Any:
    """Whole numbers as they are typed. Cyclopts rounds 1.5, so that `cancel 1.5` meant job 2."""
    found = []
    for token in tokens:
        number = whole_number(token.value)
        if number is None or abs(number) > MOST:
            raise ValueError(f"a whole number is needed, but got {said(token.value)}.")
        found.append(number)
    return found if get_origin(hint) is list else found[0]


# Of a flag that is a whole number, or a list of such.
WHOLE = Parameter(converter=_whole)

Json = Annotated[
    bool, Parameter(name="--json", negative="", help="JSON on stdout instead of a table.")
]
Device = Annotated[str, Parameter(help="auto, cpu, cuda, cuda:1 or mps.")]


def open_home() -> Store:
    """The store in the home, created when it is missing."""
    from mucore.store import open_store

    return open_store()


@contextmanager
def patient_home() -> Generator[Store]:
    """The store for a command that computes: trouble that passes is waited for some minutes, as
    workers do, and what is waited for is said on stderr.
    """
    from mucore.store.transient_errors import patient, waiting

    told: set[str] = set()

    def wait(what: str, seconds: float) -> None:
        if what not in told:
            told.add(what)
            print(f"Waiting for {what}.", file=sys.stderr)
        time.sleep(seconds)

    with waiting(wait, limit=WAITING_SECONDS), patient(open_home)() as store:
        yield store


def progress(done: float, step: str) -> None:
    """A line on stderr, where a person looks at it."""
    if sys.stderr.isatty():
        line = f"{done:4.0%} {step}"[: get_terminal_size().columns - 1]
        print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)


def end_progress() -> None:
    """Take that line away."""
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def tell(sentence: str) -> None:
    """A sentence on stderr that stays, in the place of `progress`."""
    end_progress()
    print(sentence, file=sys.stderr, flush=True)


@contextmanager
def sentences_on_stderr() -> Generator[None]:
    """What is warned of in Python is a line on stderr here."""
    usual = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, MucoreWarning):
            print(message, file=sys.stderr)
        else:
            usual(message, category, filename, lineno, file, line)

    with warnings.catch_warnings():
        warnings.simplefilter("always", MucoreWarning)
        warnings.showwarning = show  # ty: ignore[invalid-assignment]
        yield


def complain(sentence: str, code: int) -> int:
    print(sentence, file=sys.stderr)
    return code


def say_left_out() -> None:
    """The methods of a user's own that cannot be used, each with its reason, on stderr."""
    for problem in catalog.plugin_problems():
        print(problem, file=sys.stderr)


def comparison_id(store: Store, text: str) -> int:
    known = store.comparisons()
    for comparison in known:
        if text in (str(comparison.id), comparison.name):
            return comparison.id
    raise UnknownName(
        "comparison",
        text,
        [f"{comparison.id}" for comparison in known] + [comparison.name for comparison in known],
    )
