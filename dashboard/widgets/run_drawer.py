"""The panel at the side of every page that shows a selected run: verdict, flags, facts, loss curve,
class accuracies, and its command.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import assets, data, frames, state, theme
from dashboard.charts import class_accuracy, loss_curve
from dashboard.charts.parts import clickable
from dashboard.frames.replay import has_steps
from dashboard.text import labels, units
from dashboard.widgets import figures
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from dashboard.widgets.verdict_line import verdict_line
from mucore import catalog, titles
from mucore.errors import UnknownName
from mucore.metrics.sanity import blind_attacks
from mucore.spec import settings
from mucore.store.rows import Result

# A panel fixed at the right of the window with a scroll bar of its own: the page below stays where
# it is. It lies above the bars of figures (z-index 1001) and below the lists that fields open. In
# windows too narrow for both, the panel takes all of it.
PANEL: Final = assets.style("run_drawer.css")

# What makes the panel one: its name for screen readers, the keyboard in it once for each opening
# (the window remembers the last), Escape, and the keyboard back where it was at the end. It goes at
# the press of a key, not when the page has been drawn again.
BEHAVE: Final = assets.text("run_drawer.js")


def row_drawer(row: frames.Row, runs: pd.DataFrame, outside: tuple[str, ...] = ()) -> None:
    """Everything about the runs of one line, one run at a time; `outside` are sentences about all
    of them. Parameters: row, run.
    """
    lines = runs.set_index("key")
    with _panel(row.title, "row", row.id):
        key = state.select(
            "Run", "run", list(row.keys), format_func=lambda name: seeds(lines.loc[name])
        )
        _links(row.method, key)
        show_run(key, lines, outside)


def run_drawer(runs: pd.DataFrame) -> None:
    """The run that parameter `run` of the address names, if it is one of `runs` (rows of
    `data.summaries`).
    """
    key = state.param("run")
    lines = runs.set_index("key")
    if key not in lines.index:
        _opening("")
        return
    line = lines.loc[key]
    preset = (
        ""
        if line["method_preset"] == "authors"
        else f" ({labels.preset_title(str(line['method_preset'])).lower()})"
    )
    with _panel(
        f"{labels.method_names(str(line['method']))[0]}{preset}, training seed "
        f"{line['training_seed']}",
        "run",
        key,
    ):
        st.caption(setting(line))
        _links(str(line["method"]), key)
        show_run(key, lines)


@contextmanager
def _panel(title: str, parameter: str, shown: str) -> Generator[None]:
    """The panel with its head; its button takes `parameter`, which names the run or line `shown`,
    out of the address.
    """
    opening, look = _opening(shown), theme.ground(state.dark())
    st.html(PANEL.replace("BACKGROUND", look.background).replace("EDGE", look.grid))
    with st.container(key="run_drawer"):
        with st.container(key="run_drawer_head", horizontal=True, vertical_alignment="center"):
            st.subheader(title, anchor=False, width="stretch")
            if st.button("Close", icon=":material/close:", key="close_drawer"):
                state.set_param(parameter, None)
                st.rerun()
        yield
        _behave(opening, shown, title)


def _links(method: str, key: str) -> None:
    """Where else there is something about a run: its method, and the run from step to step."""
    with st.container(horizontal=True, gap="medium"):
        link("method", "How this method works", icon=":material/school:", method=method)
        if has_steps(method):
            link("replay", "Replay", icon=":material/replay:", key=key)


def closed() -> None:
    """Say that this page shows no drawer, so that the next one counts as newly opened."""
    _opening("")


def _opening(shown: str) -> int:
    """The number of the opening that brought the drawer of the run or line `shown` ("" for none), 0
    on arrival at an address.

    It moves when a reader selects something, never when the same address is drawn again.
    """
    before, number = state.ticket("drawer") or (None, 0)
    if shown and before not in (None, shown):
        number += 1
    state.set_ticket("drawer", (shown, number))
    return number if shown else 0


def _behave(opening: int, shown: str, title: str) -> None:
    """Keyboard and name of the panel; it takes the keyboard once for each number of an opening."""
    behave = st.components.v2.component("mucore_run_drawer", html="<span></span>", js=BEHAVE)
    behave(data={"opening": opening, "shown": shown, "title": title}, key="behave", height=1)


def chart(
    figure: go.Figure,
    name: str,
    *,
    alt: str,
    parameter: str = "run",
    known: Collection[str] | None = None,
) -> None:
    """A figure whose marks open the drawer: a newly clicked mark's key, the first of its custom
    data, becomes `parameter` of the address.

    A mark without a key, and one whose key is not among `known`, opens nothing.
    """
    event = figures.chart(figure, name, alt=alt, on_select="rerun", selection_mode="points")
    # with their places, so that another mark of the same run is a new selection, too
    marks = [
        [str(found[0]), *place]
        for found, *place in _marks(event)
        if found[0] and (known is None or found[0] in known)
    ]
    if is_new(marks, name):
        _open(parameter, str(marks[0][0]))


def heatmap(figure: go.Figure, name: str, key: clickable.Place, *, alt: str) -> None:
    """`chart` of a figure whose heat maps have cells of runs: `key` gives the run of each cell."""
    chart(clickable.selectable(figure, key), name, alt=alt)


def clicked(event: Any) -> list[list[Any]]:
    """The custom data of the marks that a reader selected in a figure."""
    return [found for found, *_ in _marks(event)]


def _marks(event: Any) -> list[tuple[list[Any], int | None, int | None]]:
    """Custom data of each selected mark that has some, and where the mark stands: number of the
    trace, number in it.
    """
    found = [
        (point.get("customdata"), point.get("curve_number"), point.get("point_index"))
        for point in event["selection"]["points"]
    ]
    return [each for each in found if isinstance(each[0], list) and each[0]]


def open_new(keys: Sequence[str], name: str, parameter: str = "run") -> None:
    """Open the first of the selected `keys` if the selection in the widget `name` is new."""
    if is_new(keys, name):
        _open(parameter, keys[0])


def runs_table(runs: pd.DataFrame, shown: pd.DataFrame, name: str, **look: Any) -> None:
    """A table of `runs`, a line each, whose lines open them; `shown` is what it says, `look` goes
    to `st.dataframe`.
    """
    # a selection belongs to these lines, and goes when others take their place
    key = f"{name}:{labels.short_id(' '.join(runs['key']))}"
    event = st.dataframe(
        shown, hide_index=True, on_select="rerun", selection_mode="single-row", key=key, **look
    )
    open_new(
        [str(runs.iloc[place]["key"]) for place in event["selection"]["rows"] if place < len(runs)],
        name,
    )


def _open(parameter: str, key: str) -> None:
    """Draw the page again with the run or line `key`; its drawer takes the keyboard even if it was
    there already.
    """
    if parameter in ("run", "row"):
        closed()
    state.set_param(parameter, key)
    st.rerun()


def is_new(selection: Sequence[Any], name: str) -> bool:
    """Whether the reader selected this just now: a selection stays in its widget, and an old one
    must not move the address again.
    """
    if list(selection) == (state.ticket(name) or []):
        return False
    state.set_ticket(name, list(selection))
    return bool(selection)


def show_run(key: str, lines: pd.DataFrame, outside: tuple[str, ...] = ()) -> None:
    """Verdict, flags, facts, loss curve and class accuracies of a run; `lines` are runs by key,
    among them its Retrain, if there is one.
    """
    result = data.result(key)
    if result is None:
        st.markdown("This run was deleted a moment ago. Close this panel and choose another.")
        return
    show_verdict(key, lines)
    for flag in (*([" ".join(outside)] if outside else []), *result.flags):
        st.warning(
            escape(labels.with_titles(flag, str(result.spec["method"]))),
            icon=":material/flag:",
        )
    if result.status != "ok":
        st.warning(
            escape(f"Status {result.status}. {result.stop_reason or ''}"),
            icon=":material/error:",
        )
    show_facts(result)
    weights_button(result)
    show_pictures(result, lines)
    st.caption("The command that repeats this run")
    st.code(labels.command_line(result.spec), language="bash")


def show_verdict(key: str, lines: pd.DataFrame) -> None:
    """The verdict on the line that a run belongs to."""
    judged = data.judged_line(key, lines.rename_axis("key").reset_index())
    if judged is None:
        return
    verdict_line(judged)
    if judged.verdict is not None and len(judged.keys) > 1:
        st.caption(
            f"The verdict is on all {len(judged.keys)} runs of this method with these settings, "
            "not on this one alone."
        )


def setting(line: pd.Series) -> str:
    """Scenario, data set, model and seeds of a run in a line."""
    scenario = (
        labels.scenario_title(str(line["scenario"]))
        if isinstance(line["scenario"], str)
        else "Training"
    )
    return escape(
        f"{scenario}. {titles.dataset(str(line['dataset']))}, {titles.model(str(line['model']))}, "
        f"{seeds(line)}."
    )


def seeds(line: pd.Series) -> str:
    return (
        f"training seed {line['training_seed']}, unlearning {line['unlearning_seed']}, evaluation "
        f"{line['evaluation_seed']}"
    )


def show_facts(result: Result) -> None:
    cost = result.cost
    spec = result.spec
    memory = [
        units.size(cost.get(name))
        for name in ("persistent_bytes", "scratch_bytes", "peak_memory_bytes")
    ]
    shared = ", shared with other runs" if cost.get("shared_device") else ""
    forgets = (
        f"; {labels.scenario_title(spec['scenario'])} "
        f"({labels.set_text(spec['scenario_parameters'], spec['dataset'])})"
    )
    facts = {
        "Data": labels.setup_text(spec) + (forgets if spec.get("scenario") else ""),
        "Time": cost.get("missing")
        or (
            f"{units.duration(cost.get('seconds'))}, "
            f"{units.count(int(cost.get('steps', 0)), 'step')}"
        ),
        "Prepared": prepared_text(cost),
        "Samples read": reads_text(cost.get("reads", {})),
        "Memory": "{} kept, {} aside, peak {}".format(*memory),
        "Device": (
            f"{result.device}, {result.precision}, "
            f"{units.count(int(cost.get('threads', 1)), 'thread')}{shared}"
        ),
        "Training loss": f"{result.losses[-1]:.3g} in the last epoch".replace("-", labels.MINUS)
        if result.losses
        else "no training",
        "Stopped": result.stop_reason or "at the planned end",
        "Forget set": (
            f"{units.count(result.forget_count, 'sample')}, hash {result.forget_hash or '–'}"
        ),
        "Settings": (
            f"{labels.preset_title(spec.get('method_preset', 'authors'))}: "
            f"{labels.settings_text(settings(spec))}"
        ),
        "Key": result.key,
        "Versions": ", ".join(f"{name} {version}" for name, version in result.versions.items())
        or "–",
    }
    st.markdown("\n".join(f"- **{name}**: {escape(str(value))}" for name, value in facts.items()))
    for note in result.notes:
        st.caption(escape(note_text(note)))
    failed = {name: measured.error for name, measured in result.metrics.items() if measured.error}
    if failed:
        with st.expander(f"Why {units.count(len(failed), 'number is', 'numbers are')} missing"):
            st.markdown(
                "\n".join(
                    f"- **{escape(metric_title(name))}**: {escape(error)}"
                    for name, error in failed.items()
                )
            )


def note_text(note: str) -> str:
    """A note of a result with the titles of the membership attacks that it lists."""
    listed = sorted(blind_attacks([note]))
    return (
        f"{note.rpartition(': ')[0]}: {', '.join(metric_title(f'mia_{name}') for name in listed)}."
        if listed
        else note
    )


def metric_title(name: str) -> str:
    """A metric's title; the id of one that the catalogue no longer knows."""
    try:
        return catalog.metric(name).title
    except UnknownName:
        return name


def prepared_text(cost: Mapping[str, Any]) -> str:
    """What was made for the run outside its clock, once or for its forget set."""
    parts = (
        ("prepared_seconds", "for any request"),
        ("prepared_for_request_seconds", "for this one"),
    )
    made = [f"{units.duration(cost[name])} {what}" for name, what in parts if cost.get(name)]
    return ", ".join(made) or (
        "nothing" if parts[0][0] in cost else "not counted by the version that made the run"
    )


def reads_text(reads: Mapping[str, int]) -> str:
    """Passes over each set, with and without a gradient; `reads` counts samples by "set/backward"
    or "set/forward".
    """
    kinds = {"backward": "with a gradient", "forward": "without"}
    roles: dict[str, list[str]] = {}
    for name, count in reads.items():
        role, _, kind = name.partition("/")
        roles.setdefault(role, []).append(f"{count:,} {kinds.get(kind, kind)}")
    return "; ".join(f"{role} set {' and '.join(parts)}" for role, parts in roles.items()) or "none"


def weights_button(result: Result) -> None:
    """A file with the run's weights, where they are there; those of the demo did not come with
    it.
    """
    store = data.source().store
    if result.weights is not None and store.artifacts.exists(result.weights):
        path = store.artifacts.path(result.weights)
        st.download_button(
            "Weights",
            path.read_bytes,
            f"{result.spec['method']}-{result.key[:8]}.safetensors",
            "application/octet-stream",
            key="run_weights",
            icon=":material/download:",
            on_click="ignore",
            help="The network's state dict as safetensors, for other programs, `--original` and "
            "the method `uploaded`.",
        )


def show_pictures(result: Result, lines: pd.DataFrame) -> None:
    if len(result.losses) > 1:  # one epoch is a number, not a curve
        info = loss_curve.loss_curve_info(result.losses)
        figures.chart(
            loss_curve.draw(info, dark=state.dark()), "run_loss", alt=loss_curve.alt_text(info)
        )
    same = ["dataset", "model", "recipe", "scenario", "scenario_parameters", "training_seed"]
    twin = lines[
        (lines["method"] == "retrain") & lines[same].eq(lines.loc[result.key, same]).all(axis=1)
    ]
    reference = (
        data.result(str(twin.index[0]))
        if len(twin) and result.spec["method"] != "retrain"
        else None
    )
    own = result.confusion.get("test")
    if own is None:
        st.caption("Accuracy of each class is not shown: it was not stored with this run.")
        return
    names = catalog.dataset(result.spec["dataset"]).class_names
    classes = class_accuracy.class_accuracy_info(
        own, names, reference.confusion.get("test") if reference else None
    )
    figures.chart(
        class_accuracy.draw(classes, dark=state.dark()),
        "run_classes",
        alt=class_accuracy.alt_text(classes),
    )
