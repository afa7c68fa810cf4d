"""What the clock of a run counts."""

from __future__ import annotations

import subprocess
import sys

import pytest

FIRST_STEP = """
import sys, torch
from mucore.engine.run import Run

torch.manual_seed(0)
with torch.no_grad(), Run(seed=0, device="cpu").clock():
    before = {*sys.modules}
    weights = torch.ones(3, requires_grad=True)
    torch.optim.Adam([weights]).step()
    print(len({*sys.modules} - before) < 100, torch.rand(1).item())
"""


@pytest.mark.slow
def test_libraries_load_outside_the_clock_of_the_first_run() -> None:
    command = [sys.executable, "-c", FIRST_STEP]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "0.49625658988952637"]
