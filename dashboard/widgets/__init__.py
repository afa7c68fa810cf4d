"""The small parts that every page shares: heads, empty states, number tables with downloads,
provenance, forms from cards, errors.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import assets, data, state
from dashboard.frames import Answer
from dashboard.pages import BY_ID
from dashboard.report import render
from dashboard.text import labels, units
from mucore import catalog, titles
from mucore.catalog.cards import Parameter
from mucore.errors import MucoreError
from mucore.export import tables
from mucore.spec import check
from mucore.store import Store

# Page id -> file, relative to app.py, as st.page_link and st.switch_page want it. A click on the
# page list becomes one on the hidden link to the same page, unless it asks for a window of its own.
ALONG: Final = assets.text("page_links.js")

# Streamlit changes its own colours at once, but draws no page anew: figures and the logo would keep
# colours of the other theme.
FOLLOW_THEME: Final = assets.text("follow_theme.js")

# runs whose versions a page reads: whole records of thousands would take seconds
MOST_READ: Final = 300
MOST_VERSIONS: Final = 6  # sets of versions that are listed one by one

# The column is as high as its neighbour, so the container's frame has a way to go in it; `top`
# leaves room for the bar of the page.
STICKY: Final = assets.style("sticky.css")

# What every page needs beside the theme. Buttons in a row of filters are as high as its select
# boxes, so their labels stand on one line. Labels break their lines instead of ending in dots, a
# row of filters goes on below where the window is narrow, and narrow windows give less of their
# width to margins.
LAYOUT: Final = assets.style("layout.css")


# --- heads and messages
# --------------------------------------------------------------------------------------------------


def header(question: str, caption: str, source: data.Source | None = None) -> None:
    """The page's question and a line on how to read it; with `source`, the badge that says whose
    results these are.
    """
    st.html(LAYOUT)
    with st.container(gap=None):
        st.title(question, anchor=False)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            if source is not None:
                demo_badge(source)
            st.caption(caption)


def demo_badge(source: data.Source) -> None:
    """Whose results a page shows."""
    if source.demo:
        help_text = (
            "Results of a real run that come with the program. Once you have some of your "
            "own, the side bar chooses between them."
        )
        st.badge("Demo results", icon=":material/science:", color="orange", help=help_text)
    else:
        st.badge(
            "Your results",
            icon=":material/database:",
            color="blue",
            help=f"Folder {source.store.home}",
        )


def empty(text: str, button: str, page: str, **query: str | list[str]) -> None:
    """An empty state: what is missing, and the link to the page that fills it, with URL parameters
    `query`.
    """
    with st.container(border=True):
        st.markdown(text)
        link(page, button, icon=":material/arrow_forward:", **query)


def no_results(
    question: str,
    caption: str,
    sentence: str = "A small comparison takes a few minutes on a laptop.",
) -> None:
    """A whole page before there is any result; `sentence` says what fills it."""
    header(question, caption)
    empty(f"There are no results yet. {sentence}", "Launch a comparison", "launch")


def none_finished(question: str = "", source: data.Source | None = None) -> None:
    """What a page says while no run of the chosen comparison has finished; without `question`,
    below a head that is there already.
    """
    sentence = "No run of this comparison has finished yet."
    if question:
        header(question, sentence, source)
    else:
        st.markdown(sentence)
    link("queue", "Watch the queue", icon=":material/list_alt:")


def none_chosen(runs: pd.DataFrame, **query: str | list[str]) -> bool:
    """Whether `runs` are references alone; says so, with a link to Launch that fills in `query`."""
    if not runs["method"].isin(["original", "retrain"]).all():
        return False
    empty(
        "There is no method to compare with the references. Tick one under Methods, or launch one.",
        "Launch",
        "launch",
        **query,
    )
    return True


def pick_view(
    names: Mapping[str, str],
    questions: Mapping[str, str],
    captions: Mapping[str, str],
    source: data.Source,
    top: st.delta_generator.DeltaGenerator,
) -> tuple[str, st.delta_generator.DeltaGenerator]:
    """The choice among a page's views (`names` by id, parameter `view`); the head of the chosen one
    goes into `top`.

    Returns its id and a place under the head for its answers.
    """
    view = state.segmented(
        "View",
        "view",
        list(names),
        format_func=lambda name: names[name],
        label_visibility="collapsed",
    )
    with top:
        header(questions[view], captions[view], source)
        return view, st.container()


def link(page: str, label: str, *, icon: str | None = None, **query: str | list[str]) -> None:
    """A link to a page by its id; `query` are its URL parameters, a list for one that is repeated.
    Without any, the filters go along.
    """
    found = {**state.whose(), **query} if query else state.going(page)
    st.page_link(BY_ID[page].file, label=label, icon=icon, query_params=found or None)


def keep_along() -> None:
    """Let the page list of the side bar go where `link` without parameters goes, for pages that
    keep some: the same page with its whole address in one step, so that the back button leads to
    the page before.
    """
    kept = [page for page in (*state.KEPT, *state.OPENS) if state.going(page)]
    if not kept:
        return
    with st.sidebar, st.container(key="along", gap=None):
        st.html("<style>.st-key-along { display: none; }</style>")
        for page in kept:
            link(page, page)
        st.components.v2.component("mucore_along", html="<span></span>", js=ALONG)(
            key="keep_along", height=1
        )


def follow_theme() -> None:
    """Draw the page anew as soon as the reader, or the reader's system, goes over to the other
    theme.
    """
    with st.sidebar, st.container(key="follow-theme", gap=None):
        st.html("<style>.st-key-follow-theme { display: none; }</style>")
        watch = st.components.v2.component("mucore_theme", html="<span></span>", js=FOLLOW_THEME)
        watch(key="follow_theme", height=1, on_theme_change=lambda: None)


def filter_row(widths: Sequence[float]) -> list[st.delta_generator.DeltaGenerator]:
    """Columns of these relative widths for a page's filters, of which there is one row; in a narrow
    window the last ones go below.
    """
    with st.container(key="filters"):
        return st.columns(widths, vertical_alignment="bottom", gap="small")


def error(sentence: str, way_out: str = "") -> None:
    st.error(f"{sentence} {way_out}".strip(), icon=":material/error:")


def problem(sentence: str) -> None:
    """A sentence under the field that caused it."""
    st.markdown(f":red[:material/error: {escape(sentence)}]")


@contextmanager
def guarded() -> Generator[None]:
    """Turn whatever fails inside into a sentence on the page. Fragments rerun outside app.py's own
    guard and need one each.
    """
    try:
        yield
    except MucoreError as failure:
        error(escape(str(failure)))
    except Exception as failure:
        # the last line of defence: a reader never sees a traceback, the server's log keeps it
        logging.getLogger(__name__).exception("a page failed")
        error(
            f"This part of the page failed ({type(failure).__name__}: "
            f"{escape(str(failure))[:300]}).",
            "Nothing stored was changed. Reload the page; if it happens again, the server's log "
            "has the details.",
        )


def escape(text: str) -> str:
    """`text` so that Markdown shows it as it is."""
    return "".join("\\" + char if char in "\\`*_{}[]<>#$~|:" else char for char in text)


def answers(found: Sequence[Answer], *, first: str = "") -> None:
    """The answer in a few figures, side by side above a page's chart; nothing where there is none.
    `first` is a sentence above them.

    A tile that is about metrics, or names some by their short names, says under its label what
    these are.
    """
    if first:
        st.markdown(f"**{escape(first)}**")
    if not found:
        return
    for column, answer in zip(st.columns(len(found), gap="small"), found, strict=True):
        named = dict.fromkeys(
            [*answer.metrics, *labels.metrics_named(answer.label, answer.value, answer.detail)]
        )
        with column, st.container(gap=None):
            told = [answer.help, *(metric_help(name) for name in named)]
            st.caption(answer.label, help="\n\n".join(text for text in told if text) or None)
            st.markdown(f"#### {escape(answer.value)}")
            st.caption(escape(answer.detail))


def statement(sentence: str, beside: str = "") -> None:
    """A page's answer in a sentence that may be read aloud, above everything else; `beside` is what
    else belongs to it, in plain type.
    """
    with st.container(gap=None):
        st.markdown(f"**{escape(sentence)}**")
        if beside:
            st.markdown(escape(beside))


# --- figures and numbers
# --------------------------------------------------------------------------------------------------


def chart(
    figure: go.Figure, key: str, *, alt: str = "", selects: bool = False, **options: Any
) -> Any:
    """Draw a figure with our own template, not Streamlit's; `options` as on_select go to
    st.plotly_chart, whose return is passed on.

    With `selects`, its bar has a lasso and a box.
    """
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["autoScale2d", *([] if selects else ["lasso2d", "select2d"])],
        "toImageButtonOptions": {"format": "svg"},
    }
    return st.plotly_chart(figure, key=key, theme=None, config=config, alt=alt or None, **options)


def sticky(key: str) -> st.delta_generator.DeltaGenerator:
    """A container for all that stands in one column: it stays in sight while a longer column beside
    it scrolls past.

    Where columns stand below each other, and in windows too low for a figure, it scrolls with the
    page.
    """
    st.html(STICKY.replace("KEY", key))
    return st.container(key=key)


def numbers(
    frame: pd.DataFrame, name: str, figure: go.Figure | None = None, *, of: str = ""
) -> None:
    """An expander with the table behind a figure and its downloads. `name` becomes the file name
    and the session key, `of` says which numbers where a page has several.

    SVG, PNG and PDF are made by kaleido when the button is pressed, and offered only where a
    browser is installed.
    """
    with st.expander(f"Numbers: {of}" if of else "Numbers", icon=":material/table_rows:"):
        st.dataframe(frame, hide_index=True)
        with st.container(horizontal=True, gap="small"):
            for label, mime, make in _downloads(frame, figure):
                st.download_button(
                    label,
                    make,
                    f"{name}.{label.lower().replace('latex', 'tex')}",
                    mime,
                    key=f"download:{name}:{label}",
                    on_click="ignore",
                )
        if figure is not None and not render.draws():
            st.caption(
                "SVG: use the camera button of the figure. PNG and PDF need Chromium or Chrome on "
                "the server."
            )


def _downloads(
    frame: pd.DataFrame, figure: go.Figure | None
) -> list[tuple[str, str, Callable[[], bytes]]]:
    kinds: list[tuple[str, str, Callable[[], bytes]]] = [
        ("CSV", "text/csv", lambda: frame.to_csv(index=False).encode()),
        ("LaTeX", "text/x-tex", lambda: tables.to_latex(frame).encode()),
        ("HTML", "text/html", lambda: frame.to_html(index=False, na_rep="–").encode()),
    ]
    if figure is not None and render.draws():
        kinds += [
            ("SVG", "image/svg+xml", lambda: render.image(figure, "svg")),
            ("PNG", "image/png", lambda: render.image(figure, "png")),
            ("PDF", "application/pdf", lambda: render.image(figure, "pdf")),
        ]
    return kinds


def provenance(summaries: pd.DataFrame) -> None:
    """An expander that says which runs stand behind a page: seeds, devices, precision, dates,
    versions, keys.
    """
    with st.expander(
        f"Provenance: {units.count(len(summaries), 'run')}", icon=":material/fingerprint:"
    ):
        if summaries.empty:
            st.markdown("No run stands behind this view.")
            return
        facts = {
            "Results": "demo, made by a real run that comes with the program"
            if bool(summaries["demo"].all())
            else "yours",
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


def runs_frame(summaries: pd.DataFrame) -> pd.DataFrame:
    """Runs as a table for reading, the newest first."""
    newest = summaries.sort_values("finished", ascending=False)
    return pd.DataFrame(
        {
            "Finished": local_time(newest["finished"]),
            "Method": [labels.method_names(name)[0] for name in newest["method"]],
            "Scenario": [
                catalog.scenario(name).title if isinstance(name, str) else "training"
                for name in newest["scenario"]
            ],
            "Data set": [titles.dataset(str(name)) for name in newest["dataset"]],
            "Model": [titles.model(str(name)) for name in newest["model"]],
            "Settings": [labels.preset_title(str(name)) for name in newest["method_preset"]],
            "Training seed": newest["training_seed"],
            "Unlearning seed": newest["unlearning_seed"],
            "Evaluation seed": newest["evaluation_seed"],
            "Status": newest["status"],
            "Device": newest["device"],
            "Seconds": newest["seconds"].astype(float).round(1),
            "Key": newest["key"],
        }
    )


def _distinct(frame: pd.DataFrame, column: str) -> str:
    values = [units.plain(value) for value in sorted(frame[column].dropna().unique().tolist())]
    return (
        ", ".join(values[:12]) + (f" and {len(values) - 12} more" if len(values) > 12 else "")
        if values
        else "–"
    )


def local_time(moments: pd.Series) -> pd.Series:
    """Stored UTC times in the reader's time zone, without zone."""
    return (
        pd.to_datetime(moments, utc=True)
        .dt.tz_convert(st.context.timezone or "UTC")
        .dt.tz_localize(None)
    )


def metric_help(metric_id: str) -> str:
    """The tooltip of a metric: meaning, what a good value is, source, caveat."""
    title, text = labels.metric_text(metric_id)
    return f"**{title}.** {text}"


# --- forms from cards
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """What a reader typed: every checked value, those that differ from the start values, and what
    is wrong with the others.
    """

    values: dict[str, Any] = field(default_factory=dict)
    changed: dict[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def mark_changed(origin: str, value: Any) -> None:
    """Under a field that a person changed: what it was, and whose value that is."""
    st.caption(f":orange-badge[Changed] {origin}: {escape(units.plain(value))}")


def mark_preset() -> None:
    """Under a field whose value the preset sets."""
    st.caption(":blue-badge[From the preset]")


def parameter_form(
    parameters: Sequence[Parameter],
    values: Mapping[str, Any],
    key: str,
    *,
    columns: int = 3,
    owner: str = "",
    origin: str = "default",
    preset: Collection[str] = (),
) -> Form:
    """One field a parameter, starting at `values`, bound to the URL parameters `<key>.<name>`; a
    bad value gets its sentence below it.

    The sentence opens with `owner`. Values that a person changed are marked with what they were,
    which is of `origin`, or for the names in `preset` of the preset.
    """
    checked: dict[str, Any] = {}
    changed: dict[str, Any] = {}
    problems: list[str] = []
    for start in range(0, len(parameters), columns):
        for column, parameter in zip(
            st.columns(columns), parameters[start : start + columns], strict=False
        ):
            with column:
                try:
                    value = _field(
                        parameter, values.get(parameter.name, parameter.default), key, owner or key
                    )
                except MucoreError as failure:
                    problem(str(failure))
                    problems.append(str(failure))
                    continue
                checked[parameter.name] = value
                start_value = values.get(parameter.name, parameter.default)
                if value != _json(start_value):
                    changed[parameter.name] = value
                    if parameter.kind != "file":
                        mark_changed("preset" if parameter.name in preset else origin, start_value)
                elif parameter.name in preset:
                    mark_preset()
    return Form(checked, changed, tuple(problems))


def _field(parameter: Parameter, start: Any, key: str, owner: str) -> Any:
    name = f"{key}.{parameter.name}"
    label = parameter.name.replace("_", " ") + (
        f" ({parameter.unit})" if parameter.unit not in ("", parameter.name) else ""
    )
    if parameter.kind == "choice":
        options = ("none", *parameter.choices) if parameter.optional else parameter.choices
        chosen = state.select(label, name, options, default=units.plain(start), help=parameter.help)
        return check(parameter, chosen, owner=owner) if parameter.optional else chosen
    if parameter.kind == "bool":
        return state.toggle(label, name, default=bool(start), help=parameter.help)
    typed = state.text(label, name, default=units.plain(start), help=range_help(parameter))
    value = check(parameter, typed, owner=owner)
    # the path, so that the file can be copied when the runs are launched
    return typed if parameter.kind == "file" else value


def range_help(parameter: Parameter) -> str:
    """What a parameter is, the range of its values, and whether it can be switched off."""
    low, high = parameter.low, parameter.high
    if parameter.kind == "budget":
        rule = "A share such as 0.2 or 20%, or a whole number of samples such as 200."
    elif low is not None and high is not None:
        rule = f"From {low:g} to {high:g}."
    else:
        rule = (
            f"At least {low:g}."
            if low is not None
            else f"At most {high:g}."
            if high is not None
            else ""
        )
    return " ".join(
        part
        for part in (
            parameter.help,
            rule,
            "Write none to switch it off." if parameter.optional else "",
        )
        if part
    )


def _json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
