"""Numbers of the page about encoders, by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd
import pytest
import similarities
from facts import tells
from similarities import cka, judgements, line, long, of_classes

from dashboard import frames
from dashboard.frames import representation as computed


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

    def opened(rows: Sequence[frames.Row], *kept: str) -> str | None:
        row = computed.opening(rows, "test", kept or None)
        return None if row is None else row.method

    assert opened(rows) == "salun"
    assert opened(rows, "duck-0", "finetune-0") == "duck"
    assert opened(computed.similarity_rows(lines, values, "test")) == "finetune", (
        "nobody is known to have forgotten"
    )
    assert opened([row for row in rows if row.reference]) is None


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
    budget, epochs = found
    assert [(axis.name, axis.distinct, axis.title) for axis in found] == [
        ("forget set.budget", 2, "budget"),
        ("method.epochs", 2, "epochs"),
    ]
    kept = ["0.1-5-0", "0.1-5-1", "0.2-5-0", "0.2-5-1"]
    assert sorted(computed.comparable(runs, budget, found)["key"]) == kept
    held = {"0.2-5-0", "0.2-5-1", "0.2-1-0", "0.2-1-1"}
    assert set(computed.comparable(runs, epochs, found)["key"]) == held
    values = long([(key, "agl", 0.5 + 0.1 * number) for number, key in enumerate(kept)])
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


# --- two data sets


def test_whole_classes_keep_the_presets_that_were_chosen():
    chosen = pd.DataFrame(of_classes("a", "class_wise", {"class_ids": [0]}, ("duck",)))
    lines = of_classes("b", "random_classes", {"n": 2, "seed": 0}, ("duck", "salun", "retrain"))
    lines += of_classes("b", "random_classes", {"n": 2, "seed": 0}, ("duck",), preset="tuned")
    lines += of_classes("b", "one_class", {"budget": 0.2}, ("duck",))
    noisy = [{**one, "key": "noisy", "parameters": '{"gradient_noise": 0.1}'} for one in lines[:1]]
    kept = computed.whole_classes(pd.DataFrame(lines + noisy), chosen)
    assert list(kept["method"]) == ["duck", "retrain"] and set(kept["method_preset"]) == {"authors"}


def test_twins_differ_in_scope_alone():
    both = [
        ("full", "{}"),
        ("last", '{"scope": "classifier"}'),
        ("other", '{"epochs": 3, "scope": "classifier"}'),
    ]
    runs = pd.DataFrame([{**line("duck"), "key": key, "parameters": text} for key, text in both])
    assert computed.twins(runs) == [("full", "last")]
    assert list(computed.whole_network(runs)["key"]) == ["full"]


def test_what_changing_all_layers_gains_is_the_mean_over_pairs(rows):
    """Two pairs of SalUn, one of DUCK without an AGL on the classifier alone."""
    twins = [("salun-0", "a"), ("salun-0", "b"), ("duck-0", "c")]
    ckas = dict.fromkeys(twins, 0.8) | {twins[1]: 0.6}
    agl = {"salun-0": 0.9, "a": 0.5, "b": 0.3, "duck-0": 0.9}
    (one,) = computed.gains(rows, twins, ckas, agl)
    assert (one.row.method, one.pairs) == ("salun", 2)
    assert (one.cka, one.agl_last, one.gain) == pytest.approx((0.7, 0.4, 0.5))
