"""Where artifacts lie: a folder, or an object store that several machines reach (fsspec).

A storage holds whole files by name. Names are hashes of contents, so what was read once never
changes, and a copy on this machine is as good as the file itself unless it is damaged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from mucore.errors import BadValue, StoreError, install
from mucore.files import write_lasting

# A file that says which store the storage belongs to; no artifact has such a name.
MARK = "store-id"


class Unreachable(OSError):
    """A storage that does not answer now; nothing is known of its files."""


class Listed(NamedTuple):
    """A file of a storage: bytes, and the time of its last change in seconds since 1970."""

    name: str
    size: int
    modified: float


class Folder:
    """A folder of this machine, or one that a file server shares. A file is written beside its
    place, flushed to the disk and moved there.
    """

    def __init__(self, path: Path):
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def local(self, name: str) -> Path:
        """A file of this machine with the content. Raises `OSError` in `Elsewhere`."""
        return self.path / _inside(name)

    def read(self, name: str) -> bytes:
        """Raises `FileNotFoundError`, `OSError`."""
        return self.local(name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        write_lasting(self.local(name), content)

    def exists(self, name: str) -> bool:
        return self.local(name).exists()

    def files(self) -> Iterator[Listed]:
        for path in self.path.glob("*/[!.]*"):  # what is being written begins with a dot
            try:
                facts = path.stat()
            except FileNotFoundError:  # another process sweeps
                continue
            yield Listed(path.name, facts.st_size, facts.st_mtime)

    def drop_copy(self, name: str) -> bool:
        """Whether there was a copy that is not the file itself."""
        return False

    def remove(self, name: str) -> None:
        self.local(name).unlink(missing_ok=True)


class Elsewhere:
    """A storage behind an fsspec address such as s3://bucket/prefix, with copies in `copies`."""

    def __init__(self, url: str, copies: Path):
        self._files, self._root = _filesystem(url)
        self._url = _without_secrets(url)
        self._copies = Folder(copies)

    def __str__(self) -> str:
        return self._url

    def local(self, name: str) -> Path:
        if not self._copies.exists(name):
            self._copies.write(name, self._fetched(name))
        return self._copies.local(name)

    def read(self, name: str) -> bytes:
        if name == MARK:  # which copy is whose cannot be told
            return self._fetched(name)
        try:
            return self.local(name).read_bytes()
        except (Unreachable, FileNotFoundError):
            raise
        except OSError:  # this machine has no room for a copy
            return self._fetched(name)

    def write(self, name: str, content: bytes) -> None:
        self._asked(lambda: self._files.pipe_file(self._at(name), content))

    def exists(self, name: str) -> bool:
        return self._asked(lambda: self._files.exists(self._at(name)))

    def files(self) -> Iterator[Listed]:
        try:
            found = self._asked(lambda: self._files.find(self._root, detail=True))
        except FileNotFoundError:
            return
        for path, facts in found.items():
            folder, name = PurePosixPath(path).parts[-2:]
            if folder == name[:2]:
                changed = self._asked(partial(self._files.modified, path)).timestamp()
                yield Listed(name, int(facts["size"]), changed)

    def drop_copy(self, name: str) -> bool:
        copied = self._copies.exists(name)
        self._copies.remove(name)
        return copied

    def remove(self, name: str) -> None:
        self.drop_copy(name)
        self._asked(lambda: self._files.rm_file(self._at(name)))

    def _fetched(self, name: str) -> bytes:
        return self._asked(lambda: self._files.cat_file(self._at(name)))

    def _at(self, name: str) -> str:
        return f"{self._root}/{_inside(name)}"

    def _asked(self, question: Callable[[], Any]) -> Any:
        """The answer of the file system. What its library raises is its own affair, so everything
        but a missing file counts as a storage that cannot be reached.
        """
        try:
            return question()
        except FileNotFoundError:
            raise
        except Exception as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error


Storage = Folder | Elsewhere


def _inside(name: str) -> str:
    """Where a file lies below the root."""
    return name if name == MARK else f"{name[:2]}/{name}"


def mark_of(storage: Storage) -> str:
    """What a storage's mark says; "" where it has none."""
    try:
        return storage.read(MARK).decode().strip()
    except FileNotFoundError:
        return ""


def storage_of(home: Path, url: str | None = None) -> Storage:
    """Of a store's files: `<home>/artifacts` without `url`, else what the address names:
    `file:///shared/folder`, `s3://bucket/prefix`, or another that fsspec knows.

    Raises `BadValue` for an address that is none, `StoreError` where its library is missing.
    """
    if not url:
        return Folder(home / "artifacts")
    parts = urlsplit(url)
    if parts.scheme == "file" and parts.netloc in ("", "localhost") and parts.path.strip("/"):
        return Folder(Path(unquote(parts.path)))
    known = parts.scheme != "file" and re.fullmatch(r"[a-z][a-z0-9+]*", parts.scheme)
    if not known or not parts.netloc + parts.path.strip("/"):
        raise BadValue(
            "MUCORE_ARTIFACTS is an address such as s3://bucket/prefix or file:///shared/folder, "
            f"but got {_without_secrets(url)!r}."
        )
    return Elsewhere(url, home / "copies")


def _filesystem(url: str) -> tuple[Any, str]:
    import fsspec

    try:
        files, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    except (ImportError, ValueError) as error:
        raise StoreError(
            f"The address {_without_secrets(url)} in MUCORE_ARTIFACTS cannot be used: {error} What "
            f"s3:// needs is installed with {install('cluster')}."
        ) from error
    return files, root.rstrip("/")


def _without_secrets(url: str) -> str:
    """The address without a name and password before its host, and without options."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}".rstrip("/")
