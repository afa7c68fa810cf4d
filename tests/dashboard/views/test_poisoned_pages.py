"""The forms of the depoisoning scenarios on Launch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pages import open_page

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
