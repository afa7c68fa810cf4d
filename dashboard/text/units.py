"""Numbers as a person reads them. No Streamlit here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime


def duration(seconds: float | None) -> str:
    """ "8 s", "3 min 20 s", "2 h 5 min", "4 d 3 h"; "–" for None."""
    if seconds is None:
        return "–"
    total = round(max(seconds, 0.0))
    if total < 1:
        return "under 1 s"
    for size, unit, smaller, small_unit in (
        (86400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if total >= size:
            rest = total % size // smaller
            return f"{total // size} {unit}" + (f" {rest} {small_unit}" if rest else "")
    return f"{total} s"


def size(count: float | None) -> str:
    """Bytes in decimal units with two significant digits or more: "0 B", "4.1 kB", "230 MB"; "–"
    for None.
    """
    if count is None:
        return "–"
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def count(number: int, one: str, many: str | None = None) -> str:
    """ "1 run", "12 runs", "12,000 runs"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def joined(names: Sequence[str]) -> str:
    """ "A", "A and B", "A, B and C"."""
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names)


def shortened(names: Sequence[str], most: int) -> str:
    """ "A, B, C"; "A, B, C and 2 more" where there are more than `most`."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def ago(moment: datetime, now: datetime) -> str:
    """ "just now" or "3 min 20 s ago"."""
    seconds = (now - moment).total_seconds()
    return "just now" if seconds < 2 else f"{duration(seconds)} ago"


def plain(value: object) -> str:
    """A parameter's value as one would type it: 0.0001, 3,5,9, none."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        # short where nothing is lost
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    if isinstance(value, (list, tuple)):
        return ",".join(plain(item) for item in value)
    return str(value)
