"""The command that opens the pages."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

app = App(name="app", help_flags=[], help="Open the dashboard, with a worker beside it.")


@app.default
def open_pages(*flags: Annotated[str, Parameter(allow_leading_hyphen=True)]) -> int:
    """Open the dashboard, with a worker beside it, until Ctrl-C; `app --help` lists its flags."""
    from mucore import launcher

    return launcher.main(list(flags))
