"""What the sections share: the chosen runs, those whose predictions were kept, and the samples that
these have in common.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from dashboard import data, state
from dashboard.frames import compare as compare_frames
from dashboard.frames.compare import SPLIT_NAMES, Common
from dashboard.text import units
from dashboard.widgets import messages
from dashboard.widgets.links import anew
from dashboard.widgets.markdown import escape
from mucore import catalog
from mucore.outputs import Outputs
from mucore.store.records import Result
from mucore.verdicts import Judged


@dataclass(frozen=True, eq=False)
class Chosen:
    """The runs that the reader compares, in order, with their names, and their Retrains where there
    are any.
    """

    runs: pd.DataFrame
    results: tuple[Result, ...]
    titles: dict[str, str]  # short, by key
    retrains: dict[str, Result | None]  # by key
    # by key, the line of the run among all seeds, as on the other pages
    judged: Mapping[str, Judged]

    @property
    def names(self) -> list[str]:
        """The titles in the order of `results`."""
        return [self.titles[result.key] for result in self.results]

    @property
    def class_names(self) -> tuple[str, ...]:
        return catalog.dataset(self.results[0].spec["dataset"]).class_names

    def among(self, results: Sequence[Result]) -> Chosen:
        """Those of the chosen runs that are among `results`."""
        runs = self.runs[self.runs["key"].isin([result.key for result in results])]
        return replace(self, results=tuple(results), runs=runs)


def pick_split(available: Sequence[str]) -> str:
    options = [name for name in compare_frames.SPLITS if name in available]
    return state.segmented(
        "Samples",
        "split",
        options,
        format_func=lambda name: SPLIT_NAMES[name],
        label_visibility="collapsed",
    )


def kept(chosen: Chosen) -> tuple[Chosen, list[Outputs]]:
    """The runs whose predictions were kept, and these; a sentence on the page names the others."""
    found: list[tuple[Result, Outputs]] = []
    left: list[str] = []
    for result in chosen.results:
        outputs = data.outputs(result.key)
        if outputs is None:
            left.append(chosen.titles[result.key])
        else:
            found.append((result, outputs))
    if left and found:
        st.caption(escape(f"Left out, because their predictions were not kept: {', '.join(left)}."))
    return chosen.among([result for result, _ in found]), [outputs for _, outputs in found]


def pick_common(chosen: Chosen) -> tuple[Chosen, Common | None, str]:
    """The predictions on one split that the runs share; None, with a sentence on the page, where
    there is nothing to compare.
    """
    asked = chosen.runs
    chosen, outputs = kept(chosen)
    if len(outputs) < 2:
        needs_predictions("two runs", asked)
        return chosen, None, ""
    split = pick_split(
        [name for name in compare_frames.SPLITS if all(name in each for each in outputs)]
    )
    found = compare_frames.common(outputs, split)
    if found is None:
        st.markdown("These runs share no sample here: they forgot different ones.")
    elif len(found.ids) < found.total:
        st.caption(f"Based on {len(found.ids):,} of {units.count(found.total, 'sample')}.")
    return chosen, found, split


def needs_predictions(how_many: str, runs: pd.DataFrame) -> None:
    """The empty state of a section that reads predictions; `runs` are those that the reader
    chose.
    """
    sentence = (
        f"This needs {how_many} whose predictions were kept. The demo and older runs may come "
        "without them; new runs keep them."
    )
    messages.empty(sentence, "Launch a comparison", "launch", **anew(runs))


def sample_id(text: str) -> int | None:
    """The id of a sample that a reader typed or an address names; None where it is none."""
    return int(text) if text.isdecimal() and len(text) < 19 else None  # ids have 64 bits
