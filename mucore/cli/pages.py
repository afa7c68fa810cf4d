"""The command that opens the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mucore.cli.base import WHOLE, Device


def app(
    pack: Annotated[
        Path | None, Parameter(help="A pack of results, a folder or a zip, instead of a home.")
    ] = None,
    /,
    *,
    host: Annotated[
        str | None, Parameter(help="Address to serve on; by default 127.0.0.1, this machine alone.")
    ] = None,
    audience: Annotated[
        bool,
        Parameter(
            help="Others only read; whoever has the presenter's key, printed at the start, can do "
            "everything.",
            negative=(),
        ),
    ] = False,
    open: Annotated[  # noqa: A002
        bool, Parameter(help="Anyone who reaches the address may do everything.", negative=())
    ] = False,
    port: Annotated[int, WHOLE, Parameter(help="Port to serve on.")] = 8501,
    browser: Annotated[bool, Parameter(help="Open a browser on it.")] = True,
    device: Device = "auto",
    workers: Annotated[
        int, WHOLE, Parameter(help="Worker processes on this machine; 0 only shows results.")
    ] = 1,
) -> int:
    """Open the dashboard, with a worker beside it, until Ctrl-C."""
    from mucore import launcher

    options = [str(pack)] if pack else []
    options += ["--port", str(port), "--device", device, "--workers", str(workers)]
    options += ["--host", host] if host is not None else []
    for flag, on in (("audience", audience), ("open", open), ("no-browser", not browser)):
        options += [f"--{flag}"] if on else []
    return launcher.main(options)
