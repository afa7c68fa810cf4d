"""Launch: networks that a reader trained and unlearned elsewhere, judged from their files by
`mucore evaluate` in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import streamlit as st

from dashboard import access, data, frames, state
from dashboard.widgets import beside_retrain, fields, guests, header, messages, uploads
from dashboard.widgets.links import link
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.errors import BadValue
from mucore.forget_sets.saved import is_reference
from mucore.runs import FIRST
from mucore.userfiles import doors, weights

FILES: Final = {
    "unlearned": ("Unlearned", "The network to judge; separate training seeds with commas."),
    "original": ("Original", "Before it forgot. Without it there is no verdict."),
    "retrained": ("Retrain", "Trained without the samples. Three or more make a firm verdict."),
}
LISTS: Final = ("npy", "npz", "txt", "csv", "json", "pt")
PIXELS: Final = {"": "Detect", "mucore": "mucore's", "0..1": "0 to 1", "-1..1": "−1 to 1"}
WORK, JUDGED = "judging", "judged"


@dataclass(frozen=True)
class Work:
    """A process that judges, and where it writes."""

    process: subprocess.Popen[bytes]
    folder: Path

    def text(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8", errors="replace")


def show() -> None:
    """The answer, or the form."""
    work = state.ticket(WORK)
    if work is not None and work.process.poll() is None:
        _watch(work)
        return
    if work is not None:
        _take(work)
    if (number := state.param(JUDGED)).isdigit() and _answer(int(number)):
        return
    _form()


def _form() -> None:
    if failure := state.ticket("judge_failed"):
        messages.error(escape(failure))
    left, right = st.columns(2, gap="large")
    given: dict[str, str] = {}
    with left:
        st.subheader("Networks", anchor=False)
        for name, (label, what) in FILES.items():
            given[name] = state.text(label, name, help=f"{what} Paths of weight files.").strip()
            uploads.weights_field(name)
        given["model"] = state.text(
            "Network",
            "network",
            help="A model of the catalogue, timm:NAME, torchvision:NAME or, on your own machine, "
            "FILE.py:NAME, a function or class without arguments.",
        ).strip()
    with right:
        st.subheader("Data", anchor=False)
        cards = {card.id: card for card in catalog.datasets()}
        given["data"] = state.select(
            "Data set",
            "dataset",
            list(cards),
            default=FIRST.dataset,
            format_func=lambda name: cards[name].title,
        )
        if cards[given["data"]].takes_path:
            given["data"] = uploads.path_field(cards[given["data"]])
        given["forget"] = state.text(
            "Forget list",
            "forget",
            help="A file of rows of the training data as published, or set:NAME of Forget sets.",
        ).strip()
        uploads.field("or a list from your computer", "forget", LISTS, _take_list, megabytes=50)
        given["preprocess"] = state.select(
            "Pixels",
            "pixels",
            list(PIXELS),
            default="",
            format_func=PIXELS.__getitem__,
            help="Pixel range used in training; detected if the file has batch norm.",
        )
        if not guests.may("judge a network"):
            return
        needed = {"unlearned": "Unlearned", "model": "Network", "forget": "Forget list"}
        lacking = [label for name, label in needed.items() if not given[name]]
        pressed = st.button(
            "Judge it",
            key="judge",
            type="primary",
            icon=":material/gavel:",
            disabled=bool(lacking or fields.problems()),
        )
        if lacking:
            st.caption(f"Still to fill in: {', '.join(lacking)}.")
    if pressed:
        state.set_ticket("judge_failed", None)
        with messages.kept("judge_failed"):
            state.set_ticket(WORK, _started(given))
        st.rerun()


def _take_list(file: Any) -> str:
    return str(uploads.keep(file.getvalue(), file.name.rpartition(".")[2]))


def _started(given: dict[str, str]) -> Work:
    """Raises `ReadOnly`, `BadFile`, `BadValue`."""
    doors.check()
    if ".py:" in given["model"] and (sentence := access.why_no_code()):
        raise BadValue(sentence)
    store = data.own_store()
    for name in FILES:
        texts = filter(None, map(str.strip, given[name].split(",")))
        given[name] = ",".join(str(weights.stored(store.artifacts, text)) for text in texts)
    if not is_reference(given["forget"]):
        given["forget"] = str(Path(given["forget"]).expanduser())
    command = [sys.executable, "-m", "mucore", "evaluate", "--keep", "--json"]
    command += [f"--{name}={value}" for name, value in given.items() if value]
    folder = Path(tempfile.mkdtemp(prefix="judge-"))
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        environment = {**os.environ, "MUCORE_HOME": str(store.home)}
        return Work(subprocess.Popen(command, stdout=out, stderr=err, env=environment), folder)


@guests.live(1.0)
def _watch(work: Work) -> None:
    with messages.guarded():
        if work.process.poll() is not None:
            st.rerun()
        st.progress(0.5, text="Asking the networks and measuring; you can leave and come back.")
        st.button("Stop", key="stop_judging", on_click=partial(_stop, work))


def _stop(work: Work) -> None:
    work.process.kill()
    state.set_ticket(WORK, None)


def _take(work: Work) -> None:
    """What an ended process found, or why it found nothing."""
    state.set_ticket(WORK, None)
    if work.process.returncode == 0:
        found = json.loads(work.text("out"))
        state.set_ticket("judge_found", found)
        state.set_ticket("source", "own")
        state.set_param(JUDGED, str(found["comparison"]))
    else:
        lines = work.text("err").strip().splitlines()
        state.set_ticket("judge_failed", lines[-1] if lines else "Its process was ended.")


def _answer(number: int) -> bool:
    """The first screen of Results for a kept report; False where there is none."""
    kept = next((one for one in data.own_comparisons() if one.id == number), None)
    runs = data.unlearning_runs()
    runs = runs[runs["key"].isin(kept.keys if kept else ())]
    if kept is None or runs.empty:
        return False
    first = runs.iloc[0]
    scenario = catalog.scenario(str(first["scenario"]))
    values = data.metric_values(dataset=str(first["dataset"]), scenario=scenario.id)
    judged = data.judged(runs)
    table = frames.results_table(
        runs,
        values[values["key"].isin(runs["key"])],
        view="value",
        class_wise=scenario.class_wise,
        sort=frames.USUAL,
        judged=judged,
    )
    mine = next(line for line in judged.values() if line.method == "uploaded")
    if mine.verdict:
        header.answer(f"{mine.verdict.said[0].upper()}{mine.verdict.said[1:]}.")
    header.verdict_bar(table.methods)
    beside_retrain.show(table.rows)
    found = state.ticket("judge_found") or {}
    if mine.verdict:
        st.markdown(escape(mine.verdict.sentence))
    if found.get("comparison") == number:
        st.caption(escape(found["about"]))
        st.image(found["pictures"], width=84)
        for caveat in found["caveats"]:
            st.caption(escape(caveat))
    with st.container(horizontal=True):
        link(
            "results",
            "All metrics in Results",
            icon=":material/table_chart:",
            comparison=str(number),
        )
        st.button(
            "Judge another", key="judge_another", on_click=state.set_param, args=(JUDGED, None)
        )
    return True
