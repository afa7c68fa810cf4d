"""The contract test of a user's method in a process of its own, as a run of the method would be:
one that ends its process, hangs or fills the memory breaks a rule, too. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from mucore.catalog import plugins
from mucore.errors import MethodFailed
from mucore.runner import child
from mucore.runner.child import Limits
from mucore.userfiles import doors

LIVES = "it comes to an end, and its process lives on"
Line = dict[str, Any]  # `rule`, `passed` and `message` of a `mucore.testing.contract.Check`


def trial(
    file: Path,
    limits: Limits,
    *,
    on_line: Callable[[Line], None],
    on_print: Callable[[str], None] = lambda text: None,
    asked: Callable[[], None] = lambda: None,
    replaces: Path | None = None,
) -> None:
    """Try the method in `file`; each rule comes to `on_line` once it is decided. `asked` and
    `on_print` are those of `child.run`; the name of the method that `replaces` holds is free.
    """
    with child.folder() as folder:
        for what, path in {"path": file, "replaces": replaces}.items():
            if path is not None:
                (folder / what).write_text(str(path.absolute()), encoding="utf-8")
        try:
            child.run(
                "mucore.testing.contract:inside",
                folder,
                limits,
                who=file.stem,
                on_message=on_line,
                on_print=on_print,
                asked=asked,
            )
        except MethodFailed as problem:
            on_line({"rule": LIVES, "passed": False, "message": str(problem)})


def trial_of_text(
    text: str,
    name: str,
    limits: Limits,
    *,
    on_line: Callable[[Line], None],
    **others: Callable[..., None],
) -> None:
    """As `trial`, of a method that was typed on a page, in the place of the one of the home that is
    called `name`, which is also its file's name in sentences. Raises `ReadOnly` to who may not
    bring code.
    """
    doors.check_code()
    with child.folder() as folder:
        path = folder / f"{name}.py"
        path.write_bytes(text.encode(errors="replace"))  # `methods.keep` refuses what is no text

        def on_line_of_text(line: Line) -> None:
            on_line({**line, "message": line["message"].replace(str(path), "The file")})

        replaces = plugins.in_home() / path.name
        trial(path, limits, on_line=on_line_of_text, replaces=replaces, **others)
