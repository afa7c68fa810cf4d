"""What a session keeps between runs changes no number, and stays small."""

from __future__ import annotations

import numpy as np
import pytest
from launching import digits

from mucore.outputs import Outputs, SplitOutputs
from mucore.runner import kept
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.store import open_store


def outputs(samples: int) -> Outputs:
    split = SplitOutputs(
        logits=np.zeros((samples, 4), np.float32),
        labels=np.zeros(samples, np.int64),
        ids=np.arange(samples),
        confusion=np.zeros((4, 4), np.int64),
    )
    return Outputs({"test": split})


def test_the_last_few_are_kept_and_large_ones_never(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kept, "MOST_BYTES", 4 * 4 * 100 + 8 * 16)  # 100 samples and their counts
    made: list[object] = []

    def get(key: object, samples: int = 10) -> None:
        found.get(key, lambda: made.append(key) or outputs(samples))

    found = kept.Kept()
    for key in ("a", "b", "c", "d", "a", "e", "a", "b", "e"):  # "b" was asked for longest ago
        get(key)
    assert made == ["a", "b", "c", "d", "e", "b"]
    made.clear()
    for samples in (100, 100, 101, 101):
        get(samples, samples)
    assert made == [100, 101, 101]


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
