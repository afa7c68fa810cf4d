"""Cost: what measuring a model takes, in parts, beside what Retrain takes."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard import data, frames, state
from dashboard.charts import score_bars
from dashboard.frames import representation as computed
from dashboard.sections.representation.shared import PAPER, say
from dashboard.text import labels
from dashboard.text import units as words
from dashboard.widgets import figures, header, messages


def show(runs: pd.DataFrame) -> None:
    st.markdown(
        "**What do the numbers themselves cost?** Seconds of each part of measuring one model, "
        f"the mean over the runs of this selection. ({PAPER} Table 4, which finds that features "
        "cost a hundredth of what logits of all training images do)"
    )
    source = data.source()
    table, counted, retrain, compared = measuring(source.name, source.change, tuple(runs["key"]))
    if table.empty:
        messages.empty(
            "These runs were measured before the parts were timed. Every new run says what each "
            "of its numbers took.",
            "Launch a comparison",
            "launch",
        )
        return
    if compared is not None:
        header.answers(cost_answers(compared))
    bars = [
        score_bars.Bar(title=part.capitalize(), family="unknown", value=seconds)
        for part, seconds in zip(table["part"], table["seconds"], strict=True)
    ]
    info = score_bars.score_bars_info(bars, lines=(), axis="Seconds for one model", digits=2)
    figure = score_bars.draw(info, dark=state.dark())
    figures.chart(
        figure, "measuring", alt=f"Seconds for each part of measuring: {score_bars.alt_text(info)}"
    )
    total = float(table["seconds"].sum())
    share = f" That is {100 * total / retrain:.2g} % of a Retrain." if retrain else ""
    say(
        [
            f"{total:.2g} s for one model, the mean of {words.count(counted, 'run')}.{share}",
            (
                "Predictions and features come from one pass over all splits, so a number that is "
                "computed from them costs only what its own bar says. What several numbers share "
                "is counted for the first of them."
            ),
        ]
    )
    figures.numbers(
        table.rename(
            columns={
                "part": "Part",
                "seconds": "Seconds",
                "share": "Share of measuring",
                "runs": "Runs",
            }
        ),
        "measuring",
        figure,
    )


@st.cache_data(show_spinner="Reading what the runs cost", max_entries=16)
def measuring(
    name: str, change: int, keys: tuple[str, ...]
) -> tuple[pd.DataFrame, int, float | None, computed.Compared | None]:
    """`computed.measuring_cost` and `computed.compared_cost` of the runs; `name` and `change` say
    which store.
    """
    results = data.source().store.results(keys=keys, metrics=False)
    return (*computed.measuring_cost(results), computed.compared_cost(results))


def cost_answers(cost: computed.Compared) -> tuple[frames.Answer, ...]:
    """Table 4: seconds a run of both kinds of metrics, and of the pass over the images that both
    read.
    """
    made = [
        frames.Answer(
            "Representation metrics",
            _seconds(cost.representation),
            f"CKA, k-NN, linear probe{_of_retrain(cost, cost.representation)}",
        ),
        frames.Answer(
            "Logit metrics",
            _seconds(cost.logits),
            f"accuracies, AGL and other agreements{_of_retrain(cost, cost.logits)}",
        ),
    ]
    if cost.both is not None:
        words = "predicts and takes features of every image once"
        made.append(
            frames.Answer(
                "The pass that both read",
                _seconds(cost.both),
                f"{words}{_of_retrain(cost, cost.both)}",
            )
        )
    return tuple(made)


def _seconds(value: float) -> str:
    return f"{labels.number(value, 'seconds')} s"


def _of_retrain(cost: computed.Compared, seconds: float) -> str:
    share = cost.share(seconds)
    return "" if share is None else f": {100 * share:.2g} % of a Retrain"
