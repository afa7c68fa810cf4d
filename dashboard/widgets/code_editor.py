"""A field for a program: monospaced, with numbered lines, which indents as programmers expect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import streamlit as st

from dashboard import assets, state

_HTML: Final = (
    '<div class="editor"><div class="numbers" aria-hidden="true"></div>'
    '<textarea spellcheck="false" autocapitalize="off" autocomplete="off"></textarea></div>'
)


def editor(
    label: str, key: str, text: str, revision: int, *, on_change: Callable[[str], None]
) -> bool:
    """The field, which shows `text` where `revision` is another than before, and otherwise keeps
    what is typed; `on_change` gets that when it pauses. True where Ctrl+Enter was pressed.
    """
    component = st.components.v2.component(
        "mucore_code_editor",
        html=_HTML,
        css=assets.text("code_editor.css"),
        js=assets.text("code_editor.js"),
    )

    def changed() -> None:
        typed = getattr(state.uploaded(key), "typed", None)
        if isinstance(typed, Mapping) and typed.get("revision") == revision:
            on_change(str(typed.get("text", "")))

    found = component(
        data={"label": label, "text": text, "revision": revision},
        key=key,
        on_typed_change=changed,
        on_go_change=lambda: None,
    )
    return getattr(found, "go", None) is True
