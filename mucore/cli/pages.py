"""The command that opens the pages."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mucore.cli.base import Device


def app(
    *,
    host: Annotated[str, Parameter(help="Address to serve on.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to serve on.")] = 8501,
    browser: Annotated[bool, Parameter(help="Open a browser on it.")] = True,
    device: Device = "auto",
    workers: Annotated[
        int, Parameter(help="Worker processes on this machine; 0 only shows results.")
    ] = 1,
) -> int:
    """Open the dashboard, with a worker beside it, until Ctrl-C."""
    from mucore import launcher

    options = ["--host", host, "--port", str(port), "--device", device, "--workers", str(workers)]
    return launcher.main(options if browser else [*options, "--no-browser"])
