"""What comes out: a file a button, made when it is pressed."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from dashboard import access, data, report
from dashboard.report import html, render
from dashboard.text import labels
from dashboard.widgets import run_filters
from mucore.export import records, tables
from mucore.store import Store
from mucore.verdicts import judge_stored

MAX_RUNS = 500  # more than this nobody reads


def show(source: data.Source, runs: pd.DataFrame) -> None:
    keys = tuple(sorted(runs["key"]))
    shown = run_filters.comparison_shown()
    named = "" if shown is None else f"{shown.name}. {shown.note}".removesuffix(". ")
    files: tuple[tuple[str, str, str, Callable[[], str]], ...] = (
        ("Report (HTML)", "html", "text/html", partial(page, source.store, keys, named)),
        ("Tables (LaTeX)", "tex", "text/x-tex", partial(latex, source.store, keys)),
        ("All numbers (CSV)", "csv", "text/csv", partial(csv, source.store, keys)),
        ("All records (JSON)", "json", "application/json", partial(as_json, source.store, keys)),
    )
    many = len(runs) > MAX_RUNS
    if many:
        st.warning(
            f"A report takes at most {MAX_RUNS} runs. Choose fewer forget sets or methods, or take "
            "CSV or JSON.",
            icon=":material/filter_alt:",
        )
    with st.container(horizontal=True, gap="small"):
        for label, suffix, mime, make in files:
            st.download_button(
                label,
                access.in_turn(make),
                f"unlearning-{labels.short_id(' '.join(keys))}.{suffix}",
                mime,
                key=f"get:{suffix}",
                icon=":material/download:",
                type="primary" if suffix == "html" else "secondary",
                disabled=many and suffix in ("html", "tex"),
                on_click="ignore",
            )


def page(store: Store, keys: tuple[str, ...], comparison: str) -> str:
    made = report.build(store, keys, comparison)
    drawn = render.images([picture.figure for picture in made.pictures], "svg")
    names = [picture.name for picture in made.pictures]
    return html.html(made, dict(zip(names, drawn, strict=True)))


def latex(store: Store, keys: tuple[str, ...]) -> str:
    found, _ = report.read(store, keys)
    return report.latex(found)


def csv(store: Store, keys: tuple[str, ...]) -> str:
    return tables.to_csv(tables.comparison_frame(store, keys=keys))


def as_json(store: Store, keys: tuple[str, ...]) -> str:
    judged = judge_stored(store, keys=keys)
    found = [
        records.describe(result, judged=judged.get(result.key))
        for result in store.results(keys=keys)
    ]
    return json.dumps(found, indent=1, ensure_ascii=False, default=str)
