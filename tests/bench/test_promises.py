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
        "Retrain, processor time",
        "Evaluation of one model",
        "The same comparison a second time",
        "Start of the command line",
        "Frames of 500 results",
    ]
    assert "0 runs computed, 4 read" in next(
        line for line in lines if line.startswith("The same comparison")
    )
