"""Methods, and a whole run with its metrics, on a device that is not there (tests/pretend.py): no
tensor is on the wrong one, and the host does not wait for it within a step.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from roster import ROSTER

TESTS = Path(__file__).parents[1]
# Torch cannot differentiate forward through a tensor that pretends.
LEFT_OUT = {"second_order"}
# Whose losses ask the device something: what the labels or parts of a batch are, to draw others
# from a stream of the run; what its samples look like, to decide what comes next; or, once a
# sample, what a frozen copy says of it.
ASKING = {
    *("delete", "random_labels", "rum", "salun"),
    *("gkt", "scar"),
    *("bad_teacher", "lotus", "scrub", "scrub_rewind"),
}
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    """What the program says, by case; one process for all, since torch starts in each."""
    told = subprocess.run(
        [
            sys.executable,
            "pretending_program.py",
            *sorted(ROSTER.keys() - LEFT_OUT),
            "run",
            "device",
        ],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {said.pop("name"): said for said in map(json.loads, told.splitlines())}


@pytest.mark.parametrize("method", sorted(ROSTER.keys() - LEFT_OUT))
def test_a_method_keeps_to_its_device(method, found):
    said = found[method]
    assert "error" not in said, said["error"]
    assert said["gap"] == 0
    assert (said["waits"] > 0) == (method in ASKING)


def test_every_metric_of_a_run_is_the_same_from_another_device(found):
    assert found["run"] == {"metrics": 53, "other": {}}


def test_the_device_refuses_what_a_gpu_would(found):
    assert found["device"] == {"refused": ["added", "written", "looked up", "drawn"]}
