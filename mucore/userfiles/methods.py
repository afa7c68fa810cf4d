"""Methods that were written on a page: files of the home, and every version of each.

`HOME/methods/ID.py` is the one that runs; `HOME/methods/versions/HASH.py`, named by what is in it,
stays when another takes its place, so that one can go back to it and see what made a result.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from mucore.catalog import plugins
from mucore.catalog.plugins import Plugin
from mucore.errors import BadFile, BadValue, StoreError
from mucore.files import write
from mucore.userfiles import doors

VERSIONS, DRAFT = "versions", "_draft.py"  # no file whose name begins so is a method


def listed() -> list[Plugin]:
    """The methods of the home that can be used, by id."""
    folder = plugins.in_home()
    return [each for each in plugins.found().plugins if each.path.parent == folder]


def read(text: str) -> Plugin:
    """The method that was typed, which need not be kept. Raises `BadFile`, with "The file" in the
    place of a path, and `ReadOnly`.
    """
    doors.check_code()
    return plugins.parsed(_encoded(text), Path("The file"))


def keep(text: str, *, waiting: Iterable[str] = ()) -> Plugin:
    """Make a typed method one of the home, in the place of an earlier version of the same id.

    `waiting` are the ids of methods that queued or running runs need: their version stays. Raises
    `BadFile`, `BadValue`, `StoreError`, `ReadOnly`.
    """
    typed, folder = read(text), plugins.in_home()
    plugin = replace(typed, path=folder / f"{typed.card.id}.py")
    if (clash := plugins.clash_of(plugin, plugins.found().plugins)) is not None:
        raise BadFile(f"The method cannot be kept: {clash}")
    there = next((each for each in listed() if each.path == plugin.path), None)
    if there is not None and there.source_hash != plugin.source_hash:
        _check_unneeded(there, waiting)
    write(folder / VERSIONS / f"{plugin.source_hash}.py", _encoded(text))
    write(plugin.path, _encoded(text))
    return plugin


def delete(name: str, *, waiting: Iterable[str] = ()) -> None:
    """Take a method out of the home; its versions and results stay. Raises as `keep`."""
    doors.check_code()
    plugin = next((each for each in listed() if each.card.id == name), None)
    if plugin is None:
        raise BadFile(f"There is no method {name} among those that were written here.")
    _check_unneeded(plugin, waiting)
    try:
        plugin.path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{plugin.path} cannot be deleted: {error.strerror}.") from error


def source(plugin: Plugin) -> str:
    """What is written in the file of a method. Raises `BadFile`, `ReadOnly`."""
    doors.check()
    try:
        return plugin.path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{plugin.path} cannot be read: {error}.") from None


def draft() -> str:
    """What was typed last, used yet or not; "" where there is nothing. Raises `ReadOnly`."""
    doors.check_code()
    try:
        return (plugins.in_home() / DRAFT).read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return ""


def keep_draft(text: str) -> None:
    """Keep what is typed, so that a page that is closed costs nothing. Raises `BadFile`,
    `StoreError`, `ReadOnly`.
    """
    doors.check_code()
    write(plugins.in_home() / DRAFT, _encoded(text))


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise BadFile("The file holds characters that are no text. Take them out.") from None


def _check_unneeded(plugin: Plugin, waiting: Iterable[str]) -> None:
    if runs := sum(each == plugin.card.id for each in waiting):
        raise BadValue(
            f"{plugin.card.id} is needed as it is by {runs} queued or running runs. Wait for them, "
            "cancel them on Queue, or give the new method another id."
        )
