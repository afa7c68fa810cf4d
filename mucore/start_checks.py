"""What has to be so before the dashboard starts: packages, a port, a login that holds together, and
a home. What is not is said in a sentence.
"""

from __future__ import annotations

import errno
import importlib.util
import platform
import shutil
import socket
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mucore import hosting

if TYPE_CHECKING:
    from mucore.store import Store

ROOT = Path(__file__).resolve().parents[1]  # of both packages
NEEDED = (
    "psutil",
    "numpy",
    "pandas",
    "sqlalchemy",
    "pydantic",
    "plotly",
    "segno",
    "streamlit",
    "torch",
    "torchvision",
    "safetensors",
    "cyclopts",
)
LEAST_FREE_BYTES = 50_000_000


class StartError(Exception):
    """Something that the person who starts the program can mend; the text is a sentence."""


def check_packages() -> None:
    if tuple(map(int, platform.python_version_tuple()[:2])) < (3, 11):
        raise StartError(
            f"Python 3.11 or newer is needed, but this is {sys.version.split()[0]} "
            f"({sys.executable})."
        )
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        python = r".venv\Scripts\python" if sys.platform == "win32" else ".venv/bin/python"
        raise StartError(
            f"{sys.executable} lacks {', '.join(missing)}. Install what is needed, then start "
            "again:\n"
            "  python -m venv .venv\n"
            f"  {python} -m pip install -c constraints.txt -e .\n"
            f"  {python} run_app.py"
        )


def check_port(host: str, port: int) -> None:
    """Raise `StartError` unless pages can be served there; a taken port comes with the next free
    one.
    """
    problem = _bind_error(host, port)
    if problem is None:
        return
    if isinstance(problem, socket.gaierror) or problem.errno == errno.EADDRNOTAVAIL:
        raise StartError(
            f"This machine has no address {host}. Use --host 127.0.0.1 for itself alone or --host "
            "0.0.0.0 for the network."
        )
    if problem.errno == errno.EACCES:
        raise StartError(
            f"Port {port} needs administrator rights. Choose one from 1024 on, such as --port 8501."
        )
    free = next(
        (
            other
            for other in range(port + 1, min(port + 100, 65536))
            if _bind_error(host, other) is None
        ),
        None,
    )
    way_out = (
        f"Start with --port {free}." if free is not None else "Choose another one with --port."
    )
    address = hosting.web_address(hosting.reached_at(host), port)
    raise StartError(
        f"Port {port} is in use, perhaps by a dashboard that runs already ({address}). {way_out}"
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
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        free = shutil.disk_usage(home).free
        if free < LEAST_FREE_BYTES:
            raise StartError(
                f"Only {free / 1e6:.0f} MB are free in {home}, too little for results. Free some, "
                "or choose another folder with --home."
            )
        return open_store(home)
    except MucoreError as error:
        raise StartError(str(error)) from None
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        raise StartError(
            f"The folder {home} cannot be used: {error.strerror}. Choose another one with --home."
        ) from None
