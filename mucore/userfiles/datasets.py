"""The user's own files, seen without torch: where `npz:PATH` and `folder:PATH` point, how they are
to be read, and a hash of what is there.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from mucore import catalog
from mucore.catalog.cards import Task
from mucore.errors import BadFile, BadValue, MucoreError
from mucore.userfiles import doors, images, paths

MOST_SIDE = 4096
_SETTINGS = re.compile(r"(,[a-z]+=[^,=/\\]*)+$")


class Settings(NamedTuple):
    """How images of a folder are read: brought to `size` pixels a side, 0 for as they are; `skip`
    leaves broken ones out.
    """

    size: int = 0
    skip: bool = False

    @property
    def text(self) -> str:
        """As a name of a data set ends in them."""
        return f",size={self.size}" * bool(self.size) + ",broken=skip" * self.skip


def split(name: str) -> tuple[str, str]:
    """The name of a data set, or a path, without the settings that it ends in, and these."""
    found = None if name.startswith("npz:") else _SETTINGS.search(name)
    return (name, "") if found is None else (name[: found.start()], found[0])


def settings_of(name: str) -> Settings:
    """The settings in `folder:PATH,size=64,broken=skip`. Raises `BadValue`."""
    found = Settings()
    for text in split(name)[1].split(",")[1:]:
        key, _, value = text.partition("=")
        if key == "size" and value.isascii() and value.isdigit() and 0 < int(value) <= MOST_SIDE:
            found = found._replace(size=int(value))
        elif text == "broken=skip":
            found = found._replace(skip=True)
        else:
            raise BadValue(
                f"A folder's path may end in ,size=PIXELS (1 to {MOST_SIDE}) and ,broken=skip, but "
                f"got {text!r}."
            )
    return found


def path_of(name: str) -> Path:
    """The path in `npz:PATH` or `folder:PATH`. Raises `BadFile` where there is nothing of that
    kind, `ReadOnly` to who may not name files.
    """
    doors.check()
    kind, _, text = split(name)[0].partition(":")
    card = catalog.dataset(kind)
    if not card.takes_path:
        raise BadFile(f"{card.id} is a catalogued data set and has no path of its own.")
    if not text:
        raise BadFile(f"{kind} needs a path: {kind}:PATH. {card.where}")
    path = paths.path(text, what=f"The path of {kind}")
    is_file = kind == "npz" or (path.suffix.lower() == ".zip" and not os.path.isdir(path))
    wanted, there = ("file", os.path.isfile) if is_file else ("folder", os.path.isdir)
    if not there(path):
        raise BadFile(f"There is no {wanted} at {path}. {card.where}")
    return path


def named(name: str) -> str:
    """The name of a user's own data with its whole path; others as they are."""
    card = catalog.dataset(name)
    if not card.takes_path:
        return name
    return f"{card.id}:{path_of(name).resolve()}{settings_of(name).text}"


def stored(name: str) -> str:
    """The name that results have; as it is where nothing is there any more."""
    try:
        return named(name)
    except MucoreError:
        return name


def task_of(name: str) -> Task:
    """Whether the labels of a data set are classes or attributes, as far as that is known before it
    is loaded.

    For `npz:PATH` the header of y_train says it, which costs no more than a look at the file. A
    file that cannot be read counts as classes: loading it says what is wrong.
    """
    card = catalog.dataset(name)
    if card.id != "npz":
        return card.task
    from mucore.userfiles import npz  # pages that name no file need no numpy for it

    try:
        return npz.task_of(path_of(name))
    except BadFile:
        return "classes"


def class_names(name: str) -> tuple[str, ...]:
    """The names of a data set's classes as far as they are known before it is loaded: the card's,
    those of a folder's classes, the labels of an npz file that are words.
    """
    card = catalog.dataset(name)
    if not card.takes_path:
        return card.class_names
    if card.id == "folder":
        return images.listed(path_of(name)).class_names
    from mucore.userfiles import npz

    return npz.words(path_of(name))


def person_names(name: str) -> tuple[str, ...]:
    """The persons on a folder's images in the order of their numbers; none where no table names
    them, and of other data, which number them.
    """
    return images.listed(path_of(name)).persons if catalog.dataset(name).id == "folder" else ()


def listing(name: str) -> images.Listing:
    """The images of `folder:PATH`, once the head of each was looked at. Raises `BadFile`."""
    size, skip = settings_of(name)
    return images.checked(path_of(name), size, skip=skip)


def data_hash(name: str) -> str:
    """SHA-256 of the content behind `npz:PATH` or `folder:PATH` and of how it is read, "" for a
    catalogued data set.

    A folder counts with what its loader reads, links with what they lead to; where it lies does not
    matter. Raises `BadFile`, `UnknownName`.
    """
    card = catalog.dataset(name)
    if not card.takes_path:
        if ":" in name:
            raise BadFile(f"{card.id} takes no path, but got {name!r}. Only npz and folder do.")
        return ""
    path = path_of(name)
    if card.id == "folder":
        digest = images.digest(path)
        digest.update(settings_of(name).text.encode())
        return digest.hexdigest()
    from mucore.userfiles import npz

    return npz.digest(path).hexdigest()
