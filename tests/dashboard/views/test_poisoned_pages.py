"""The depoisoning scenarios on the pages: their form on Launch, their columns on Results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from builders import make_result, make_spec_row
from pages import open_page, words_on

from mucore.store import open_store

SMALL: Mapping[str, Any] = {"dataset": "digits", "model": "mlp", "preset": "quick"}


def test_both_forms_launch_what_is_typed(home):
    typed = {
        "backdoor.size": "2",
        "backdoor.target": "3",
        "backdoor.budget": "0.05, 0.1",
        "label_flip.pairs": "8-1,0-9",
    }
    at = open_page(
        "launch", **SMALL, scenarios=["backdoor", "label_flip"], methods=["finetune"], **typed
    )
    assert not at.exception and not at.error
    # two budgets and one flip: each an original of its own, then three rows
    assert {one.label: one.value for one in at.metric}["Runs"] == "12"
    at.button(key="start").click().run()
    with open_store(home) as store:
        poisons = [job.spec["poison"] for job in store.jobs() if job.spec["scenario"] is None]
    assert [(p["scenario"], p["budget"]) for p in poisons] == [
        ("backdoor", 0.05),
        ("backdoor", 0.1),
        ("label_flip", 0.1),
    ]
    assert poisons[0] | {"budget": 0.1} == poisons[1]
    assert (poisons[0]["size"], poisons[0]["target"], poisons[0]["position"]) == (
        2,
        3,
        "bottom_right",
    )
    assert poisons[2]["pairs"] == ["0-9", "1-8"]


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ({"label_flip.pairs": "0-10"}, "two classes from 0 to 9, but got 0-10"),
        ({"backdoor.budget": "1200"}, "leave something to retain"),
        (
            {
                "settings": "own",
                "methods": "first_order",
                "first_order.counterpart": "feature_mask",
                "scenarios": "label_flip",
            },
            "no trigger",
        ),
    ],
)
def test_bad_input_gets_its_sentence(home, typed, sentence):
    at = open_page(
        "launch",
        **{**SMALL, "scenarios": ["backdoor", "label_flip"], "methods": ["finetune"], **typed},
    )
    assert not at.exception
    assert sentence in words_on(at)


def rows(scenario: str, metrics: Mapping[str, float]) -> Iterator[Any]:
    for method in ("original", "retrain", "finetune"):
        yield make_result(make_spec_row(scenario=scenario, method=method), metrics=metrics)


def test_results_have_the_attacks_columns_where_there_was_one(home):
    with open_store(home) as store:
        for result in rows(
            "backdoor", {"ta": 0.9, "ra": 0.99, "fa": 1.0, "asr": 0.987, "fa_true": 0.123}
        ):
            store.put_result(result)
    at = open_page("results")
    assert not at.exception
    shown = " ".join(str(one.value) for one in at.markdown) + " ".join(
        str(one.value.to_dict()) for one in at.dataframe
    )
    assert "98.7" in shown and "12.3" in shown
