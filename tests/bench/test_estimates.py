"""Estimates of time are looked at and written down."""

from __future__ import annotations

import pytest

from mucore import cli
from mucore.bench import estimates
from mucore.runner import estimate


@pytest.mark.slow
def test_estimates_are_looked_at_three_times_in_two_comparisons(capsys):
    assert cli.main(["bench", "--estimates", "--quick", "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0].rpartition(", ")[2] for line in lines] == [
        "at the start",
        "at a third",
        "at two thirds",
    ] * 2


def test_the_estimates_section_gives_ratios_and_says_that_the_machine_was_busy():
    looks = [("from own runs", estimates.Look("at the start", estimate.Span(20, 30, 45), 40.0))]
    names = {"CPU cores": "2", "Device": "CPU", "Measured": "2026-01-02"}
    section = estimates.section(looks, 7.2, names)
    assert "| from own runs | at the start | about 20 to 45 s | 30.0 s | 40.0 s | 0.75 |" in section
    assert "a load of 7 on 2 cores" in section and "load" not in estimates.section(
        looks, 1.0, names
    )
