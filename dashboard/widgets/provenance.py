"""Which runs stand behind a page: seeds, devices, dates, versions, keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

import pandas as pd
import streamlit as st

from dashboard import access, data
from dashboard.text import labels, units
from dashboard.widgets import course, presenting
from dashboard.widgets.markdown import escape
from mucore import catalog, titles
from mucore.store import Store

# runs whose versions a page reads: whole records of thousands would take seconds
MOST_READ: Final = 300

MOST_VERSIONS: Final = 6  # sets of versions that are listed one by one


def provenance(summaries: pd.DataFrame) -> None:
    """An expander that says which runs stand behind a page: seeds, devices, precision, dates,
    versions, keys. A room is not shown it; the page's file has the runs.
    """
    if presenting.on():
        return
    course.table("runs", "Runs behind this page", runs_frame(summaries))
    with st.expander(
        f"Provenance: {units.count(len(summaries), 'run')}", icon=":material/fingerprint:"
    ):
        if summaries.empty:
            st.markdown("No run stands behind this view.")
            return
        owner = "yours" if access.presents() else "the presenter's"
        facts = {
            "Results": "demo, made by a real run that comes with the program"
            if bool(summaries["demo"].all())
            else owner,
            "Training seeds": _distinct(summaries, "training_seed"),
            "Unlearning seeds": _distinct(summaries, "unlearning_seed"),
            "Evaluation seeds": _distinct(summaries, "evaluation_seed"),
            "Device": _distinct(summaries, "device"),
            "Precision": _distinct(summaries, "precision"),
            "Forget sets": _distinct(summaries, "forget_hash"),
        }
        facts["Newest run"] = f"{local_time(summaries['finished']).max():%Y-%m-%d %H:%M}"
        facts |= _version_facts(summaries)
        st.markdown(
            "\n".join(f"- **{name}**: {escape(str(value))}" for name, value in facts.items())
        )
        st.dataframe(runs_frame(summaries), hide_index=True, height=240)


def _version_facts(summaries: pd.DataFrame) -> dict[str, str]:
    """The versions that made the runs, one line where all have the same ones, else a line for each
    set of versions, most runs first.
    """
    source, read = data.source(), spread(summaries)
    sets = _versions(source.store, source.name, source.change, read)
    of = "" if len(read) == len(summaries) else f", of {len(read)} runs spread over time"
    if len(sets) < 2:
        return {f"Versions{of}": _version_text(sets[0][0]) for _ in sets[:1] if sets[0][0]}
    names = dict.fromkeys(name for versions, _ in sets for name, _ in versions)
    differ = [name for name in names if len({dict(versions).get(name) for versions, _ in sets}) > 1]
    same = _version_text([(name, version) for name, version in sets[0][0] if name not in differ])
    found = {
        f"Versions differ{of}": f"in {', '.join(differ)}" + (f"; all have {same}" if same else "")
    }
    for versions, count in sets[:MOST_VERSIONS]:
        own = [(name, dict(versions).get(name, "not recorded")) for name in differ]
        found[f"Made by {_version_text(own)}"] = units.count(count, "run")
    if len(sets) > MOST_VERSIONS:
        found["Made by other versions"] = units.count(
            sum(count for _, count in sets[MOST_VERSIONS:]), "run"
        )
    return found


def _version_text(versions: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions)


def spread(summaries: pd.DataFrame) -> tuple[str, ...]:
    """The keys of the runs, or of `MOST_READ` of them spread evenly over time, the first and the
    last one among them.
    """
    keys = summaries.sort_values("finished")["key"].tolist()
    if len(keys) <= MOST_READ:
        return tuple(keys)
    return tuple(
        keys[round(place * (len(keys) - 1) / (MOST_READ - 1))] for place in range(MOST_READ)
    )


@st.cache_data(show_spinner=False, max_entries=32)
def _versions(
    _store: Store, name: str, change: int, keys: tuple[str, ...]
) -> list[tuple[tuple[tuple[str, str], ...], int]]:
    """Each set of versions that made runs of `keys` and how many of them, most first; `name` and
    `change` say which store, and when.
    """
    found = Counter(
        tuple(result.versions.items()) for result in _store.results(metrics=False, keys=keys)
    )
    return found.most_common()


def _distinct(frame: pd.DataFrame, column: str) -> str:
    values = [units.plain(value) for value in sorted(frame[column].dropna().unique().tolist())]
    return units.shortened(values, 12) or "–"


def runs_frame(summaries: pd.DataFrame) -> pd.DataFrame:
    """Runs as a table for reading, the newest first."""
    newest = summaries.sort_values("finished", ascending=False)
    return pd.DataFrame(
        {
            "Finished": local_time(newest["finished"]),
            "Method": _said(newest["method"], lambda name: labels.method_names(name)[0]),
            "Scenario": _said(newest["scenario"], lambda name: catalog.scenario(name).title),
            "Data set": _said(newest["dataset"], titles.dataset),
            "Model": _said(newest["model"], titles.model),
            "Settings": _said(newest["method_preset"], labels.preset_title),
            "Training seed": newest["training_seed"],
            "Unlearning seed": newest["unlearning_seed"],
            "Evaluation seed": newest["evaluation_seed"],
            "Status": newest["status"],
            "Device": newest["device"],
            "Seconds": newest["seconds"].astype(float).round(1),
            "Key": newest["key"],
        }
    )


def _said(names: pd.Series, title: Callable[[str], str]) -> list[str]:
    """Each name as people read it; a training has no scenario. Thousands of rows hold a handful."""
    told = {
        name: title(name) if isinstance(name, str) else "training"
        for name in names.unique().tolist()
    }
    return [told[name] for name in names.tolist()]


def local_time(moments: pd.Series) -> pd.Series:
    """Stored UTC times in the reader's time zone, without zone."""
    return (
        pd.to_datetime(moments, utc=True)
        .dt.tz_convert(st.context.timezone or "UTC")
        .dt.tz_localize(None)
    )
