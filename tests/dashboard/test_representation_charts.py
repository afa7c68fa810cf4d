"""Figures of the page about encoders: what they show by value, how they are drawn by structure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import make_papers_table
import numpy as np
import pandas as pd
import pytest
from builders import make_result

from dashboard import frames, theme
from dashboard.charts import (
    across_sets,
    agl_agr,
    cka_scatter,
    embedding_map,
    gap_and_ratio,
    last_layer,
    layer_heatmap,
    neighbours,
    sensitivity,
    two_sets,
)
from dashboard.charts.parts import name_labels as labels
from dashboard.frames import representation as computed
from mucore import catalog
from mucore.verdicts import Judged, Verdict, Word

# CKA to the original, CKA to Retrain, average gap, AGL, AGR of one run each; the original and
# Retrain are alike by 0.9
NUMBERS = {
    "original": (1.0, 0.9, 0.30, 0.2, 0.6),
    "retrain": (0.9, 1.0, 0.0, 1.0, 1.0),
    "finetune": (0.99, 0.91, 0.20, 0.5, 0.8),
    "scrub": (0.98, 0.94, 0.10, 0.8, 0.7),
    "duck": (0.95, 0.97, 0.02, 0.9, 0.9),
    "salun": (0.80, 0.72, 0.01, 0.95, 0.5),
}
METRICS = ("cka_original_test", "cka_retrain_test", "average_gap_classes", "agl", "agr")


def line(
    method: str, seed: int = 0, status: str = "ok", parameters: str = "{}", scenario: str = "{}"
) -> dict:
    return {
        "key": f"{method}-{seed}",
        "method": method,
        "method_preset": "authors",
        "parameters": parameters,
        "scenario": "class_wise",
        "scenario_parameters": scenario,
        "training_seed": seed,
        "unlearning_seed": 0,
        "evaluation_seed": 0,
        "status": status,
    }


def long(values: Sequence[tuple[str, str, float | None]], error: str | None = None) -> pd.DataFrame:
    return pd.DataFrame(
        [(*each, None, error if each[2] is None else None) for each in values],
        columns=["key", "metric", "value", "gap", "error"],
    )


@pytest.fixture
def rows() -> tuple[frames.Row, ...]:
    lines = [*(line(method) for method in NUMBERS), line("sisa")]
    values: list[tuple[str, str, float | None]] = [
        (f"{method}-0", name, value)
        for method, numbers in NUMBERS.items()
        for name, value in zip(METRICS, numbers, strict=True)
    ]
    values += [("sisa-0", "cka_original_test", None), ("sisa-0", "cka_retrain_test", None)]
    return computed.similarity_rows(
        pd.DataFrame(lines), long(values, "An <ensemble> has no features."), "test"
    )


# --- what is computed


def cka(**pairs: tuple[float, float]) -> list[tuple[str, str, float | None]]:
    """Values of runs, key with "_" for "-": CKA to the original and to Retrain on the test set."""
    return [
        (key.replace("_", "-"), f"cka_{name}_test", value)
        for key, both in pairs.items()
        for name, value in zip(("original", "retrain"), both, strict=True)
    ]


def test_ratio_is_by_that_of_the_same_seeds_retrain_and_only_then_averaged():
    lines = pd.DataFrame([line(method, seed) for method in ("retrain", "duck") for seed in (0, 1)])
    values = long(
        cka(retrain_0=(0.5, 1.0), retrain_1=(0.8, 1.0), duck_0=(0.5, 0.25), duck_1=(1.0, 1.0))
    )
    retrain, duck = (
        row.cells[computed.RATIO].value for row in computed.similarity_rows(lines, values, "test")
    )
    assert retrain is not None and (retrain.mean, retrain.half) == (
        pytest.approx(1.0),
        pytest.approx(0.0),
    )
    # 0.5 by 1 / 0.5 is 0.25, 1 by 1 / 0.8 is 0.8; their mean, not a ratio of means
    assert duck is not None and duck.mean == pytest.approx(0.525)
    # t of one degree of freedom, s = 0.55 / sqrt(2), n = 2
    assert duck.half == pytest.approx(12.706 * 0.55 / 2, rel=1e-4)


def test_a_ratio_needs_a_retrain_of_its_seed_and_a_similarity_above_zero():
    lines = pd.DataFrame([line("retrain", 0), line("duck", 0), line("salun", 1)])
    values = long(cka(retrain_0=(0.5, 1.0), duck_0=(0.0, 0.25), salun_1=(0.8, 0.7)))
    _, salun, duck = computed.similarity_rows(lines, values, "test")
    assert duck.cells[computed.RATIO].value is None and salun.cells[computed.RATIO].value is None
    assert "No Retrain of this training seed" in salun.cells[computed.RATIO].reason


def test_a_retrain_of_other_settings_is_no_base_of_the_ratio():
    other = {**line("retrain"), "key": "other-0", "parameters": '{"epochs": 1}'}
    values = long(cka(retrain_0=(0.5, 1.0), other_0=(0.9, 0.6), duck_0=(1.0, 1.0)))
    rows = computed.similarity_rows(
        pd.DataFrame([line("retrain"), other, line("duck")]), values, "test"
    )
    (duck,) = [row.cells[computed.RATIO].value for row in rows if row.method == "duck"]
    assert duck is not None and duck.mean == pytest.approx(0.5)


def judgements(**lines: tuple[Word, float]) -> dict[str, Judged]:
    """By key of the first run of a method: its word and its distance to Retrain."""
    return {
        f"{method}-0": Judged(
            setting=("digits", "mlp", "{}", "class_wise", "{}"),
            method=method,
            parameters="{}",
            keys=(f"{method}-0",),
            verdict=Verdict(word=word, metric="", sentence="", provisional=False),
            distances=(distance,),
        )
        for method, (word, distance) in lines.items()
    }


def test_a_closer_look_opens_on_the_nearest_that_forgot_and_has_features():
    lines = pd.DataFrame(
        [line(method) for method in ("retrain", "finetune", "duck", "salun", "sisa")]
    )
    values = long(
        cka(retrain_0=(0.9, 1.0), finetune_0=(0.99, 0.91), duck_0=(0.95, 0.97), salun_0=(0.8, 0.7))
    )
    words = judgements(
        finetune=("did nothing", 0.01),
        duck=("forgot", 0.2),
        salun=("forgot", 0.1),
        sisa=("forgot", 0.0),
    )
    rows = computed.similarity_rows(lines, values, "test", words)

    def opened(rows: Sequence[frames.Row], *kept: str) -> str | None:
        row = computed.opening(rows, "test", kept or None)
        return None if row is None else row.method

    assert opened(rows) == "salun"
    assert opened(rows, "duck-0", "finetune-0") == "duck"
    assert opened(computed.similarity_rows(lines, values, "test")) == "finetune", (
        "nobody is known to have forgotten"
    )
    assert opened([row for row in rows if row.reference]) is None


def test_figures_tell_the_verdict_of_a_method(rows):
    lines, words = (
        pd.DataFrame([line(method) for method in NUMBERS]),
        judgements(duck=("forgot", 0.2)),
    )
    values = [
        (f"{method}-0", name, value)
        for method, each in NUMBERS.items()
        for name, value in zip(METRICS, each, strict=True)
    ]
    judged = computed.similarity_rows(lines, long(values), "test", words)
    for named in (
        cka_scatter.cka_scatter_info(judged, "test").marks,
        agl_agr.agl_agr_info(judged).marks,
    ):
        assert {mark.title: mark.said for mark in named} == {
            "DUCK": "forgot",
            "Fine-tune": "",
            "SCRUB": "",
            "SalUn": "",
        }
    scatter = cka_scatter.draw(cka_scatter.cka_scatter_info(judged, "test"), dark=False)
    told = {
        text
        for trace in scatter.data
        if trace.customdata is not None
        for point in trace.customdata
        for text in point[-1:]
    }
    assert any("forgot" in str(text) for text in told)
    assert set(computed.similarity_frame(judged, "test")["Verdict"]) == {"", "forgot"}


def test_answers_by_hand(rows):
    """Fine-tune, SCRUB and SalUn lie below the diagonal; only SalUn is farther from Retrain than
    the original's 0.9.
    """
    found = {answer.label: answer for answer in computed.answers(rows, "test")}
    assert found["Nearer to the original"].value == "3 of 4"
    assert (
        found["Highest CKA to Retrain"].value == "DUCK"
        and "0.970" in found["Highest CKA to Retrain"].detail
    )
    assert (
        found["Farther than before"].value == "1 of 4"
        and "0.900" in found["Farther than before"].detail
    )
    # order by gap: SalUn, DUCK, SCRUB, Fine-tune; by CKA: DUCK, SCRUB, Fine-tune, SalUn: 3 pairs
    # alike, 3 turned
    assert "τ of the two orders is 0.00 over 4 methods" in found["Accuracy agrees with CKA"].detail
    assert found["Accuracy agrees with CKA"].value == "Hardly"


def test_answers_leave_out_runs_that_did_not_end_well():
    lines = [line("duck"), line("salun", status="diverged")]
    values = [
        (f"{m}-0", name, v)
        for m in ("duck", "salun")
        for name, v in zip(METRICS[:2], NUMBERS[m][:2], strict=True)
    ]
    found = {
        one.label: one
        for one in computed.answers(
            computed.similarity_rows(pd.DataFrame(lines), long(values), "test"), "test"
        )
    }
    assert found["Nearer to the original"].value == "0 of 1"
    assert (
        found["Accuracy agrees with CKA"].value == "–"
        and "needs 4 methods" in found["Accuracy agrees with CKA"].detail
    )
    assert computed.answers((), "test") == ()


def test_the_gap_is_that_of_classes_where_there_is_one(rows):
    assert computed.gap_metric(rows) == "average_gap_classes"
    (row,) = computed.similarity_rows(
        pd.DataFrame([line("duck")]), long([("duck-0", "average_gap", 0.1)]), "test"
    )
    assert computed.gap_metric([row]) == "average_gap"


def test_similarity_frame_says_why_a_number_is_missing(rows):
    table = computed.similarity_frame(rows, "test").set_index("Method")
    assert table.loc["DUCK", "cka_retrain_test"] == 0.97 and table.loc[
        "DUCK", computed.RATIO
    ] == pytest.approx(0.9 * 0.97 / 0.95)
    assert (
        np.isnan(table.loc["SISA", "cka_retrain_test"])
        and "<ensemble>" in table.loc["SISA", "Missing because"]
    )
    assert "h_lr" not in table.columns


def test_cost_of_measuring_is_the_mean_over_the_runs_that_have_the_part():
    def timed(method: str, seconds: float, parts: dict[str, float]):
        return make_result(
            method=method,
            cost={"seconds": seconds, "measuring_seconds": parts}
            if parts
            else {"seconds": seconds},
        )

    results = [
        timed("retrain", 20.0, {"predicting": 1.0, "accuracy": 0.5}),
        timed("retrain", 40.0, {}),  # of an earlier version
        timed("duck", 5.0, {"predicting": 2.0, "representation": 2.5}),
    ]
    table, counted, retrain = computed.measuring_cost(results)
    assert table.to_dict("list") == {
        "part": ["representation", "predicting", "accuracy"],
        "seconds": [2.5, 1.5, 0.5],
        "share": pytest.approx([2.5 / 4.5, 1.5 / 4.5, 0.5 / 4.5]),
        "runs": [1, 2, 1],
    }
    assert (counted, retrain) == (2, 30.0)
    assert computed.measuring_cost(results[1:2])[0].empty


def test_paper_values_are_those_that_were_printed():
    found = {one.method: one for one in computed.paper_values()}
    assert found["finetune"].agl == 0.78 and found["duck"].agr is not None
    assert found["finetune"].cka == pytest.approx((0.876 + 0.790 + 0.799) / 3)
    assert found["original"].cka == pytest.approx((0.898 + 0.821 + 0.818) / 3)
    assert found["finetune"].gap == pytest.approx(0.061)
    assert len(found) == 11
    top = {one.method: one for one in computed.paper_values("top-CUB")}
    assert top["duck"].agl is not None and top["duck"].agl != found["duck"].agl
    # Table 13: the mean over three downstream sets, and the one set that the classes are near to
    assert (
        found["finetune"].knn == pytest.approx((0.784 + 0.390 + 0.816) / 3)
        and top["retrain"].knn is not None
    )
    swin = {one.method: one for one in computed.paper_values("Swin-T")}
    # Table 7: no k-NN accuracies, only their gap
    assert (swin["finetune"].agl, swin["finetune"].h_lr, swin["finetune"].knn) == (0.16, 0.27, None)
    assert swin["finetune"].cka == pytest.approx(0.896) and not swin["finetune"].sets
    assert found["finetune"].sets["CUB"] == (0.390, 0.790) and list(top["duck"].sets) == ["CUB"]
    assert found["scar"].agr == 0.64, "Table 15 has 0.94, against its own H-LR and Table 3"
    assert not any(one.computed for one in found.values())


def test_what_the_paper_does_not_print_is_computed_from_what_it_does():
    found = {one.method: one for one in computed.paper_values("top-CUB-300")}
    duck = found["duck"]
    # Table 13: k-NN 32.7, Retrain 14.0; Table 14: CKA 72.2
    assert (
        duck.computed
        and duck.agr == pytest.approx((1 - 0.187) * 0.722)
        and duck.agl == pytest.approx(0.795, abs=5e-4)
    )
    assert duck.agl and duck.agr and duck.h_lr == pytest.approx(2 / (1 / duck.agl + 1 / duck.agr))
    assert found["retrain"].agl == found["retrain"].agr == 1.0
    assert (
        found["original"].cka == 0.596
        and found["original"].agl is None
        and not found["original"].computed
    )


@pytest.mark.parametrize("series", computed.PAPER_SERIES)
def test_the_formulas_give_what_the_paper_prints_for_100_classes(series):
    """Without Tables 2, 3 and 15 the agreements of 100 classes are computed, and agree with the
    printed ones to their rounding.
    """
    printed = {one.method: one for one in computed.paper_values(series)}
    lines = make_papers_table.source("truly_forgetting_tables")
    lines = lines[~lines["table"].isin([2, 3, 15]) & (lines["model"] == "ResNet-50")]
    lines = lines[(lines["scenario"] == series) & (lines["forget_classes"] == 100)]
    made = make_papers_table.agreements(lines).set_index(["method", "metric"])["value"]
    for name, method in (("PL", "pseudo_labels"), ("DUCK", "duck"), ("CU", "contrastive")):
        assert not printed[method].computed
        assert made[name, "AGL"] == pytest.approx(printed[method].agl, abs=0.012)
        assert made[name, "AGR"] == pytest.approx(printed[method].agr, abs=0.012)


def test_the_papers_lines_over_the_number_of_classes():
    over = computed.paper_over_counts("duck", "top-CUB")
    assert list(over["agr"]["x"]) == [100, 200, 300] and list(over["agr"]["mean"].round(2)) == [
        0.71,
        0.67,
        0.59,
    ]
    assert computed.paper_over_counts("ssd", "random") == {}
    originals = computed.paper_originals()
    assert list(originals["top-CUB"]["mean"]) == pytest.approx([0.697, 0.634, 0.596])
    assert originals["random"]["mean"].iloc[0] == pytest.approx((0.898 + 0.821 + 0.818) / 3)


@pytest.mark.parametrize("name", computed.PAPER_SETS)
def test_every_set_of_the_paper_has_agreements(name):
    found = {one.method: one for one in computed.paper_values(name)}
    assert len(found) >= 8 and all(
        one.agl is not None and one.agr is not None
        for one in found.values()
        if one.method != "original"
    )


def test_similarities_have_three_decimals():
    assert (
        computed.similarity(0.97649) == "0.976"
        and computed.similarity(-0.1, signed=True) == "−0.100"
        and computed.similarity(None) == "–"
    )
    assert (
        computed.similarity(float("nan")) == "–"
        and computed.similarity(0.1, signed=True) == "+0.100"
    )


# --- charts


def test_names_cover_neither_each_other_nor_a_mark():
    window = (0.0, 1.0)
    named = [(0.5, 0.5, "a"), (0.5, 0.51, "second"), (0.9, 0.9, "c"), (1.5, 0.5, "beyond")]
    marks = [(x, y) for x, y, _ in named]
    placed = labels.place(named, window, window, marks)
    assert [(one.title, one.side) for one in placed] == [
        ("a", "below"),
        ("second", "above"),
        ("c", "above"),
    ]
    assert len(labels.place(named, window, window, marks, most=1)) == 1
    ring = [(0.5, 0.55), (0.5, 0.45), (0.55, 0.5), (0.45, 0.5)]  # a mark on every side
    assert labels.place([(0.5, 0.5, "a")], window, window, ring) == []
    (forced,) = labels.place([(0.5, 0.5, "a")], window, window, [*ring, (0.5, 0.56)], must={"a"})
    assert forced.side == "below"  # where it covers one mark and not two
    assert [one.side for one in labels.place([(0.99, 0.5, "at the edge")], window, window, [])] == [
        "left"
    ]


def test_names_that_must_stand_make_way_for_each_other():
    """The second has room above alone, where the first would stand if it were placed by itself."""
    window = (0.0, 1.0)
    named = [(0.5, 0.5, "Retrain"), (0.6, 0.5, "Original")]
    placed = labels.place(
        named, window, window, [(0.66, 0.5), (0.6, 0.45), (0.54, 0.5)], must={"Retrain", "Original"}
    )
    assert [(one.title, one.side) for one in placed] == [
        ("Retrain", "below"),
        ("Original", "above"),
    ]
    (alone,) = labels.place(named[:1], window, window, [], must={"Retrain"})
    assert alone.side == "above"


def test_cka_scatter_by_value(rows):
    info = cka_scatter.cka_scatter_info(rows, "test")
    marks = {mark.title: mark for mark in info.marks}
    assert (marks["DUCK"].x, marks["DUCK"].y, marks["DUCK"].x_half) == (0.95, 0.97, None)
    assert info.original == (1.0, 0.9) and info.retrain == (0.9, 1.0)
    assert info.original_side == 3
    assert info.missing == (("SISA", "An <ensemble> has no features."),)
    assert info.near[0] == pytest.approx(1 - 2.2 * 0.1) and info.outside == ("SalUn",)
    assert info.whole[0] == pytest.approx(0.72 - 0.06 * 0.28) and info.whole[1] == pytest.approx(
        1 + 0.06 * 0.28
    )
    assert "3 lie on the original's side" in cka_scatter.alt_text(
        info
    ) and "DUCK, 0.970" in cka_scatter.alt_text(info)


def test_words_on_the_diagonal_need_room(rows):
    info = cka_scatter.cka_scatter_info(rows, "test")
    low, high = info.whole
    places = np.linspace(low, high, 25)
    crowd = tuple(
        replace(info.marks[0], key=f"m{number}", x=place, y=place)
        for number, place in enumerate(places)
    )
    texts = [
        note.text
        for note in cka_scatter.draw(replace(info, marks=crowd), dark=False).layout.annotations
    ]
    assert "as close to both" not in texts and "nearer to Retrain" in texts


def test_cka_scatter_figure(rows):
    info = cka_scatter.cka_scatter_info(rows, "test")
    figure = cka_scatter.draw(info, dark=False, selected="salun-0")
    assert (
        figure.layout.yaxis.scaleanchor == "x"
        and figure.layout.xaxis.range == figure.layout.yaxis.range == info.whole
    )
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert {
        "as close to both",
        "nearer to the original",
        "nearer to Retrain",
        "Retrain",
        "Original",
        "SalUn",
    } <= set(texts)
    diagonal = figure.data[0]
    assert tuple(diagonal.x) == tuple(diagonal.y) == info.whole
    salun = next(
        trace
        for trace in figure.data
        if trace.name == catalog.FAMILIES[catalog.method("salun").family]
    )
    assert salun.marker.symbol == theme.family_style(catalog.method("salun").family).symbol
    assert 16 in list(salun.marker.size)
    near = cka_scatter.draw(info, dark=True, zoom=True)
    assert near.layout.xaxis.range == info.near
    assert "SalUn" not in [annotation.text for annotation in near.layout.annotations]


def test_the_papers_ghosts_widen_the_window(rows):
    paper = computed.paper_values()
    info = cka_scatter.cka_scatter_info(rows, "test", paper)
    assert len(info.ghosts) == 9 and info.ghost_original == pytest.approx(
        (0.898 + 0.821 + 0.818) / 3
    )
    assert info.whole[0] < min(value for _, value in info.ghosts)
    names = [trace.name for trace in cka_scatter.draw(info, dark=False).data]
    assert "The paper, CKA to Retrain alone" in names and "The paper's references" in names


def test_scatter_without_methods_says_so():
    (row,) = computed.similarity_rows(
        pd.DataFrame([line("duck")]), long([("duck-0", "agl", 0.5)]), "test"
    )
    info = cka_scatter.cka_scatter_info([row], "test")
    assert info.marks == () and info.missing[0][1] == "Not measured in these runs."
    assert "no method has both" in cka_scatter.alt_text(info)
    assert len(cka_scatter.draw(info, dark=False).data) == 1


def test_gap_and_ratio_by_value(rows):
    info = gap_and_ratio.gap_and_ratio_info(rows, "test")
    assert [bar.title for bar in info.bars] == ["SalUn", "DUCK", "SCRUB", "Fine-tune"]
    assert [bar.gap for bar in info.bars] == pytest.approx([1.0, 2.0, 10.0, 20.0])
    assert info.bars[1].ratio == pytest.approx(0.9 * 0.97 / 0.95)
    # by ratio: DUCK 0.919, SCRUB 0.863, Fine-tune 0.827, SalUn 0.810
    assert [bar.place_by_ratio for bar in info.bars] == [4, 1, 2, 3] and info.moved == 4
    assert info.original == (pytest.approx(30.0), pytest.approx(0.81)) and info.retrain == (
        pytest.approx(0.0),
        pytest.approx(1.0),
    )
    assert info.missing == ("SISA",)


def test_places_are_by_nearness_to_a_ratio_of_1():
    """A method beyond Retrain, 1.2, comes after one before it, 0.9."""
    lines = pd.DataFrame([line(method) for method in ("retrain", "duck", "salun")])
    values = cka(retrain_0=(1.0, 1.0), duck_0=(0.5, 0.6), salun_0=(1.0, 0.9))
    values += [
        ("retrain-0", "average_gap", 0.0),
        ("duck-0", "average_gap", 0.1),
        ("salun-0", "average_gap", 0.2),
    ]
    info = gap_and_ratio.gap_and_ratio_info(
        computed.similarity_rows(lines, long(values), "test"), "test"
    )
    assert [(bar.title, bar.place_by_ratio) for bar in info.bars] == [("DUCK", 2), ("SalUn", 1)]


def test_gap_and_ratio_figure(rows):
    info = gap_and_ratio.gap_and_ratio_info(rows, "test", computed.paper_values())
    figure = gap_and_ratio.draw(info, dark=False)
    left, right = figure.data[0], figure.data[1]
    assert list(left.y) == list(right.y) == [bar.title for bar in info.bars]
    assert list(left.x) == [bar.gap for bar in info.bars] and list(right.x) == [
        bar.ratio for bar in info.bars
    ]
    stems = [(one.xref, one.x0, one.x1) for one in figure.layout.shapes if one.layer == "below"]
    assert stems == [("x", 0, bar.gap) for bar in info.bars] + [
        ("x2", 1, bar.ratio) for bar in info.bars
    ]
    assert "Place" in [note.text for note in figure.layout.annotations]
    assert figure.data[2].name == "The paper" and len(figure.data[2].x) == 4
    dashes = [shape.line.dash for shape in figure.layout.shapes if shape.line.dash]
    assert sorted(dashes) == ["dash", "dash", "dot", "dot"]
    names = [a for a in figure.layout.annotations if a.text in ("– – Retrain", "··· Original")]
    # one above the other, so that they never meet
    assert sorted((a.text, a.xref, a.yshift) for a in names) == [
        ("··· Original", "x", 17),
        ("··· Original", "x2", 17),
        ("– – Retrain", "x", 1),
        ("– – Retrain", "x2", 1),
    ]
    assert (
        tuple(figure.layout.xaxis.range) == info.gaps
        and tuple(figure.layout.xaxis2.range) == info.ratios
    )
    assert not info.cut and replace(info, bars=(replace(info.bars[0], ratio_half=5.0),)).cut
    assert "Smallest gap: SalUn, 1.0 points; nearest to 1: DUCK" in gap_and_ratio.alt_text(info)


def test_many_methods_draw_the_interval_of_the_selected_one_alone(rows):
    info = gap_and_ratio.gap_and_ratio_info(rows, "test")
    crowd = tuple(
        replace(info.bars[0], key=f"m{number}", title=str(number), gap_half=50.0, ratio_half=5.0)
        for number in range(13)
    )
    figure = gap_and_ratio.draw(replace(info, bars=crowd), dark=False, selected="m3")
    assert list(figure.data[0].error_x.array) == [
        50.0 if number == 3 else 0.0 for number in range(13)
    ]
    assert (
        "selected method alone" in replace(info, bars=crowd).note
        and not replace(info, bars=crowd).cut
    )


def test_agl_agr_by_value(rows):
    info = agl_agr.agl_agr_info(rows)
    assert info.kind == "both"
    assert [mark.title for mark in info.marks] == ["DUCK", "SCRUB", "SalUn", "Fine-tune"]
    assert [mark.h_lr for mark in info.marks] == pytest.approx(
        [0.9, 2 * 0.56 / 1.5, 2 * 0.475 / 1.45, 2 * 0.4 / 1.3]
    )
    assert info.original == (0.2, 0.6) and [title for title, _ in info.missing] == ["SISA"]


def test_contours_are_lines_of_one_harmonic_mean():
    agl, agr = agl_agr.contour(0.6)
    assert 2 / (1 / agl + 1 / agr) == pytest.approx(np.full(len(agl), 0.6))
    assert agr[0] == pytest.approx(1.0) and agl[-1] == 1.0


def test_agl_agr_figure(rows):
    paper = computed.paper_values()
    figure = agl_agr.draw(agl_agr.agl_agr_info(rows, paper), dark=False)
    texts = [annotation.text for annotation in figure.layout.annotations]
    assert [f"H-LR {level:g}" in texts for level in agl_agr.LEVELS] == [True] * 5
    assert {"Retrain", "Original", "DUCK"} <= set(texts)
    ghosts = next(trace for trace in figure.data if trace.name == "The paper")
    assert len(ghosts.x) == 9 and ["DUCK"] in [list(each) for each in ghosts.customdata]


@pytest.mark.parametrize(
    ("metric", "kind", "title"), [("agl", "agl", "AGL"), ("agr", "agr", "AGR")]
)
def test_one_agreement_alone_is_drawn_as_bars(metric, kind, title):
    lines = pd.DataFrame([line("original"), line("duck"), line("salun")])
    values = long([("original-0", metric, 0.1), ("duck-0", metric, 0.9), ("salun-0", metric, 0.95)])
    info = agl_agr.agl_agr_info(computed.similarity_rows(lines, values, "test"))
    assert (
        info.kind == kind
        and [mark.title for mark in info.marks] == ["SalUn", "DUCK"]
        and info.marks[0].h_lr is None
    )
    figure = agl_agr.draw(info, dark=True)
    assert list(figure.data[0].x) == [0.95, 0.9] and figure.layout.xaxis.title.text.startswith(
        title
    )
    assert {a.text for a in figure.layout.annotations} == {"Retrain", "Original"}
    assert "SalUn, 0.950" in agl_agr.alt_text(info)


def test_no_agreement_is_none_of_them():
    (row,) = computed.similarity_rows(
        pd.DataFrame([line("duck")]), long([("duck-0", "cka_retrain_test", 0.5)]), "test"
    )
    info = agl_agr.agl_agr_info([row])
    assert (
        info.kind == "none"
        and info.marks == ()
        and "no method has been measured" in agl_agr.alt_text(info)
    )


def test_embedding_map_shares_one_window():
    maps = {
        "Original": np.array([[-10.0, 0.0], [10.0, 5.0], [0.0, 1.0]]),
        "Retrain": np.array([[0.0, -5.0], [1.0, 1.0], [2.0, 2.0]]),
    }
    info = embedding_map.embedding_map_info(
        maps,
        ids=np.array([7, 8, 9]),
        labels=np.array([0, 1, 1]),
        forgotten=np.array([True, False, False]),
        names=("cat", "dog"),
    )
    assert info.across == (pytest.approx(-10.8), pytest.approx(10.8)) and info.up == (
        pytest.approx(-5.4),
        pytest.approx(5.4),
    )
    assert info.forgotten_names == ("cat",) and info.name(5) == "5"
    figure = embedding_map.draw(info, dark=False)
    assert [trace.name for trace in figure.data] == ["dog", "to forget", "dog", "to forget"]
    strong = figure.data[1]
    assert strong.marker.color == theme.family_style("gradient_ascent").color(False)
    assert list(strong.x) == [-10.0] and list(figure.data[2].x) == [1.0, 2.0]
    assert figure.layout.xaxis.range == figure.layout.xaxis2.range == info.across
    assert [annotation.text for annotation in figure.layout.annotations] == ["Original", "Retrain"]
    assert "2 t-SNE maps of the features of 3 samples" in embedding_map.alt_text(info)


def test_a_sample_is_ringed_in_every_map():
    maps = {name: np.arange(6.0).reshape(3, 2) + 10 * number for number, name in enumerate("abcde")}
    ids, labels, forgotten = (
        np.array([7, 8, 9]),
        np.array([0, 1, 1]),
        np.array([True, False, False]),
    )
    info = embedding_map.embedding_map_info(
        maps, ids=ids, labels=labels, forgotten=forgotten, marked=8
    )
    figure = embedding_map.draw(info, dark=False)
    rings = [trace for trace in figure.data if trace.name == "sample 8"]
    assert [(trace.x[0], trace.y[0]) for trace in rings] == [
        (2.0 + 10 * number, 3.0 + 10 * number) for number in range(5)
    ]
    assert figure.data[0].customdata[0][0] == "8"
    assert "Sample 8 is ringed in each." in embedding_map.alt_text(info)
    assert (
        embedding_map.embedding_map_info(
            maps, ids=ids, labels=labels, forgotten=forgotten, marked=5
        ).marked
        is None
    )


def test_map_of_nothing_forgotten_has_no_strong_colour():
    info = embedding_map.embedding_map_info(
        {"Retrain": np.zeros((2, 2))},
        ids=np.arange(2),
        labels=np.zeros(2, int),
        forgotten=np.zeros(2, bool),
    )
    assert [trace.name for trace in embedding_map.draw(info, dark=True).data] == ["0"]


def test_layer_heatmap_by_value():
    original = np.array([[1.0, 0.7], [0.6, 0.55]])
    retrain = np.array([[0.95, 0.8], [0.7, 0.85]])
    info = layer_heatmap.layer_heatmap_info(
        "DUCK",
        layers=["a", "b"],
        original=original,
        retrain=retrain,
        references=np.array([0.97, 0.9]),
    )
    assert (
        info.most_changed == 1
        and list(info.to_original) == [1.0, 0.55]
        and list(info.to_retrain) == [0.95, 0.85]
    )
    figure = layer_heatmap.draw(info, dark=False)
    assert [trace.zmin for trace in figure.data] == [pytest.approx(0.5)] * 2 and figure.data[
        0
    ].zmax == 1.0
    assert np.array_equal(figure.data[1].z, retrain) and list(figure.data[1].x) == ["a", "b"]
    assert "b, 0.550; there it is 0.850 to Retrain" in layer_heatmap.alt_text(info)


def test_neighbours_by_value():
    found = {
        "Retrain": (
            np.array([1, 2]),
            np.array([0, 1]),
            np.array([True, False]),
            np.array([0.9, 0.8]),
        ),
        "DUCK": (
            np.array([2, 3]),
            np.array([1, 1]),
            np.array([False, False]),
            np.array([0.7, 0.6]),
        ),
    }
    info = neighbours.neighbours_info(9, 0, found, forgotten=True, names=("cat", "dog"))
    assert info.same_class == (1, 0) and info.ids == (9, 1, 2, 3)
    assert info.rows[1][1][0] == neighbours.Tile(2, "dog", False, False, 0.7)
    images = {each: np.full((8, 8, 1), 20 * each, np.uint8) for each in (9, 1, 2)}
    figure = neighbours.draw(info, images, dark=False)
    assert len(figure.layout.images) == 4  # 9, 1, 2 and 2 again; sample 3 has no picture
    assert all(image.source.startswith("data:image/png;base64,") for image in figure.layout.images)
    marked = [
        shape
        for shape in figure.layout.shapes
        if shape.line.color == theme.family_style("gradient_ascent").color(False)
    ]
    assert len(figure.layout.shapes) == 5 and len(marked) == 2  # the query and sample 1
    assert "1 of 2 under Retrain, 0 of 2 under DUCK" in neighbours.alt_text(info)


# --- sensitivity and the last layer


def test_what_varies_is_found_and_the_rest_held_still():
    """Budget 0.1 or 0.2, epochs 1 or 5; five epochs were run with both budgets, one epoch with one
    alone.
    """
    runs = pd.DataFrame(
        [
            {
                **line("duck", seed),
                "key": f"{budget}-{epochs}-{seed}",
                "scenario_parameters": json.dumps({"budget": budget, "seed": seed}),
                "parameters": json.dumps({"epochs": epochs, "nesterov": True, "mode": "x"}),
            }
            for budget, epochs in ((0.1, 5), (0.2, 5), (0.2, 1))
            for seed in (0, 1)
        ]
    )
    found = computed.varied(runs)
    assert [(axis.name, axis.distinct) for axis in found] == [
        ("forget set.budget", 2),
        ("method.epochs", 2),
    ]
    budget, epochs = found
    assert (budget.title, epochs.title) == ("budget", "epochs")
    assert set(computed.comparable(runs, budget, found)["key"]) == {
        "0.1-5-0",
        "0.1-5-1",
        "0.2-5-0",
        "0.2-5-1",
    }
    assert set(computed.comparable(runs, epochs, found)["key"]) == {
        "0.2-5-0",
        "0.2-5-1",
        "0.2-1-0",
        "0.2-1-1",
    }
    values = long(
        [
            (key, "agl", 0.5 + 0.1 * number)
            for number, key in enumerate(["0.1-5-0", "0.1-5-1", "0.2-5-0", "0.2-5-1"])
        ]
    )
    table = computed.along(computed.comparable(runs, budget, found), values, budget, ["agl"])
    assert (
        list(table["x"]) == [0.1, 0.2]
        and list(table["mean"]) == pytest.approx([0.55, 0.75])
        and list(table["seeds"]) == [2, 2]
    )
    assert table["half"].iloc[0] == pytest.approx(12.706 * 0.1 / 2, rel=1e-4)
    assert (
        computed.axis_value(0.1, budget) == "10\N{NARROW NO-BREAK SPACE}%"
        and computed.axis_value(5.0, epochs) == "5"
    )


def near(*sets: str) -> pd.DataFrame:
    """Runs that forgot 1 and 2 classes near each of some downstream sets."""
    return pd.DataFrame(
        [
            {
                **line("duck"),
                "key": f"{each}-{n}",
                "scenario": "top_classes",
                "scenario_parameters": json.dumps({"n": n, "downstream": each}),
            }
            for each in sets
            for n in (1, 2)
        ]
    )


def test_runs_that_differ_in_words_are_of_two_kinds():
    told = computed.kinds(near("glyphs-serif", "glyphs-hand"))
    assert told == {
        f"glyphs-{each}-{n}": f"Glyphs, {each}" for each in ("serif", "hand") for n in (1, 2)
    }
    assert set(computed.kinds(near("glyphs-serif")).values()) == {""}
    assert set(
        computed.kinds(near("glyphs-serif"), always=("forget set.downstream",)).values()
    ) == {"Glyphs, serif"}
    modes = [
        {**line("salun"), "key": str(mode), "parameters": json.dumps({"lr": 0.1, "mode": mode})}
        for mode in ("sequential", "joint")
    ]
    assert computed.kinds(pd.DataFrame(modes)) == {
        "sequential": "mode sequential",
        "joint": "mode joint",
    }
    places = [
        {
            **line("duck"),
            "key": str(each),
            "scenario_parameters": json.dumps({"class_id": each, "seed": each}),
        }
        for each in (3, 5)
    ]
    assert computed.kinds(pd.DataFrame(places)) == {"3": "class 3", "5": "class 5"}, (
        "a class is a name, a seed a repetition"
    )
    assert computed.varied(pd.DataFrame(places)) == ()


def test_of_lists_of_classes_equally_long_one_is_taken():
    lists = {"a": [0], "b": [1], "c": [1], "d": [0, 1]}
    runs = pd.DataFrame(
        [
            {**line("duck"), "key": key, "scenario_parameters": json.dumps({"class_ids": ids})}
            for key, ids in lists.items()
        ]
    )
    found = computed.varied(runs)
    assert list(computed.comparable(runs, found[0], found)["key"]) == ["b", "c", "d"]


def test_runs_without_noise_count_as_noise_of_zero():
    runs = pd.DataFrame(
        [
            {
                **line("duck"),
                "key": str(noise),
                "parameters": json.dumps({"gradient_noise": noise} if noise else {}),
            }
            for noise in (0, 0.1)
        ]
    )
    (axis,) = computed.varied(runs)
    assert axis.title == "noise on gradients" and axis.values == {"0": 0.0, "0.1": 0.1}


def test_a_switch_that_came_late_is_a_setting():
    """Runs with the default do not name a late parameter."""
    on = [{**line("pseudo_labels"), "key": "on", "parameters": '{"lr": 0.1, "nesterov": true}'}]
    off = [{**line("pseudo_labels"), "key": "off", "parameters": '{"lr": 0.1}'}]
    (axis,) = computed.varied(pd.DataFrame(on + off))
    assert (axis.name, axis.values, axis.switch) == (
        "method.nesterov",
        {"on": 1.0, "off": 0.0},
        True,
    )
    assert [computed.axis_value(value, axis) for value in (0.0, 1.0)] == ["off", "on"]
    assert (
        computed.varied(pd.DataFrame(off)) == ()
        and computed.varied(pd.DataFrame([{**line("no_such_method")}])) == ()
    )


def test_number_of_classes_is_a_setting():
    runs = pd.DataFrame(
        [
            {
                **line("duck"),
                "key": str(n),
                "scenario_parameters": json.dumps({"class_ids": list(range(n))}),
            }
            for n in (1, 3)
        ]
    )
    (axis,) = computed.varied(runs)
    assert axis.title == "classes forgotten" and axis.values == {"1": 1.0, "3": 3.0}


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ((1.0, 2.0, 10.0), "linear"),
        ((0.001, 0.1, 10.0), "log"),
        ((0.0, 0.001, 10.0), "steps"),
        ((0.0, 0.5), "linear"),
    ],
)
def test_sensitivity_scale_shows_every_value(values, scale):
    table = pd.DataFrame(
        {"metric": "agl", "x": values, "mean": 0.5, "half": None, "seeds": 1, "key": "k"}
    )
    info = sensitivity.sensitivity_info(
        "noise", {"AGL": table, "AGR": table.iloc[:0]}, names={10.0: "ten"}
    )
    assert info.scale == scale and [one.title for one in info.lines] == ["AGL"]
    assert sensitivity.draw(info, dark=True, measure="AGL").layout.yaxis.title.text == "AGL"
    figure = sensitivity.draw(info, dark=False)
    assert list(figure.data[0].x) == (
        list(range(len(values))) if scale == "steps" else list(values)
    )
    assert figure.layout.xaxis.type == ("log" if scale == "log" else "linear")
    assert ("not to scale" in figure.layout.xaxis.title.text) == (scale == "steps")
    assert ("ten" in figure.layout.xaxis.ticktext) == (10.0 in values)


def test_reference_line_is_dashed():
    table = pd.DataFrame(
        {
            "metric": "agl",
            "x": [1.0, 2.0],
            "mean": [0.4, 0.6],
            "half": [0.1, None],
            "seeds": [2, 1],
            "key": ["a", "b"],
        }
    )
    info = sensitivity.sensitivity_info(
        "classes", {"AGL": table, "Both": table}, names={}, reference="Both"
    )
    figure = sensitivity.draw(info, dark=True)
    assert [trace.line.dash for trace in figure.data] == ["solid", "dash"]
    assert list(figure.data[0].error_y.array) == [0.1, 0.0]
    assert "AGL from 0.400 to 0.600" in sensitivity.alt_text(info)


def test_the_papers_lines_are_dotted_beside_ours():
    ours = pd.DataFrame(
        {
            "metric": "agl",
            "x": [10.0, 20.0],
            "mean": [0.4, 0.6],
            "half": None,
            "seeds": 1,
            "key": ["a", "b"],
        }
    )
    printed = pd.DataFrame({"x": [10.0, 30.0], "mean": [0.9, 0.2]})
    info = sensitivity.sensitivity_info(
        "share", {"AGL": ours}, names={}, ghosts={"AGL": printed, "Random": printed}
    )
    figure = sensitivity.draw(info, dark=False)
    assert [trace.name for trace in figure.data] == ["AGL", "AGL, the paper", "Random, the paper"]
    assert [trace.line.dash for trace in figure.data] == ["solid", "dot", "dot"]
    assert figure.data[1].line.color == figure.data[0].line.color != figure.data[2].line.color
    assert (
        list(figure.layout.xaxis.tickvals) == [10.0, 20.0, 30.0]
        and figure.layout.yaxis.range[0] < 0.2
    )
    assert "AGL in the paper from 0.900 to 0.200" in sensitivity.alt_text(info)
    assert sensitivity.sensitivity_info("share", {}, names={}, ghosts={"AGL": printed}).lines == ()


# --- several forget sets and two data sets


def of_classes(
    dataset: str, scenario: str, parameters: dict, methods: Sequence[str], preset: str = "authors"
) -> list[dict]:
    return [
        {
            **line(method),
            "key": f"{dataset}-{scenario}-{json.dumps(parameters)}-{method}-{preset}",
            "dataset": dataset,
            "model": "mlp",
            "recipe": json.dumps(make_result().spec["recipe"]),
            "scenario": scenario,
            "scenario_parameters": json.dumps(parameters),
            "method_preset": preset,
        }
        for method in methods
    ]


def test_a_method_is_followed_over_forget_sets():
    lines = of_classes(
        "glyphs",
        "top_classes",
        {"n": 24, "downstream": "glyphs-hand"},
        ("duck", "salun", "retrain"),
    )
    lines += of_classes("glyphs", "random_classes", {"n": 24, "seed": 0}, ("duck", "retrain"))
    lines += of_classes("glyphs", "random_classes", {"n": 12, "seed": 1}, ("duck",))
    runs = pd.DataFrame(lines)
    level = {"top": 0.5, "24": 0.7, "12": 0.9}
    values = []
    for key in runs["key"]:
        part = "top" if "top_classes" in key else "24" if "24" in key else "12"
        values += [(key, "agl", 0.95), (key, "agr", level[part])]
    sets, found = computed.across_sets(runs, long(values))
    assert sets == ("12 at random, draw 1", "24 at random", "24 near Glyphs, hand")
    duck, salun = sorted(found, key=lambda one: one.title)
    assert [duck.points[title].agr for title in sets] == [0.9, 0.7, 0.5] and list(salun.points) == [
        "24 near Glyphs, hand"
    ]
    paper = {"Random": computed.paper_values()}
    info = across_sets.across_info(sets, found, paper)
    figure = across_sets.draw(info, dark=True, selected=duck.points[sets[0]].key)
    own = [trace for trace in figure.data if trace.name == "DUCK" and trace.line.dash == "solid"]
    assert [list(trace.y) for trace in own] == [[0.95] * 3, [0.9, 0.7, 0.5]]
    ghosts = [trace for trace in figure.data if trace.name == "DUCK" and trace.line.dash == "dot"]
    assert [list(trace.y) for trace in ghosts] == [[0.96], [0.85]] and ghosts[
        0
    ].marker.symbol.endswith("-open")
    assert list(figure.layout.xaxis2.ticktext)[-2:] == ["24<br>near Glyphs, hand", "Random"]
    assert (
        "AGR runs from 0.500 (DUCK, 24 near Glyphs, hand) to 0.900 (DUCK"
        in across_sets.alt_text(info)
    )
    assert across_sets.across_info(sets, found).printed == ()


def test_methods_of_one_family_have_marks_of_their_own():
    point = computed.Point(key="k", agl=0.5, agr=None)
    lines = [
        computed.Line(
            id=name, method=name, title=name, family="features", points={"0 at random": point}
        )
        for name in ("a", "b")
    ]
    info = across_sets.across_info([f"{n} at random" for n in range(9)], lines)
    figure = across_sets.draw(info, dark=False)
    assert [trace.marker.symbol for trace in figure.data] == [
        theme.family_style("features").symbol,
        "x",
    ]
    assert info.measures == ("agl",) and figure.layout.xaxis.ticktext[0] == "0<br>at<br>random"


def test_forget_sets_have_short_names():
    assert computed.set_title("class_wise", '{"class_ids": [0]}') == "class 0"
    assert computed.set_title("class_wise", '{"class_ids": [0, 4]}') == "classes 0 4"
    assert computed.set_title("random_classes", '{"n": 12, "seed": 0}') == "12 at random"


def test_a_point_of_two_data_sets_is_the_same_method_with_the_same_kind_of_settings():
    """The authors' values of two recipes differ, and still are the authors'; SCRUB ran on one data
    set alone.
    """
    x = pd.DataFrame(
        of_classes("a", "class_wise", {"class_ids": [0]}, ("duck", "salun", "scrub"))
    ).assign(parameters="{}")
    y = pd.DataFrame(
        of_classes("b", "class_wise", {"class_ids": [0]}, ("duck", "salun"))
        + of_classes("b", "class_wise", {"class_ids": [0]}, ("duck",), preset="tuned")
    )
    y.loc[y["method_preset"] == "tuned", "parameters"] = '{"lr": 0.5}'
    agl = {"a": {"duck": 0.9, "salun": 0.8, "scrub": 0.7}, "b": {"duck": 0.85, "salun": 0.1}}
    values = [
        (key, "agl", agl["a"][method]) for key, method in zip(x["key"], x["method"], strict=True)
    ]
    values += [
        (key, "agl", 0.99 if preset == "tuned" else agl["b"][method])
        for key, method, preset in zip(y["key"], y["method"], y["method_preset"], strict=True)
    ]
    pairs, alone = computed.two_sets(x, y, long(values))
    assert [(pair.title, pair.x, pair.y) for pair in pairs] == [
        ("SalUn", 0.8, 0.1),
        ("DUCK", 0.9, 0.85),
    ]
    assert set(alone) == {"SCRUB", "DUCK (tuned)"}
    info = two_sets.TwoSetsInfo(pairs, "a", "b")
    figure = two_sets.draw(info, dark=False, selected=pairs[0].key)
    assert (
        figure.layout.yaxis.scaleanchor == "x"
        and figure.layout.xaxis.range == figure.layout.yaxis.range
    )
    assert "AGL on a" in figure.layout.xaxis.title.text and "SalUn" in [
        note.text for note in figure.layout.annotations
    ]
    assert "2 lie below the diagonal. Falls most: SalUn, from 0.800 to 0.100" in two_sets.alt_text(
        info
    )


def test_whole_classes_keep_the_presets_that_were_chosen():
    chosen = pd.DataFrame(of_classes("a", "class_wise", {"class_ids": [0]}, ("duck",)))
    lines = of_classes("b", "random_classes", {"n": 2, "seed": 0}, ("duck", "salun", "retrain"))
    lines += of_classes("b", "random_classes", {"n": 2, "seed": 0}, ("duck",), preset="tuned")
    lines += of_classes("b", "one_class", {"budget": 0.2}, ("duck",))
    noisy = [{**one, "key": "noisy", "parameters": '{"gradient_noise": 0.1}'} for one in lines[:1]]
    kept = computed.whole_classes(pd.DataFrame(lines + noisy), chosen)
    assert list(kept["method"]) == ["duck", "retrain"] and set(kept["method_preset"]) == {"authors"}


def test_cost_of_both_kinds_of_metrics():
    def timed(method: str, seconds: float, parts: dict[str, float]):
        return make_result(method=method, cost={"seconds": seconds, "measuring_seconds": parts})

    results = [
        timed(
            "retrain",
            40.0,
            {"predicting": 1.0, "accuracy": 0.5, "agreement": 0.1, "representation": 2.0},
        ),
        timed(
            "duck",
            5.0,
            {
                "predicting": 3.0,
                "accuracy": 0.3,
                "representation": 1.0,
                "downstream": 1.0,
                "distance": 9.0,
            },
        ),
        timed("salun", 5.0, {"predicting": 99.0, "accuracy": 99.0}),
    ]
    cost = computed.compared_cost(results)
    assert cost is not None and cost.runs == 2
    assert (cost.representation, cost.logits, cost.both) == (
        pytest.approx(2.0),
        pytest.approx(0.45),
        pytest.approx(2.0),
    )
    assert cost.share(cost.representation) == pytest.approx(0.05)
    assert computed.compared_cost(results[2:]) is None


def test_twins_differ_in_scope_alone():
    both = [
        ("full", "{}"),
        ("last", '{"scope": "classifier"}'),
        ("other", '{"epochs": 3, "scope": "classifier"}'),
    ]
    runs = pd.DataFrame([{**line("duck"), "key": key, "parameters": text} for key, text in both])
    assert computed.twins(runs) == [("full", "last")]
    assert list(computed.whole_network(runs)["key"]) == ["full"]


def test_the_cka_of_twins_is_that_to_the_original_where_the_classifier_alone_moved():
    pairs = [("full", "last"), ("unmeasured", "last"), ("full", "moved"), ("full", "unknown")]
    assert computed.twin_ckas(pairs, {"full": 0.7, "last": 0.99995, "moved": 0.98}) == {
        ("full", "last"): 0.7
    }


def test_last_layer_by_value():
    lines = pd.DataFrame([line("duck", 0), line("duck", 1), line("salun", 0)])
    rows = computed.similarity_rows(lines, long([("duck-0", "agl", 0.9)]), "test")
    twins = [("duck-0", "d0"), ("duck-1", "d1"), ("salun-0", "s0")]
    agl = {"duck-0": 0.9, "d0": 0.5, "duck-1": 0.8, "d1": 0.6, "salun-0": 0.4}
    info = last_layer.last_layer_info(
        rows, twins, {twins[0]: 0.7, twins[1]: 0.9, twins[2]: 0.99}, agl
    )
    (mark,) = info.marks
    assert (mark.cka, mark.gain, mark.pairs) == (pytest.approx(0.8), pytest.approx(0.3), 2)
    # gains 0.4 and 0.2: s = 0.2 / sqrt(2), s / sqrt(2) = 0.1
    assert mark.gain_half == pytest.approx(12.706 * 0.1, rel=1e-4)
    assert info.missing == ("SalUn",)
    figure = last_layer.draw(info, dark=False, selected="duck-0")
    assert list(figure.data[0].x) == [pytest.approx(0.8)] and [
        a.text for a in figure.layout.annotations
    ] == ["DUCK"]
    assert "DUCK, +0.300" in last_layer.alt_text(info)
