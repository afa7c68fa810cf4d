"""Persons: NoMUS table, the paper beside it, and one run's losses and faces."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from builders import make_result, make_spec_row
from pages import figures, judged, open_page

from dashboard import frames
from dashboard.charts import nomus_scatter, two_metrics
from dashboard.frames import identity as identity_frames
from mucore.outputs import Outputs, SplitOutputs, confusion
from mucore.store import Store, open_store

pytestmark = pytest.mark.slow

opened = partial(open_page, "identity")
# method -> (test accuracy, forgetting score) where persons go, and (TRA, RA, FA and TFA) where a
# class goes
PERSONS = {
    "original": (0.60, 0.20),
    "retrain": (0.50, 0.05),
    "finetune": (0.58, 0.18),
    "scrub": (0.56, 0.07),
    "gradient_ascent": (0.30, 0.02),
}
CLASSES = {
    "retrain": (0.9, 0.9, 0.0),
    "finetune": (0.85, 0.9, 0.95),
    "scrub": (0.88, 0.9, 0.04),
    "gradient_ascent": (0.89, 0.89, 0.01),
}
CLASS_COUNT = 8


def split(seed: int, first: int, count: int) -> SplitOutputs:
    generator = np.random.default_rng(seed)
    logits = generator.normal(size=(count, CLASS_COUNT)).astype(np.float32)
    labels = np.arange(count) % CLASS_COUNT
    return SplitOutputs(
        logits=logits,
        labels=labels,
        ids=np.arange(first, first + count),
        confusion=confusion(labels, logits.argmax(1), CLASS_COUNT),
    )


def outputs(seed: int) -> Outputs:
    made = {"forget": split(seed, 0, 16), "test": split(seed + 100, 100, 16)}
    return Outputs(made | {"unseen": split(seed + 200, 200, 16)})


def put_persons(store: Store) -> None:
    for number, (method, (accuracy, score)) in enumerate(PERSONS.items()):
        nomus = 0.5 * accuracy + 0.5 * (1 - 2 * score)
        metrics = {"ta": accuracy, "ra": 0.9, "fa": 0.6, "forgetting_score": score, "nomus": nomus}
        spec = make_spec_row(dataset="faces", scenario="identities", method=method)
        name = store.artifacts.put_outputs(outputs(number))
        store.put_result(make_result(spec, metrics=metrics, outputs=name))
    for method, (tra, ra, fa) in CLASSES.items():
        spec = make_spec_row(dataset="faces", scenario="class_wise", method=method)
        store.put_result(
            make_result(spec, metrics={"ta": 0.8, "tra": tra, "ra": ra, "fa": fa, "tfa": fa})
        )


def filled(home: Path) -> None:
    store = open_store(home)
    put_persons(store)
    store.close()


def rows(home: Path, scenario: str, metrics=identity_frames.METRICS) -> tuple[frames.Row, ...]:
    store = open_store(home)
    try:
        found = frames.metric_rows(
            store.summaries(scenario=scenario),
            store.metric_values(scenario=scenario),
            metrics,
            judged=judged(store),
        )
        return tuple(frames.nearest_first(found))
    finally:
        store.close()


# -- the page


def test_table_answers_figures_and_order(home):
    filled(home)
    at = opened()
    assert not at.exception and not at.error
    table = at.dataframe[0].value
    assert list(table["Method"])[:2] == ["Original", "Retrain"]
    assert list(table.columns)[:4] == ["Method", "Verdict", "Distance", "Seeds"]
    scrub = table[table["Method"] == "SCRUB"].iloc[0]
    assert (scrub["Test, %"], scrub["Forgetting score"], scrub["NoMUS"]) == (
        "56.0",
        "0.070",
        "0.710",
    )
    # 2, 5.25 and 5.75 points from Retrain
    assert list(table["Method"])[2:] == ["SCRUB", "Fine-tune", "Gradient ascent"]
    assert list(table["Verdict"]) == ["did nothing?", "–", "forgot?", "too little", "damaged"]
    (answer,) = [one.value for one in at.markdown if "closest to Retrain" in one.value]
    assert answer.startswith("SCRUB may come")
    scatter, losses = figures(at)
    assert {"Retrain", "Original", "damaged"} <= {trace.get("name") for trace in scatter["data"]}
    assert [note["text"] for note in losses["layout"]["annotations"]] == [
        "SCRUB (forgot?)",
        "Retrain",
        "Original",
    ]
    behind_losses = next(frame.value for frame in at.dataframe if "share" in frame.value)
    sums = behind_losses.groupby(["panel", "set"])["share"].sum()
    assert sums.tolist() == pytest.approx([100.0] * 6)


# -- frames


def test_every_published_table_has_nine_lines_that_give_their_nomus():
    for name in identity_frames.TABLES:
        paper = identity_frames.paper_table(name)
        assert len(paper) == 9
        nomus = 0.5 * paper["ta"] + 0.5 * (1 - 2 * paper["forgetting_score"])
        assert paper["nomus"].tolist() == pytest.approx(nomus.tolist(), abs=2e-3)
    assert identity_frames.paper_table("mufac").loc["retrain", "top2"] == 0.7667


def test_the_paper_stands_beside_our_lines_and_below_them(home):
    filled(home)
    table = identity_frames.table(rows(home, "identities"), identity_frames.paper_table("mufac"))
    table = table.set_index("Method")
    assert table.loc["Retrain", "Paper: Top-2, %"] == "76.7" and "Top-2, %" not in table
    below = [name for name in table.index if table.loc[name, "Test, %"] == "–"]
    assert below and (table.loc[below, "Paper: NoMUS"] != "–").all()


@pytest.mark.parametrize(
    ("original", "images", "nothing"),
    [(0.2, 100, False), (0.04, 100, True), (0.06, 100, True), (0.06, 10000, False)],
)
def test_scores_show_nothing_where_the_original_is_as_good_as_retrain_or_as_a_guess(
    home, original, images, nothing
):
    """Retrain has 0.05; a guess has up to 0.069 with 100 images, 0.007 with 10 000."""
    filled(home)
    found = []
    for row in rows(home, "identities"):
        score = frames.Cell(value=frames.Estimate(original, None, 1))
        found.append(
            replace(row, cells={**row.cells, "forgetting_score": score})
            if row.method == "original"
            else row
        )
    assert identity_frames.uninformative(found, images) is nothing


# -- figures


def test_the_scatter_has_lines_of_equal_nomus(home):
    filled(home)
    found = rows(home, "identities")
    known = two_metrics.places(found, nomus_scatter.MEASURES)
    places = {row.method: known[row.id] for row in found}
    assert places["scrub"] == (0.07, pytest.approx(56))
    assert places["retrain"] == (0.05, pytest.approx(50))
    figure = nomus_scatter.draw(found, known, dark=False)
    lines = [shape for shape in figure.layout.shapes if shape.name.startswith("NoMUS")]
    assert lines
    for line in lines:
        level = float(line.name.removeprefix("NoMUS "))
        for x, y in ((line.x0, line.y0), (line.x1, line.y1)):
            assert y / 200 + (1 - 2 * x) / 2 == pytest.approx(level)
    assert {note.text for note in figure.layout.annotations} >= {"Retrain", "Original", "SCRUB"}
