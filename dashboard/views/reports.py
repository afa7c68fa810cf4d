"""Reports: a selection of runs as an evidence report, tables for LaTeX, figures, and all its
numbers.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import pandas as pd
import streamlit as st
from plotly.offline import get_plotlyjs

from dashboard import data, frames, state
from dashboard import report as evidence
from dashboard.report import html as report_html
from dashboard.report import latex as report_latex
from dashboard.report import render
from dashboard.text import labels, units
from dashboard.widgets import header, messages, run_drawer, run_filters
from dashboard.widgets.markdown import escape
from dashboard.widgets.provenance import provenance
from mucore import catalog
from mucore.errors import MucoreError
from mucore.export import tables
from mucore.store import Store
from mucore.verdicts import judge_stored

QUESTION = "What can I hand to somebody who must check it?"
CAPTION = (
    "One file with what was asked, the answer, tables, figures, caveats, and the command "
    "that repeats every run."
)
README = """\
The browser of the machine that made this folder could not draw these figures, so they are
pages that draw themselves:
open one and save it with its camera button. plotly.min.js must lie beside them.
"""
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


def page() -> None:
    source = data.source()
    header.header(QUESTION, CAPTION, source)
    runs = data.unlearning_runs()
    if runs.empty:
        messages.empty(
            "There are no results to report yet. A small comparison takes a few minutes on a "
            "laptop.",
            "Launch a comparison",
            "launch",
        )
        return
    runs = pick(runs)
    if runs.empty:
        messages.empty("No run of this selection has finished yet.", "Watch the queue", "queue")
        return
    header.answers(evidence.standing(runs), first=evidence.counts_sentence(data.judged(runs)))
    left, right = st.columns([1, 1], gap="large")
    with left:
        parts = pick_parts(evidence.outline(runs))
    with right:
        typed = heading()
        show_downloads(source, runs, parts, typed)
    run_drawer.run_drawer(runs)
    provenance(runs)


# --- what goes in
# --------------------------------------------------------------------------------------------------


def pick(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs of one data set, model and recipe, of any scenarios, forget sets and methods; none
    chosen means all of them.

    Without anything in the address, those of whole classes, as on other pages, else of the scenario
    with most runs.
    """
    place = header.filter_row([1.5, 2.4, 2.4, 1.5])
    with place[0]:
        runs = run_filters.pick_data(runs)
    with place[1]:
        present = frames.setups(runs, "scenario")
        order = [card.id for card in catalog.scenarios() if card.id in present]
        order += [name for name in present if name not in order]
        usual = next((name for name in run_filters.OPENS_ON if name in present), present[0])
        wanted = state.multiselect(
            "Scenarios",
            "scenario",
            order,
            default=[usual],
            format_func=title,
            placeholder="All scenarios",
        )
        runs = runs[runs["scenario"].isin(wanted)] if wanted else runs
    with place[2]:
        sets = {
            labels.short_id(f"{name} {text}"): (str(name), str(text))
            for name, text in forget_sets(runs)
        }
        dataset = str(next(iter(runs["dataset"]), ""))
        label = {
            name: f"{title(scenario)}: {labels.set_text(text, dataset)}"
            for name, (scenario, text) in sets.items()
        }
        chosen = state.multiselect(
            "Forget sets",
            "sets",
            list(sets),
            format_func=lambda name: label[name],
            placeholder="All forget sets",
        )
        if chosen:
            kept = {sets[name] for name in chosen}
            runs = runs[
                [
                    pair in kept
                    for pair in zip(runs["scenario"], runs["scenario_parameters"], strict=True)
                ]
            ]
    with place[3]:
        picked = run_filters.pick_methods(runs)
    run_filters.said(runs)
    return picked


def forget_sets(runs: pd.DataFrame) -> list[tuple[str, str]]:
    return list(
        runs[["scenario", "scenario_parameters"]]
        .drop_duplicates()
        .sort_values(["scenario", "scenario_parameters"])
        .itertuples(index=False, name=None)
    )


def title(scenario: str) -> str:
    known = {card.id: card.title for card in catalog.scenarios()}
    return known.get(scenario, scenario)


def pick_parts(outline: Mapping[str, str]) -> list[str]:
    """The parts of the report with what each will hold; those that would be empty cannot be chosen.
    Parameter: parts.
    """
    st.subheader("Outline", anchor=False)
    possible = [name for name in evidence.PARTS if outline.get(name)]
    named = state.choices("parts", possible, possible)
    chosen = []
    st.caption("What was asked, and what to read with care, is always in it.")
    for name, label in evidence.PARTS.items():
        if name not in possible:
            st.checkbox(
                f"{label} :gray[· nothing in this selection]",
                value=False,
                disabled=True,
                key=f"none:{name}",
            )
        elif state.tick(f"{label} :gray[· {escape(outline[name])}]", "parts", name, name in named):
            chosen.append(name)
    state.set_ticked("parts", chosen, possible)
    return chosen


def heading() -> tuple[str, str, str]:
    """Title (in the address), author and remark as typed, each of limited length."""
    st.subheader("Title page", anchor=False)
    name = state.text(
        "Title", "title", default=evidence.DEFAULT_TITLE, max_chars=evidence.MAX_TITLE
    )
    author = (
        st.text_input(
            "Author",
            max_chars=evidence.MAX_AUTHOR,
            key="report_author",
            placeholder="Your name, your group",
        )
        or ""
    )
    remark = (
        st.text_area(
            "Remark",
            max_chars=evidence.MAX_REMARK,
            key="report_remark",
            height=80,
            placeholder="Why the runs were made, what was decided",
        )
        or ""
    )
    return name, author, remark


# --- what comes out
# --------------------------------------------------------------------------------------------------


def show_downloads(
    source: data.Source, runs: pd.DataFrame, parts: list[str], typed: tuple[str, str, str]
) -> None:
    st.subheader("Files", anchor=False)
    keys = tuple(sorted(runs["key"]))
    name = f"unlearning-{labels.short_id(' '.join(keys))}"
    named = next(
        (one for one in data.comparisons() if str(one.id) == state.param("comparison")), None
    )
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
            lambda: tables.to_csv(tables.comparison_frame(source.store, keys=keys)),
            f"{name}.csv",
            "text/csv",
            key="numbers:csv",
            on_click="ignore",
        )
        st.download_button(
            "JSON",
            lambda: as_json(source.store, keys),
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
        "LaTeX": "Every table in one document that compiles by itself (booktabs).",
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
                content = make(
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


def make(
    kind: str,
    source: data.Source,
    keys: tuple[str, ...],
    parts: list[str],
    typed: tuple[str, str, str],
    comparison: str,
    say: Callable[[str], None],
) -> bytes:
    """The file; every step is kept, so that the second format of a report starts where the first
    one ended.
    """
    say("Reading the runs, computing statistics")
    whole = built(source.store, source.name, source.change, keys, comparison)
    chosen = whole.only(parts).titled(*typed)
    if kind == "LaTeX":
        return report_latex.latex(chosen).encode()
    names = tuple(picture.name for picture in chosen.pictures)
    if kind == "Figures":
        say(f"Drawing {units.count(len(names), 'figure')} in three formats")
        return archive(chosen, source.name, source.change, keys, names)
    say(f"Drawing {units.count(len(names), 'figure')}")
    drawings = drawn(chosen, source.name, source.change, keys, names)
    page = report_html.html(chosen, drawings)
    if kind == "HTML":
        return page.encode()
    say("Printing the pages")
    return printed(page)


@st.cache_data(show_spinner=False, max_entries=8)
def built(
    _store: Store, name: str, change: int, keys: tuple[str, ...], comparison: str
) -> evidence.Report:
    """The report of these runs with all parts; `name` and `change` say which store, and when it was
    read.
    """
    return evidence.build(
        _store.summaries(keys=keys),
        _store.metric_values(keys=keys),
        _store.results(keys=keys),
        made=datetime.now(UTC),
        comparison=comparison,
    )


@st.cache_data(show_spinner=False, max_entries=8)
def drawn(
    _report: evidence.Report,
    name: str,
    change: int,
    keys: tuple[str, ...],
    pictures: tuple[str, ...],
) -> dict[str, bytes | None]:
    """The report's figures as SVG, None for each that could not be drawn."""
    return dict(
        zip(
            pictures,
            render.images([picture.figure for picture in _report.pictures], "svg"),
            strict=True,
        )
    )


@st.cache_data(show_spinner=False, max_entries=4)
def archive(
    _report: evidence.Report,
    name: str,
    change: int,
    keys: tuple[str, ...],
    pictures: tuple[str, ...],
) -> bytes:
    """The figures as SVG, PNG and PDF; one that no browser could draw is a page that draws
    itself.
    """
    figures = [picture.figure for picture in _report.pictures]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        found: set[str] = set()
        for kind in ("svg", "png", "pdf"):
            for picture, image in zip(pictures, render.images(figures, kind), strict=True):
                if image is not None:
                    file.writestr(f"{picture}.{kind}", image)
                    found.add(picture)
        lost = [picture for picture in _report.pictures if picture.name not in found]
        for picture in lost:
            file.writestr(
                f"{picture.name}.html", picture.figure.to_html(include_plotlyjs="directory")
            )
        if lost:
            file.writestr("plotly.min.js", get_plotlyjs())
            file.writestr("README.txt", README)
        file.writestr(
            "figures.txt", "".join(evidence.listed(picture) for picture in _report.pictures)
        )
    return buffer.getvalue()


@st.cache_data(show_spinner=False, max_entries=4)
def printed(page: str) -> bytes:
    return render.pdf(page)


def as_json(store: Store, keys: tuple[str, ...]) -> str:
    judged = judge_stored(store, keys=keys)
    found = [
        tables.describe(result, judged=judged.get(result.key))
        for result in store.results(keys=keys)
    ]
    return json.dumps(found, indent=1, ensure_ascii=False, default=str)


page()
