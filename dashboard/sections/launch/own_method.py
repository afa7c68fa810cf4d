"""Launch: a method that is written on the page, tried in a process of its own, and used like any
other. Parameter `own` of the address opens it; the form's choices stay in the address meanwhile.

What is typed is kept as a draft at each pause. Whether code may come from this page is asked where
it is tried and kept (`mucore.userfiles.doors.check_code`).
"""

from __future__ import annotations

import time
from typing import Any, Final

import streamlit as st

from dashboard import access, assets, data, state
from dashboard.widgets import header, messages
from dashboard.widgets.code_editor import editor
from dashboard.widgets.markdown import escape
from mucore.errors import BadFile, MucoreError
from mucore.runner import child
from mucore.store.records import ACTIVE
from mucore.testing import contract_check
from mucore.userfiles import methods

# ticked at first: quick ones, each of another family
FIRST_METHODS: Final = ("gradient_ascent", "scrub", "random_labels", "finetune", "duck")
TEMPLATE: Final = "template"
MOST_PRINTED: Final = 4000  # letters
MOST_WAITING: Final = 100_000  # runs that are looked through
_TEXT, _REVISION = "own_method_text", "own_method_revision"
_TRIED, _FAILED, _USED = "own_method_tried", "own_method_failed", "own_method_used"


def opened() -> bool:
    return state.param("own") == "method"


def write_method() -> None:
    """The editor, the check with a line for each rule, and the methods that were written here."""
    header.header(
        "How would you make a model forget?",
        "The card at the top says what forms and tables show; the function below it gets a copy of "
        "the original and returns it changed. The check runs it on two small problems, in a "
        "process of its own. Tab indents, Esc and then Tab leaves the field.",
    )
    st.button(
        "Back to the comparison",
        key="leave_own",
        icon=":material/arrow_back:",
        on_click=state.set_param,
        args=("own", None),
    )
    if sentence := access.why_no_code():
        st.info(sentence, icon=":material/lock:")
        return
    text = _text()
    tried = state.ticket(_TRIED) or {}
    current = tried.get("text") == text
    passed = current and bool(tried["lines"]) and all(each["passed"] for each in tried["lines"])
    go = editor(
        "Python code of the method",
        "own_method_editor",
        text,
        state.ticket(_REVISION) or 0,
        on_change=_typed,
    )
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        pressed = st.button(
            "Check",
            key="check_method",
            icon=":material/rule:",
            type="secondary" if passed else "primary",
        )
        st.button(
            "Use it",
            key="use_method",
            icon=":material/check:",
            type="primary" if passed else "secondary",
            disabled=not passed,
            on_click=_use,
            args=(text,),
        )
        st.caption("Ctrl+Enter runs the check. Your code is saved as you type.")
    if failure := state.ticket(_FAILED):
        messages.problem(failure)
        state.set_ticket(_FAILED, None)
    if pressed or go:
        _check(text)
        st.rerun()
    if current:
        for line in tried["lines"]:
            _say(line)
        if tried["printed"]:
            with st.expander("What it printed"):
                st.code(tried["printed"], language=None)
    _written_here()


def said() -> None:
    """On Launch's form, once: that the method is there."""
    if name := state.ticket(_USED):
        state.set_ticket(_USED, None)
        st.success(escape(f"{name} is chosen below."), icon=":material/check:")


def _text() -> str:
    """What the field holds: what was typed in this session, else the draft, else the template."""
    if state.ticket(_TEXT) is None:
        state.set_ticket(_TEXT, methods.draft() or _source(TEMPLATE))
    return str(state.ticket(_TEXT))


def _typed(text: str) -> None:
    """A callback. A full disk costs the draft alone, and is told."""
    state.set_ticket(_TEXT, text)
    with messages.kept(_FAILED):
        methods.keep_draft(text)


# -- the check


def _check(text: str) -> None:
    """Try the method; each rule shows as it is decided. A click elsewhere ends it."""
    lines: list[dict[str, Any]] = []
    printed: list[str] = []
    with st.status("Checking in a process of its own", expanded=True) as status:
        clock, began = st.empty(), time.monotonic()

        def on_line(line: dict[str, Any]) -> None:
            lines.append(line)
            _say(line)

        def asked() -> None:
            # also where Streamlit ends this run of the page, if the reader did something else
            clock.caption(f"{time.monotonic() - began:.0f} s")

        try:
            contract_check.trial_of_text(
                text,
                _name(text),
                child.limits(),
                on_line=on_line,
                on_print=printed.append,
                asked=asked,
            )
        except MucoreError as failure:
            on_line({"rule": "it can be tried", "passed": False, "message": str(failure)})
        status.update(state="complete" if all(each["passed"] for each in lines) else "error")
    state.set_ticket(
        _TRIED, {"text": text, "lines": lines, "printed": "\n".join(printed)[-MOST_PRINTED:]}
    )


def _name(text: str) -> str:
    try:
        return methods.read(text).card.id
    except BadFile:
        return "method"


def _say(line: dict[str, Any]) -> None:
    icon = ":green[:material/check_circle:]" if line["passed"] else ":red[:material/cancel:]"
    rule = line["rule"][:1].upper() + line["rule"][1:]
    st.markdown(f"{icon} {escape(rule)}" + (f"  \n{escape(m)}" if (m := line["message"]) else ""))


# -- what is kept


def _written_here() -> None:
    """The methods that were written here, to be opened in the field above or deleted."""
    here = {each.card.id: each.card.title for each in methods.listed()}
    pick, actions = st.columns([3, 5], vertical_alignment="bottom", gap="small")
    with pick:
        name = st.selectbox(
            "Your methods",
            [TEMPLATE, *here],
            key="own_method_pick",
            format_func=lambda each: here.get(each, "A new one, from the template"),
        )
    with actions, st.container(horizontal=True, gap="small"):
        with st.popover("Load into editor", icon=":material/edit:", key="open_method_question"):
            st.markdown("This replaces the code in the field.")
            st.button("Replace it", key="open_method", type="primary", on_click=_open, args=(name,))
        if name in here:
            with st.popover("Delete", icon=":material/delete:", key="delete_method_question"):
                st.markdown(escape(f"Remove {here[name]} from the methods? Its results stay."))
                st.button(
                    "Delete it", key="delete_method", type="primary", on_click=_delete, args=(name,)
                )


def _source(name: str) -> str:
    """The text of one of the methods that were written here, or the template."""
    if name == TEMPLATE:
        return assets.text("own_method.py.txt")
    return methods.source(next(each for each in methods.listed() if each.card.id == name))


def _open(name: str) -> None:
    """A callback."""
    with messages.kept(_FAILED):
        text = _source(name)
        state.set_ticket(_REVISION, (state.ticket(_REVISION) or 0) + 1)
        _typed(text)


def _use(text: str) -> None:
    """A callback: keep the method, choose it, and go back to the form."""
    with messages.kept(_FAILED):
        plugin = methods.keep(text, waiting=_waiting())
        chosen = [each for each in state.params("methods") if each] or FIRST_METHODS
        state.set_param("methods", list(dict.fromkeys([*chosen, plugin.card.id])))
        state.set_param("own", None)
        state.set_ticket(_USED, plugin.card.title)


def _delete(name: str) -> None:
    """A callback."""
    with messages.kept(_FAILED):
        methods.delete(name, waiting=_waiting())
        if name in state.params("methods"):
            left = [each for each in state.params("methods") if each != name]
            state.set_param("methods", left or [""])


def _waiting() -> list[str]:
    """The methods of the runs that wait or run."""
    jobs = data.own_store().jobs(states=ACTIVE, kind="run", limit=MOST_WAITING)
    return [str(job.spec.get("method")) for job in jobs]
