"""Launch: a method that is written on the page, tried in a process of its own, and used like any
other.

What is typed is kept as a draft at each pause. Whether code may come from this page is asked where
it is tried and kept (`mucore.userfiles.doors.check_code`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any, Final

import pandas as pd
import streamlit as st

from dashboard import access, assets, data, state
from dashboard.sections.launch.methods import FIRST_METHODS
from dashboard.text import labels, units
from dashboard.widgets import messages
from dashboard.widgets.code_editor import editor
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import local_time
from mucore.catalog import plugins
from mucore.catalog.plugins import Plugin
from mucore.errors import BadFile, MucoreError
from mucore.runner import children, trial
from mucore.store.rows import ACTIVE
from mucore.userfiles import methods

NEW: Final = ""
MOST_PRINTED: Final = 4000  # letters
MOST_WAITING: Final = 100_000  # runs that are looked through
_TEXT, _REVISION, _BEFORE = "own_method_text", "own_method_revision", "own_method_before"
_TRIED, _FAILED, _USED = "own_method_tried", "own_method_failed", "own_method_used"


def write_method() -> None:
    """The editor, the check with a line for each rule, and the methods that were written here."""
    if sentence := access.why_no_code():
        st.info(sentence, icon=":material/lock:")
        return
    text = _text()
    tried = state.ticket(_TRIED) or {}
    current = tried.get("text") == text
    st.caption(
        "The card at the top says what forms and tables show; the function below it gets a copy of "
        "the original and returns it changed. Tab indents, Esc and then Tab leaves the field, "
        "Ctrl+Enter checks. What you type is kept."
    )
    go = editor(
        "Python code of the method",
        "own_method_editor",
        text,
        state.ticket(_REVISION) or 0,
        on_change=_typed,
        checked=str(tried.get("text", "")),
        marked=_lines_named(tried.get("lines", [])) if current else (),
    )
    passed = current and bool(tried["lines"]) and all(each["passed"] for each in tried["lines"])
    with st.container(horizontal=True, gap="small"):
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
            help=None
            if passed
            else "Available once every rule is green for the code as it stands now.",
            on_click=_use,
            args=(text,),
        )
        if state.ticket(_BEFORE) is not None:
            st.button(
                "Back to what I had",
                key="method_before",
                icon=":material/undo:",
                type="tertiary",
                on_click=_open,
                args=(state.ticket(_BEFORE),),
            )
    if failure := state.ticket(_FAILED):
        messages.problem(failure)
        state.set_ticket(_FAILED, None)
    if pressed or go:
        _check(text)
        st.rerun()
    if current:
        for line in tried["lines"]:
            _say(line)
        _verdict(tried, passed)
    elif tried:
        st.caption("The code has changed since it was checked.")
    _written_here()


def said() -> None:
    """On Launch's form, once: that the method is there."""
    if name := state.ticket(_USED):
        state.set_ticket(_USED, None)
        st.success(
            escape(f"{name} is among the methods below, under “Your own”, and ticked."),
            icon=":material/check:",
        )


def _text() -> str:
    """What the field holds: what was typed in this session, else the draft, else the template."""
    if state.ticket(_TEXT) is None:
        state.set_ticket(_TEXT, methods.draft() or template())
    return str(state.ticket(_TEXT))


def template() -> str:
    return assets.text("own_method.py.txt")


def _typed(text: str) -> None:
    """A callback. A full disk costs the draft alone, and is told."""
    state.set_ticket(_TEXT, text)
    try:
        methods.keep_draft(text)
    except MucoreError as failure:
        state.set_ticket(_FAILED, str(failure))


def _open(text: str) -> None:
    """A callback: another text takes the place of the one in the field, which can be brought
    back.
    """
    before = state.ticket(_TEXT)
    state.set_ticket(_BEFORE, before if before not in (None, text) else None)
    state.set_ticket(_REVISION, (state.ticket(_REVISION) or 0) + 1)
    _typed(text)


# -- the check


def _check(text: str) -> None:
    """Try the method; each rule shows as it is decided. A click elsewhere ends it."""
    lines: list[dict[str, Any]] = []
    printed: list[str] = []
    with st.status("Checking in a process of its own", expanded=True) as status:
        clock, told = st.empty(), -1
        began = time.monotonic()

        def asked() -> None:
            nonlocal told
            if (now := int(time.monotonic() - began)) > told:
                told = now
                # also where Streamlit ends this run of the page, if the reader did something else
                clock.caption(f"{units.count(now, 'second')}; it may take {limits.seconds:g}.")

        def on_line(line: dict[str, Any]) -> None:
            lines.append(line)
            _say(line)

        try:
            limits = children.short_limits()
            trial.trial_of_text(
                text, _name(text), limits, on_line=on_line, on_print=printed.append, asked=asked
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


def _verdict(tried: dict[str, Any], passed: bool) -> None:
    failed = sum(not each["passed"] for each in tried["lines"])
    st.markdown(
        "**Every rule is kept.** “Use it” puts the method among the others."
        if passed
        else (
            f"**{units.count(failed, 'rule')} broken.** Fix the code above, and check again. Some "
            "rules are tried only once earlier ones are kept."
        )
    )
    if tried["printed"]:
        with st.expander("What it printed"):
            st.code(tried["printed"], language=None)


def _lines_named(lines: list[dict[str, Any]]) -> set[int]:
    """The numbers of lines that failed checks name."""
    found = re.findall(r"\bline (\d{1,6})\b", " ".join(each["message"] for each in lines))
    return {int(each) for each in found}


# -- what is kept


def _use(text: str) -> None:
    """A callback: keep the method, tick it, and go back to the form."""
    try:
        plugin = methods.keep(text, waiting=_waiting())
    except MucoreError as failure:
        state.set_ticket(_FAILED, str(failure))
        return
    ticked = [each for each in state.params("methods") if each] or list(FIRST_METHODS)
    state.set_param("methods", list(dict.fromkeys([*ticked, plugin.card.id])))
    state.set_param("own", None)
    state.set_ticket(_USED, plugin.card.title)


def _delete(name: str) -> None:
    try:
        methods.delete(name, waiting=_waiting())
    except MucoreError as failure:
        state.set_ticket(_FAILED, str(failure))
        return
    if name in state.params("methods"):
        left = [each for each in state.params("methods") if each != name]
        state.set_param("methods", left or [""])


def _waiting() -> list[str]:
    """The methods of the runs that wait or run."""
    jobs = data.own_store().jobs(states=ACTIVE, kind="run", limit=MOST_WAITING)
    return [str(job.spec.get("method")) for job in jobs]


def _written_here() -> None:
    """The reader's own methods, and what can be done with those that were written here."""
    st.subheader("Your methods", anchor=False)
    here = {each.card.id: each for each in methods.listed()}
    others = [
        each
        for each in plugins.found().plugins
        if each.card.id not in here and each.card.family == "own"
    ]
    kept = methods.versions()
    every = [*here.values(), *others]
    if not every and not kept:
        st.markdown(
            "There is none yet. The field above holds a template that works: check it, use it, "
            "change it."
        )
        return
    if every:
        _table(every, here)
    pick, version, actions = st.columns([3, 3, 4], vertical_alignment="bottom", gap="small")
    names = {each.card.id: f"{each.card.title} (deleted)" for each in kept}
    names |= {each.card.id: labels.method_names(each.card.id)[0] for each in every}
    with pick:
        options = [NEW, *names]
        name = st.selectbox(
            "Open",
            options,
            key="own_method_pick",
            format_func=lambda each: names.get(each, "A new one, from the template"),
        )
    found = [each for each in kept if each.card.id == name]
    with version:
        chosen = (
            found[_pick_version(found, here.get(name))]
            if found
            else next((each for each in every if each.card.id == name), None)
        )
    with actions, st.container(horizontal=True, gap="small"):
        st.button(
            "Open it above",
            key="open_method",
            icon=":material/edit:",
            on_click=_opened,
            args=(chosen,),
        )
        if name in here:
            with st.popover("Delete", icon=":material/delete:", key="delete_method_question"):
                st.markdown(
                    escape(
                        f"Take {names[name]} out of the methods? Its results and its versions stay."
                    )
                )
                st.button(
                    "Delete it", key="delete_method", type="primary", on_click=_delete, args=(name,)
                )


def _table(every: list[Plugin], here: Mapping[str, Plugin]) -> None:
    changed = pd.Series([each.path.stat().st_mtime for each in every])
    frame = pd.DataFrame(
        {
            "Method": [each.card.title for each in every],
            "Id": [each.card.id for each in every],
            "Version": [each.source_hash for each in every],
            "Kept": ["here" if each.card.id in here else "in a folder" for each in every],
            "Changed": local_time(pd.to_datetime(changed, unit="s")),
            "What it does": [each.card.summary for each in every],
        }
    )
    st.dataframe(frame, hide_index=True)


def _pick_version(found: list[Plugin], now: Plugin | None) -> int:
    def title(place: int) -> str:
        used = now is not None and found[place].source_hash == now.source_hash
        return f"{found[place].source_hash}, in use" if used else found[place].source_hash

    return st.selectbox("Version", range(len(found)), key="own_method_version", format_func=title)


def _opened(plugin: Plugin | None) -> None:
    """A callback."""
    try:
        _open(template() if plugin is None else methods.source(plugin))
    except MucoreError as failure:
        state.set_ticket(_FAILED, str(failure))
