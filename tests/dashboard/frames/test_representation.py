"""Numbers of the page about encoders, by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd
import pytest
import similarities
from facts import tells
from similarities import cka, judgements, line, long

from dashboard import frames
from dashboard.frames import representation as computed
from dashboard.frames import sensitivity


@pytest.fixture
def rows() -> tuple[frames.Row, ...]:
    return similarities.rows()


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
    assert tells(salun.cells[computed.RATIO].reason, "No Retrain", "training seed")
    assert salun.cells[computed.RATIO].reason != duck.cells[computed.RATIO].reason


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

    def opened(rows: Sequence[frames.Row]) -> str | None:
        row = computed.opening(rows, "test")
        return None if row is None else row.method

    assert opened(rows) == "salun"
    assert opened(computed.similarity_rows(lines, values, "test")) == "finetune", (
        "nobody is known to have forgotten"
    )
    assert opened([row for row in rows if row.reference]) is None


def test_paper_values_are_those_that_were_printed():
    found = computed.paper_values()
    assert len(found) == 11 and found.loc["finetune", "AGL, paper"] == 0.78
    assert found.loc["finetune", "CKA to Retrain, paper"] == pytest.approx(
        (0.876 + 0.790 + 0.799) / 3
    )
    # Table 13: the mean over three downstream sets
    assert found.loc["finetune", "k-NN, paper"] == pytest.approx((0.784 + 0.390 + 0.816) / 3)
    assert found.loc["scar", "AGR, paper"] == 0.64, "Table 15 has 0.94, against its own H-LR"
    # Table 7: no k-NN accuracies, only their gap
    swin = computed.paper_values("Swin-T")
    assert swin.loc["finetune", ["AGL, paper", "H-LR, paper"]].tolist() == [0.16, 0.27]
    assert swin.loc["finetune", "CKA to Retrain, paper"] == pytest.approx(0.896)
    assert "k-NN, paper" not in swin


def test_what_the_paper_does_not_print_is_computed_from_what_it_does():
    found = computed.paper_values("top-CUB-300")
    duck = found.loc["duck"]
    # Table 13: k-NN 32.7, Retrain 14.0; Table 14: CKA 72.2
    assert duck["AGR, paper*"] == pytest.approx((1 - 0.187) * 0.722)
    assert duck["AGL, paper*"] == pytest.approx(0.795, abs=5e-4)
    assert duck["H-LR, paper*"] == pytest.approx(
        2 / (1 / duck["AGL, paper*"] + 1 / duck["AGR, paper*"])
    )
    original = found.loc["original"]
    assert original["CKA to Retrain, paper*"] == 0.596 and pd.isna(original["AGL, paper*"])


def test_the_table_has_references_first_and_the_papers_numbers_beside_ours(rows):
    table = computed.table(rows, "test", computed.paper_values())
    assert table["Method"].tolist()[:4] == ["Retrain", "Original", "DUCK", "SCRUB"]
    duck = table.set_index("Method").loc["DUCK"]
    assert duck[["CKA to Original", "CKA to Retrain", "AGL"]].tolist() == [0.95, 0.97, 0.9]
    assert duck["AGL, paper"] == computed.paper_values().loc["duck", "AGL, paper"]


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
    table = sensitivity.settings(runs)
    budget, epochs = "forget set.budget", "method.epochs"
    assert sensitivity.varied(table) == [budget, epochs]
    assert [sensitivity.axis_title(name) for name in (budget, epochs)] == ["budget", "epochs"]
    kept = ["0.1-5-0", "0.1-5-1", "0.2-5-0", "0.2-5-1"]
    own = sensitivity.held(table, budget)
    assert sorted(own.index) == kept
    held = {"0.2-5-0", "0.2-5-1", "0.2-1-0", "0.2-1-1"}
    assert set(sensitivity.held(table, epochs).index) == held
    values = long([(key, "agl", 0.5 + 0.1 * number) for number, key in enumerate(kept)])
    places = runs.merge(own[budget].rename("x"), left_on="key", right_index=True)
    found = sensitivity.along(places[["key", "x", "training_seed"]], values, ["agl"])
    assert list(found["x"]) == [0.1, 0.2] and list(found["seeds"]) == [2, 2]
    assert list(found["mean"]) == pytest.approx([0.55, 0.75])
    assert found["half"].iloc[0] == pytest.approx(12.706 * 0.1 / 2, rel=1e-4)
    assert sensitivity.value_text(budget, 0.1) == "10\N{NARROW NO-BREAK SPACE}%"
    assert sensitivity.value_text(epochs, 5) == "5"


def test_a_switch_that_came_late_is_a_setting():
    """Runs with the default do not name a late parameter."""
    on = [{**line("pseudo_labels"), "key": "on", "parameters": '{"lr": 0.1, "nesterov": true}'}]
    off = [{**line("pseudo_labels"), "key": "off", "parameters": '{"lr": 0.1}'}]
    table = sensitivity.settings(pd.DataFrame(on + off))
    assert sensitivity.varied(table) == ["method.nesterov"]
    assert table["method.nesterov"].to_dict() == {"on": True, "off": False}
    assert sensitivity.value_text("method.nesterov", False) == "off"
    assert sensitivity.varied(sensitivity.settings(pd.DataFrame(off))) == []
    assert sensitivity.varied(sensitivity.settings(pd.DataFrame([line("no_such_method")]))) == []


def test_of_lists_of_classes_that_are_equally_long_the_commonest_is_drawn():
    lists = {"a": [0], "b": [1], "c": [1], "d": [0, 1]}
    runs = pd.DataFrame(
        {**line("duck"), "key": key, "scenario_parameters": json.dumps({"class_ids": classes})}
        for key, classes in lists.items()
    )
    table = sensitivity.settings(runs)
    assert sensitivity.varied(table) == ["forget set.classes"]
    assert list(sensitivity.held(table, "forget set.classes").index) == ["b", "c", "d"]


def test_agl_elsewhere_is_that_of_plain_runs_of_whole_classes():
    runs = pd.DataFrame(
        [
            line("duck"),
            line("duck", 1),
            {**line("duck", 2), "scenario": "one_class"},
            {**line("duck", 3), "parameters": '{"gradient_noise": 0.1}'},
            {**line("duck", 4), "method_preset": "tuned"},
        ]
    )
    values = long([(f"duck-{seed}", "agl", 0.2 * seed) for seed in range(5)])
    found = computed.elsewhere(runs, values)
    assert found.to_dict() == {("duck", "authors"): 0.1, ("duck", "tuned"): 0.8}


def test_twins_differ_in_scope_alone_and_leave_the_encoder_of_one_as_it_was():
    both = [
        ("full", "{}"),
        ("last", '{"scope": "classifier"}'),
        ("other", '{"epochs": 3, "scope": "classifier"}'),
    ]
    runs = pd.DataFrame([{**line("duck"), "key": key, "parameters": text} for key, text in both])
    agl = [("full", "agl", 0.9), ("last", "agl", 0.5)]
    values = long([*agl, ("full", "cka_original_test", 0.8), ("last", "cka_original_test", 1.0)])
    pairs = computed.twins(runs, values)
    assert pairs.to_dict("records") == [
        {"all": "full", "classifier": "last", "cka": 0.8, "agl": 0.9, "agl_classifier": 0.5}
    ]
    assert list(sensitivity.whole_network(runs)["key"]) == ["full"]
    moved = long([*agl, ("full", "cka_original_test", 0.8), ("last", "cka_original_test", 0.9)])
    assert computed.twins(runs, moved).empty


def test_what_changing_all_layers_gains_is_the_mean_over_pairs(rows):
    pairs = pd.DataFrame(
        {"all": "salun-0", "cka": [0.8, 0.6], "agl": 0.9, "agl_classifier": [0.5, 0.3]}
    )
    ((name, line),) = computed.gains(rows, pairs).iterrows()
    assert next(row for row in rows if row.id == name).method == "salun" and line["pairs"] == 2
    assert line[["cka", "agl_classifier", "gain"]].tolist() == pytest.approx([0.7, 0.4, 0.5])
