"""The promises are measured, every line of them, and written down."""

from __future__ import annotations

import pytest

from mucore import cli


@pytest.mark.slow
def test_the_quick_benchmark_measures_every_line(capsys):
    assert cli.main(["bench", "--quick", "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0].partition(" (")[0] for line in lines] == [
        "Training of the original",
        "Its accuracy on the training set",
        "Its accuracy on the test set",
        "Training throughput against a bare loop",
        "Gradients of every training sample, for efficacy, against an epoch of training",
        "Retrain, processor time",
        "Evaluation of one model",
        "The same comparison a second time",
        "CKA of 500 x 64 features",
        "Forgetting quality of 32 x 32 models, 50 samples",
        "Start of the command line",
        "Frames of 500 results",
    ]
    assert "0 runs computed, 4 read" in next(
        line for line in lines if line.startswith("The same comparison")
    )
