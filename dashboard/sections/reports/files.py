"""What comes out: the files, and the buttons that make them."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dashboard import access, data, state
from dashboard import report as evidence
from dashboard.report import render
from dashboard.sections.reports import making
from dashboard.text import labels, units
from dashboard.widgets import messages, run_filters
from dashboard.widgets.markdown import escape
from mucore.errors import MucoreError
from mucore.export import records, tables
from mucore.store import Store
from mucore.verdicts import judge_stored

SUFFIXES = {
    "HTML": ("html", "text/html"),
    "PDF": ("pdf", "application/pdf"),
    "LaTeX": ("tex", "text/x-tex"),
    "Figures": ("zip", "application/zip"),
}


@dataclass(frozen=True)
class File:
    """A file that was made: of which selection, at which state of the store."""

    selection: tuple
    change: int
    content: bytes


def show(
    source: data.Source, runs: pd.DataFrame, parts: list[str], typed: tuple[str, str, str]
) -> None:
    st.subheader("Files", anchor=False)
    keys = tuple(sorted(runs["key"]))
    name = f"unlearning-{labels.short_id(' '.join(keys))}"
    named = run_filters.comparison_shown()
    comparison = "" if named is None else named.name + (f". {named.note}" if named.note else "")
    if len(runs) > evidence.MAX_RUNS:
        st.warning(
            f"{units.count(len(runs), 'run')} are too many for one report; at most "
            f"{evidence.MAX_RUNS}. Choose fewer scenarios, forget sets or methods. CSV and JSON "
            "have no limit.",
            icon=":material/filter_alt:",
        )
    else:
        show_reports(source, keys, parts, typed, name, comparison)
    st.caption("All numbers of these runs, in full precision")
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            "CSV",
            access.in_turn(lambda: tables.to_csv(tables.comparison_frame(source.store, keys=keys))),
            f"{name}.csv",
            "text/csv",
            key="numbers:csv",
            on_click="ignore",
        )
        st.download_button(
            "JSON",
            access.in_turn(lambda: as_json(source.store, keys)),
            f"{name}.json",
            "application/json",
            key="numbers:json",
            on_click="ignore",
        )


def show_reports(
    source: data.Source,
    keys: tuple[str, ...],
    parts: list[str],
    typed: tuple[str, str, str],
    name: str,
    comparison: str,
) -> None:
    """Buttons that make a file; one that is made has its download below, until the selection
    changes.
    """
    kinds = {"HTML": "report", "PDF": "report", "LaTeX": "tables", "Figures": "figures"}
    helps = {
        "HTML": "The whole report in one file that opens anywhere and loads nothing from "
        "elsewhere.",
        "PDF": "The same, printed by the browser of this machine."
        if render.browser()
        else render.NO_BROWSER,
        "LaTeX": "Every table in one document that compiles on its own (booktabs).",
        "Figures": "Every figure as SVG, PNG and PDF in one archive."
        if render.draws()
        else "Every figure as a page that draws itself.",
    }
    asked = ""
    with st.container(horizontal=True, gap="small"):
        for kind in kinds:
            off = kind == "PDF" and not render.browser()
            if st.button(
                kind, key=f"make:{kind}", icon=":material/build:", help=helps[kind], disabled=off
            ):
                asked = kind
    if not render.browser():
        st.caption(render.NO_BROWSER)
    now = (source.name, keys, tuple(parts), typed)
    made = {
        kind: file
        for kind, file in (state.ticket("reports") or {}).items()
        if file.selection == now
    }
    if asked:
        with st.status(f"Making {asked}", expanded=False) as progress:
            try:
                with access.heavy():
                    content = making.make(
                        asked,
                        source,
                        keys,
                        parts,
                        typed,
                        comparison,
                        lambda text: progress.update(label=text),
                    )
                made[asked] = File(now, source.change, content)
                progress.update(label=f"{asked} is ready", state="complete")
            except MucoreError as failure:
                messages.error(escape(str(failure)))
                progress.update(label="Not made", state="error", expanded=True)
    state.set_ticket("reports", made)
    with st.container(horizontal=True, gap="small"):
        for kind in [kind for kind in kinds if kind in made]:
            suffix, mime = SUFFIXES[kind]
            content = made[kind].content
            st.download_button(
                f"Download {kind} ({units.size(len(content))})",
                content,
                f"{name}-{kinds[kind]}.{suffix}",
                mime,
                key=f"get:{kind}",
                icon=":material/download:",
                type="primary",
                on_click="ignore",
            )
    if any(file.change != source.change for file in made.values()):
        st.caption(
            "The store has changed since a file was made. Make it again for the newest numbers."
        )


def as_json(store: Store, keys: tuple[str, ...]) -> str:
    judged = judge_stored(store, keys=keys)
    found = [
        records.describe(result, judged=judged.get(result.key))
        for result in store.results(keys=keys)
    ]
    return json.dumps(found, indent=1, ensure_ascii=False, default=str)
