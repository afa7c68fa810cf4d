"""What a session keeps between runs changes no number, and stays small."""

from __future__ import annotations

import pytest
from launching import digits

from mucore.runner import cache
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.store import open_store


def test_the_last_few_are_kept():
    made: list[str] = []
    found = cache.Kept(4)
    for key in "abcdaeabe":  # "b" was asked for longest ago
        found.get(key, lambda key=key: made.append(key))
    assert made == ["a", "b", "c", "d", "e", "b"]


@pytest.mark.slow
def test_runs_of_one_session_have_the_numbers_of_runs_of_their_own(tmp_path):
    specs = [
        digits(method, scenario, evaluation_seed=seed)
        for scenario, method, seed in (
            ("one_class", "original", 0),
            ("one_class", "finetune", 0),
            ("one_class", "ssd", 0),
            ("class_wise", "finetune", 0),
            ("class_wise", "finetune", 1),
            ("one_class", "ssd", 1),
        )
    ]
    with open_store(tmp_path / "one") as one, open_store(tmp_path / "each") as each:
        session = Session(one, "cpu")
        for spec in specs:
            shared, alone = execute(spec, session), execute(spec, Session(each, "cpu"))
            timed = {"rte", "unlearning_seconds", "peak_memory_bytes"}
            for name in shared.metrics.keys() - timed:
                assert shared.metrics[name] == alone.metrics[name], (spec.label, name)
            assert shared.outputs == alone.outputs
