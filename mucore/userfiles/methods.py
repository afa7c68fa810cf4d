"""Methods that were written on a page: files of the home, and every version of each.

`HOME/methods/ID.py` is the one that runs; `HOME/methods/versions/HASH.py`, named by what is in it,
stays when another takes its place, so that one can go back to it and see what made a result.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from mucore.catalog import plugins, written
from mucore.catalog.plugins import Plugin
from mucore.errors import BadFile, BadValue, StoreError, said
from mucore.files import write
from mucore.userfiles import doors

VERSIONS, DRAFT = "versions", "_draft.py"  # no file whose name begins so is a method
LONGEST_ID = 64  # letters; it names a file
MOST_VERSIONS = 200  # that are looked at


def listed() -> list[Plugin]:
    """The methods of the home that can be used, by id."""
    folder = plugins.in_home()
    return [each for each in plugins.found().plugins if each.path.parent == folder]


def read(text: str) -> Plugin:
    """The card of a method that was typed, which need not be kept. Raises `BadFile`, with "The
    file" in the place of a path, and `ReadOnly`.
    """
    doors.check_code()
    content = _encoded(text)
    try:
        with tempfile.TemporaryDirectory(prefix="mucore-") as name:
            path = Path(name) / "method.py"
            path.write_bytes(content)
            try:
                return plugins.read(path)
            except BadFile as problem:
                raise BadFile(str(problem).replace(str(path), "The file")) from None
    except OSError as error:
        raise StoreError(f"The method cannot be looked at: {error.strerror or error}.") from error


def keep(text: str, *, waiting: Iterable[str] = ()) -> Plugin:
    """Make a typed method one of the home, in the place of an earlier version of the same id.

    `waiting` are the ids of methods that queued or running runs need: their version stays. Raises
    `BadFile`, `BadValue`, `StoreError`, `ReadOnly`.
    """
    plugin = read(text)
    name, folder = plugin.card.id, plugins.in_home()
    if len(name) > LONGEST_ID:
        raise BadValue(
            f"The id of a method may have {LONGEST_ID} letters, but {said(name)} has {len(name)}. "
            "Choose a shorter one."
        )
    path = folder / f"{name}.py"
    others = tuple(each for each in plugins.found().plugins if each.path != path)
    if (clash := plugins.clash_of(plugin, others)) is not None:
        raise BadFile(f"The method cannot be kept: {clash}")
    there = next((each for each in listed() if each.card.id == name), None)
    if there is not None and there.source_hash == plugin.source_hash:
        return there
    if there is not None:
        _check_unneeded(name, waiting, "Give the new one another id, and both can be compared")
    content = _encoded(text)
    write(folder / VERSIONS / f"{plugin.source_hash}.py", content)
    write(path, content)
    return plugins.read(path)


def delete(name: str, *, waiting: Iterable[str] = ()) -> None:
    """Take a method out of the home; its versions and results stay. Raises as `keep`."""
    doors.check_code()
    plugin = next((each for each in listed() if each.card.id == name), None)
    if plugin is None:
        raise BadFile(f"There is no method {name} among those that were written here.")
    _check_unneeded(name, waiting, "Wait for them, or cancel them on Queue")
    try:
        plugin.path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{plugin.path} cannot be deleted: {error.strerror}.") from error


def versions() -> list[Plugin]:
    """All versions of all methods that were kept, newest first, those of deleted ones among them.
    Raises `ReadOnly`.
    """
    doors.check()
    folder = plugins.in_home() / VERSIONS
    files = sorted(folder.glob("*.py"), key=_written, reverse=True)[:MOST_VERSIONS]
    found = []
    for path in files:
        try:
            plugin = plugins.read(path)
        except BadFile:
            continue
        if plugin.source_hash == path.stem:
            found.append(plugin)
    return found


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


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _encoded(text: str) -> bytes:
    try:
        content = text.encode()
    except UnicodeEncodeError:
        raise BadFile("The file holds characters that are no text. Take them out.") from None
    if len(content) > written.MOST_BYTES:
        raise BadFile(
            f"The file has {len(content):,} bytes, and {written.MOST_BYTES:,} are allowed."
        )
    return content


def _check_unneeded(name: str, waiting: Iterable[str], way_out: str) -> None:
    runs = sum(each == name for each in waiting)
    if runs:
        raise BadValue(
            f"{runs} queued or running {'run needs' if runs == 1 else 'runs need'} {name} as it "
            f"is. {way_out}."
        )
