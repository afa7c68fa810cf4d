"""What has to be so before the dashboard starts: packages, a port, a login that holds together, and
a home. What is not is said in a sentence.
"""

from __future__ import annotations

import errno
import importlib.util
import socket
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mucore import hosting

if TYPE_CHECKING:
    from mucore.store import Store

ROOT = Path(__file__).resolve().parents[1]  # of both packages


class StartError(Exception):
    """Something that the person who starts the program can mend; the text is a sentence."""


def check_port(host: str, port: int) -> None:
    """Raise `StartError` unless pages can be served there; a taken port comes with the next
    one.
    """
    if (problem := _bind_error(host, port)) is None:
        return
    if problem.errno != errno.EADDRINUSE:
        raise StartError(
            f"Pages cannot be served on {host}, port {port}: {problem.strerror}. Choose another "
            "--host, such as 127.0.0.1, or a --port from 1024 on."
        )
    address = hosting.web_address(hosting.reached_at(host), port)
    raise StartError(
        f"Port {port} is in use, perhaps by a dashboard that runs already ({address}). Start with "
        f"another, such as --port {port % 65535 + 1}."
    )


def _bind_error(host: str, port: int) -> OSError | None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if sys.platform == "win32":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:  # connections of the last start that are still closing do not block; a listener does
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error
    return None


def login(*folders: Path) -> str:
    """What `hosting.login_problem` says of Streamlit's secrets in `folders`; later ones win."""
    content: dict[str, Any] = {}
    for file in (folder / "secrets.toml" for folder in folders):
        try:
            content |= tomllib.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise StartError(
                f"{file}, which says who may log in, cannot be read: {error}. Correct it, or "
                "remove it."
            ) from None
    return hosting.login_problem(content, authlib=importlib.util.find_spec("authlib") is not None)


def open_home(home: Path) -> Store:
    sys.path.insert(0, str(ROOT))  # a checkout works without being installed
    from mucore.errors import MucoreError
    from mucore.store import open_store

    try:
        return open_store(home)
    except MucoreError as error:
        raise StartError(str(error)) from None
