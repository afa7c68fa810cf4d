"""Where artifacts lie: a folder, or an object store that several machines reach (fsspec).

A place holds whole files by name. Names are hashes of contents, so what was read once never
changes, and a copy on this machine is as good as the file itself.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from mucore.errors import BadValue, StoreError, install
from mucore.files import write_lasting

# A file that says which store the place belongs to; no artifact has such a name.
MARK = "store-id"
# What the copies of a place elsewhere may take on this machine, in bytes. Those not used for the
# longest time go first.
CACHE_BYTES = 20 * 10**9
# A file elsewhere that is older than this is written anew where it is stored again, for nothing
# else makes it young there.
STALE_SECONDS = 900.0


class Unreachable(OSError):
    """A place that does not answer now; nothing is known of its files."""


@dataclass(frozen=True)
class Listed:
    """A file of a place: where it lies below the root, bytes, and the time of its last change in
    seconds since 1970.
    """

    at: str
    size: int
    modified: float

    @property
    def name(self) -> str:
        return self.at.rpartition("/")[2]


class Place(Protocol):
    """What the store asks of a place. `FileNotFoundError` and other `OSError`s are the answers that
    files give; `Unreachable` is one.
    """

    def __str__(self) -> str: ...
    def address(self, name: str) -> str: ...
    def local(self, name: str) -> Path: ...
    def read(self, name: str, *, anew: bool = False) -> bytes: ...
    def write(self, name: str, content: bytes) -> None: ...
    def renew(self, name: str) -> bool: ...
    def size(self, name: str) -> int | None: ...
    def files(self) -> Iterator[Listed]: ...
    def remove(self, at: str) -> bool: ...
    def mark(self) -> str | None: ...
    def set_mark(self, text: str) -> None: ...


class Folder:
    """A folder of this machine, or one that a file server shares. A file is written beside its
    place, flushed to the disk and moved there.
    """

    def __init__(self, path: Path):
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def address(self, name: str) -> str:
        return str(self.local(name))

    def local(self, name: str) -> Path:
        return self.path / name[:2] / name

    def read(self, name: str, *, anew: bool = False) -> bytes:
        return self.local(name).read_bytes()

    def write(self, name: str, content: bytes) -> None:
        write_lasting(self.local(name), content)

    def renew(self, name: str) -> bool:
        os.utime(self.local(name))
        return True

    def size(self, name: str) -> int | None:
        try:
            facts = self.local(name).stat()
        except FileNotFoundError:
            return None
        return facts.st_size

    def files(self) -> Iterator[Listed]:
        for path in self.path.glob("*/*"):
            try:
                facts = path.stat()
            except FileNotFoundError:  # another process sweeps
                continue
            at = path.relative_to(self.path).as_posix()
            yield Listed(at, facts.st_size, facts.st_mtime)

    def remove(self, at: str) -> bool:
        try:
            (self.path / at).unlink()
        except FileNotFoundError:
            return False
        return True

    def mark(self) -> str | None:
        try:
            return (self.path / MARK).read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return None

    def set_mark(self, text: str) -> None:
        write_lasting(self.path / MARK, f"{text}\n".encode("ascii"))


class Elsewhere:
    """A place behind an fsspec address such as s3://bucket/prefix, with copies in `cache`.

    Copies that take more than `limit` bytes give way, those first that were not used for the
    longest time.
    """

    def __init__(self, url: str, cache: Path, *, limit: int = CACHE_BYTES):
        self._files, self._root = _filesystem(url)
        self._url = _without_secrets(url)
        self._cache = Folder(cache)
        self._limit = limit

    def __str__(self) -> str:
        return self._url

    def address(self, name: str) -> str:
        return f"{self._url}/{name[:2]}/{name}"

    def local(self, name: str) -> Path:
        if self._cache.size(name) is None:
            content = self.read(name)
            if self._cache.size(name) is None:
                self._cache.write(name, content)  # raises why there was no copy
        return self._cache.local(name)

    def read(self, name: str, *, anew: bool = False) -> bytes:
        if not anew:
            try:
                content = self._cache.read(name)
                self._cache.renew(name)  # used: it goes last
                return content
            except FileNotFoundError:
                pass
        content = self._asked(lambda: self._files.cat_file(self._at(name)))
        self._keep(name, content)
        return content

    def write(self, name: str, content: bytes) -> None:
        self._asked(lambda: self._files.pipe_file(self._at(name), content))
        self._keep(name, content)

    def renew(self, name: str) -> bool:
        facts = self._asked(lambda: self._files.info(self._at(name)))
        return time.time() - _modified(facts) < STALE_SECONDS

    def size(self, name: str) -> int | None:
        try:
            return int(self._asked(lambda: self._files.info(self._at(name)))["size"])
        except FileNotFoundError:
            return None

    def files(self) -> Iterator[Listed]:
        try:
            found = self._asked(lambda: self._files.find(self._root, detail=True))
        except FileNotFoundError:
            return
        for path, facts in found.items():
            inside = PurePosixPath(path).parts
            if len(inside) > 1 and inside[-2] == inside[-1][:2]:
                yield Listed("/".join(inside[-2:]), int(facts["size"]), _modified(facts))

    def remove(self, at: str) -> bool:
        self._cache.remove(at)
        try:
            self._asked(lambda: self._files.rm_file(f"{self._root}/{at}"))
        except FileNotFoundError:
            return False
        return True

    def mark(self) -> str | None:
        try:
            content = self._asked(lambda: self._files.cat_file(f"{self._root}/{MARK}"))
        except FileNotFoundError:
            return None
        return content.decode("ascii", errors="replace").strip()

    def set_mark(self, text: str) -> None:
        content = f"{text}\n".encode("ascii")
        self._asked(lambda: self._files.pipe_file(f"{self._root}/{MARK}", content))

    def _at(self, name: str) -> str:
        return f"{self._root}/{name[:2]}/{name}"

    def _asked(self, question: Callable[[], Any]) -> Any:
        """The answer of the file system. What its library raises is its own affair, so everything
        but a missing file counts as a place that cannot be reached.
        """
        try:
            return question()
        except FileNotFoundError:
            raise
        except Exception as error:
            raise Unreachable(f"{type(error).__name__}: {error}") from error

    def _keep(self, name: str, content: bytes) -> None:
        """A copy for the next reader; where this machine has no room for one, none."""
        try:
            self._cache.write(name, content)
        except OSError:
            return
        files = sorted(self._cache.files(), key=lambda one: one.modified)
        held = sum(one.size for one in files)
        for one in files:
            if held <= self._limit:
                break
            if one.name != name and self._cache.remove(one.at):
                held -= one.size


def place_of(home: Path, url: str | None = None) -> Place:
    """The place of a store's files: `<home>/artifacts` without `url`, else what the address names:
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
    return Elsewhere(url, home / "copies", limit=_cache_bytes())


def _cache_bytes() -> int:
    text = os.environ.get("MUCORE_COPIES_GB") or str(CACHE_BYTES / 1e9)
    try:
        gigabytes = float(text)
    except ValueError:
        gigabytes = -1.0
    if not 0 <= gigabytes < 1e9:
        raise BadValue(f"MUCORE_COPIES_GB is a number of gigabytes from 0 on, but got {text!r}.")
    return int(gigabytes * 1e9)


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


def _modified(facts: dict[str, Any]) -> float:
    """Seconds since 1970 of the last change; each file system has a word of its own for it."""
    for word in ("LastModified", "mtime", "last_modified", "updated", "created"):
        if (value := facts.get(word)) is not None:
            return float(value) if isinstance(value, int | float) else value.timestamp()
    return time.time()  # unknown: young, so that no sweep takes it
