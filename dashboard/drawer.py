"""What a selected run shows, on every page alike: flags, facts, loss curve, class accuracies, the command that repeats it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dashboard import data, describe, frames, state, widgets, words
from dashboard.charts import cells, class_accuracy, loss_curve
from dashboard.replaying import choice
from mucore import catalog
from mucore.spec import settings
from mucore.store.records import Result

# Brings the drawer into view once for each opening: the window remembers the last, so a later run of the page or a drawer that was drawn
# anew leaves readers where they have scrolled to.
ARRIVE: Final = """
export default function ({ data, parentElement }) {
  if (!data.opening || window.mucoreDrawer === data.opening) return;
  window.mucoreDrawer = data.opening;
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const show = () => {
    const drawer = parentElement.getRootNode().host?.closest(".st-key-run_drawer") ?? document.querySelector(".st-key-run_drawer");
    const box = drawer?.getBoundingClientRect();
    if (!box || (box.top >= BAR && box.bottom <= window.innerHeight)) return;
    drawer.style.scrollMarginTop = `${BAR}px`;
    drawer.scrollIntoView({ behavior: still ? "auto" : "smooth", block: "start" });
  };
  setTimeout(show, 250);  // what stands above and in the drawer is still being laid out
}
""".replace("BAR", "72")  # pixels of the bar above the page


def row_drawer(row: frames.Row, runs: pd.DataFrame, outside: tuple[str, ...] = ()) -> None:
    """Everything about the runs of one line, one run at a time; `outside` are sentences about all of them. Parameters: row, run."""
    opening = _opening(row.id)
    with st.container(border=True, key="run_drawer"):
        head, pick, close = st.columns([4, 3, 1], vertical_alignment="bottom")
        lines = runs.set_index("key")
        with pick:
            key = state.select("Run", "run", list(row.keys), format_func=lambda name: seeds(lines.loc[name]))
        with head:
            st.subheader(row.title, anchor=False)
            _links(row.method, key)
        if close.button("Close", icon=":material/close:", key="close_drawer"):
            state.set_param("row", None)
            st.rerun()
        show_run(key, lines, outside)
        _arrive(opening)


def run_drawer(runs: pd.DataFrame) -> None:
    """The run that parameter `run` of the address names, if it is one of `runs` (rows of `data.summaries`)."""
    key = state.param("run")
    lines = runs.set_index("key")
    if key not in lines.index:
        _opening("")
        return
    opening = _opening(key)
    with st.container(border=True, key="run_drawer"):
        head, close = st.columns([7, 1], vertical_alignment="bottom")
        with head:
            line = lines.loc[key]
            preset = "" if line["method_preset"] == "authors" else f" ({line['method_preset']})"
            st.subheader(f"{describe.method_names(str(line['method']))[0]}{preset}, {seeds(line)}", anchor=False)
            _links(str(line["method"]), key)
        if close.button("Close", icon=":material/close:", key="close_drawer"):
            state.set_param("run", None)
            st.rerun()
        show_run(key, lines)
        _arrive(opening)


def _links(method: str, key: str) -> None:
    """Where else there is something about a run: its method, and the run from step to step."""
    with st.container(horizontal=True, gap="medium"):
        widgets.link("method", "How this method works", icon=":material/school:", method=method)
        if choice.has_steps(method):
            widgets.link("replay", "Replay", icon=":material/replay:", key=key)


def closed() -> None:
    """Say that this page shows no drawer, so that the next one counts as newly opened."""
    _opening("")


def _opening(shown: str) -> int:
    """The number of the opening that brought the drawer of the run or line `shown` ("" for none), 0 on arrival at an address.

    It moves when a reader selects something, never when the same address is drawn again."""
    before, number = state.ticket("drawer") or (None, 0)
    if shown and before not in (None, shown):
        number += 1
    state.set_ticket("drawer", (shown, number))
    return number if shown else 0


def _arrive(opening: int) -> None:
    """Scroll to the drawer that holds this, once for each number of an opening."""
    arrive = st.components.v2.component("mucore_run_drawer", html="<span></span>", js=ARRIVE)
    arrive(data={"opening": opening}, key="arrive", height=1)


def chart(figure: go.Figure, name: str, *, alt: str, parameter: str = "run", known: Collection[str] | None = None) -> None:
    """A figure whose marks open the drawer: a newly clicked mark's key, the first of its custom data, becomes `parameter` of the address.

    A mark without a key, and one whose key is not among `known`, opens nothing.
    """
    event = widgets.chart(figure, name, alt=alt, on_select="rerun", selection_mode="points")
    # with their places, so that another mark of the same run is a new selection, too
    marks = [[str(found[0]), *place] for found, *place in _marks(event) if found[0] and (known is None or found[0] in known)]
    if is_new(marks, name):
        _open(parameter, str(marks[0][0]))


def heatmap(figure: go.Figure, name: str, key: cells.Place, *, alt: str) -> None:
    """`chart` of a figure whose heat maps have cells of runs: `key` gives the run of each cell."""
    chart(cells.selectable(figure, key), name, alt=alt)


def clicked(event: Any) -> list[list[Any]]:
    """The custom data of the marks that a reader selected in a figure."""
    return [found for found, *_ in _marks(event)]


def _marks(event: Any) -> list[tuple[list[Any], int | None, int | None]]:
    """Custom data of each selected mark that has some, and where the mark stands: number of the trace, number in it."""
    found = [(point.get("customdata"), point.get("curve_number"), point.get("point_index")) for point in event["selection"]["points"]]
    return [each for each in found if isinstance(each[0], list) and each[0]]


def open_new(keys: Sequence[str], name: str, parameter: str = "run") -> None:
    """Open the first of the selected `keys` if the selection in the widget `name` is new."""
    if is_new(keys, name):
        _open(parameter, keys[0])


def runs_table(runs: pd.DataFrame, shown: pd.DataFrame, name: str, **look: Any) -> None:
    """A table of `runs`, a line each, whose lines open them; `shown` is what it says, `look` goes to `st.dataframe`."""
    key = f"{name}:{describe.short_id(' '.join(runs['key']))}"  # a selection belongs to these lines, and goes when others take their place
    event = st.dataframe(shown, hide_index=True, on_select="rerun", selection_mode="single-row", key=key, **look)
    open_new([str(runs.iloc[place]["key"]) for place in event["selection"]["rows"] if place < len(runs)], name)


def _open(parameter: str, key: str) -> None:
    """Draw the page again with the run or line `key`; its drawer is brought into view even if it was there already."""
    if parameter in ("run", "row"):
        closed()
    state.set_param(parameter, key)
    st.rerun()


def is_new(selection: Sequence[Any], name: str) -> bool:
    """Whether the reader selected this just now: a selection stays in its widget, and an old one must not move the address again."""
    if list(selection) == (state.ticket(name) or []):
        return False
    state.set_ticket(name, list(selection))
    return bool(selection)


def show_run(key: str, lines: pd.DataFrame, outside: tuple[str, ...] = ()) -> None:
    """Flags, facts, loss curve and class accuracies of a run; `lines` are runs by key, among them its Retrain, if there is one."""
    result = data.result(key)
    if result is None:
        st.markdown("This run was deleted a moment ago. Close this panel and choose another.")
        return
    for flag in (*([" ".join(outside)] if outside else []), *result.flags):
        st.warning(widgets.escape(flag), icon=":material/flag:")
    if result.status != "ok":
        st.warning(widgets.escape(f"Status {result.status}. {result.stop_reason or ''}"), icon=":material/error:")
    facts, pictures = st.columns([2, 3], gap="medium")
    with facts:
        show_facts(result)
        weights_button(result)
    with pictures:
        show_pictures(result, lines)
    st.caption("The command that repeats this run")
    st.code(describe.command_line(result.spec), language="bash")


def seeds(line: pd.Series) -> str:
    return f"training seed {line['training_seed']}, unlearning {line['unlearning_seed']}, evaluation {line['evaluation_seed']}"


def show_facts(result: Result) -> None:
    cost = result.cost
    spec = result.spec
    memory = [words.size(cost.get(name)) for name in ("persistent_bytes", "scratch_bytes", "peak_memory_bytes")]
    shared = ", shared with other runs" if cost.get("shared_device") else ""
    forgets = f"; {describe.scenario_title(spec['scenario'])} ({describe.settings_text(spec['scenario_parameters'])})"
    facts = {
        "Data": f"{spec['dataset']}, {spec['model']}, {describe.recipe_text(spec['recipe'])}" + (forgets if spec.get("scenario") else ""),
        "Time": cost.get("missing") or f"{words.duration(cost.get('seconds'))}, {words.count(int(cost.get('steps', 0)), 'step')}",
        "Prepared": prepared_text(cost),
        "Samples read": reads_text(cost.get("reads", {})),
        "Memory": "{} kept, {} aside, peak {}".format(*memory),
        "Device": f"{result.device}, {result.precision}, {words.count(int(cost.get('threads', 1)), 'thread')}{shared}",
        "Training loss": f"{result.losses[-1]:.3g} in the last epoch".replace("-", describe.MINUS) if result.losses else "no training",
        "Stopped": result.stop_reason or "at the planned end",
        "Forget set": f"{words.count(result.forget_count, 'sample')}, hash {result.forget_hash or '–'}",
        "Settings": f"{spec.get('method_preset', 'authors')}: {describe.settings_text(settings(spec))}",
        "Key": result.key,
        "Versions": ", ".join(f"{name} {version}" for name, version in result.versions.items()) or "–",
    }
    st.markdown("\n".join(f"- **{name}**: {widgets.escape(str(value))}" for name, value in facts.items()))
    for note in result.notes:
        st.caption(widgets.escape(note))
    failed = {name: measured.error for name, measured in result.metrics.items() if measured.error}
    if failed:
        with st.expander(f"Why {words.count(len(failed), 'number is', 'numbers are')} missing"):
            st.markdown("\n".join(f"- **{widgets.escape(name)}**: {widgets.escape(error)}" for name, error in failed.items()))


def prepared_text(cost: Mapping[str, Any]) -> str:
    """What was made for the run outside its clock, once or for its forget set."""
    parts = (("prepared_seconds", "for any request"), ("prepared_for_request_seconds", "for this one"))
    made = [f"{words.duration(cost[name])} {what}" for name, what in parts if cost.get(name)]
    return ", ".join(made) or ("nothing" if parts[0][0] in cost else "not counted by the version that made the run")


def reads_text(reads: Mapping[str, int]) -> str:
    """Passes over each set, with and without a gradient; `reads` counts samples by "set/backward" or "set/forward"."""
    kinds = {"backward": "with a gradient", "forward": "without"}
    roles: dict[str, list[str]] = {}
    for name, count in reads.items():
        role, _, kind = name.partition("/")
        roles.setdefault(role, []).append(f"{count:,} {kinds.get(kind, kind)}")
    return "; ".join(f"{role} set {' and '.join(parts)}" for role, parts in roles.items()) or "none"


def weights_button(result: Result) -> None:
    """A file with the run's weights, where they are there; those of the demo did not come with it."""
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
            help="The network's state dict as safetensors, for other programs, `--original` and the method `uploaded`.",
        )


def show_pictures(result: Result, lines: pd.DataFrame) -> None:
    if len(result.losses) > 1:  # one epoch is a number, not a curve
        info = loss_curve.loss_curve_info(result.losses)
        widgets.chart(loss_curve.draw(info, dark=state.dark()), "run_loss", alt=loss_curve.alt_text(info))
    same = ["dataset", "model", "recipe", "scenario", "scenario_parameters", "training_seed"]
    twin = lines[(lines["method"] == "retrain") & lines[same].eq(lines.loc[result.key, same]).all(axis=1)]
    reference = data.result(str(twin.index[0])) if len(twin) and result.spec["method"] != "retrain" else None
    own = result.confusion.get("test")
    if own is None:
        st.caption("Accuracy of each class is not shown: it was not stored with this run.")
        return
    names = catalog.dataset(result.spec["dataset"]).class_names
    classes = class_accuracy.class_accuracy_info(own, names, reference.confusion.get("test") if reference else None)
    widgets.chart(class_accuracy.draw(classes, dark=state.dark()), "run_classes", alt=class_accuracy.alt_text(classes))
