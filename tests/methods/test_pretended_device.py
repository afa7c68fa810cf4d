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
# Whose losses ask the device what a network says of a batch, as that decides which of its images
# take part: how many they are is the shape of all that follows.
ASKING = {"gkt", "scar"}
pytestmark = pytest.mark.slow


METHODS = sorted(ROSTER.keys() - LEFT_OUT)


def told(*cases: str) -> dict[str, dict[str, Any]]:
    """What the program says, by case, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "pretending_program.py", *cases],
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])},
        capture_output=True,
        text=True,
        check=True,
    )
    return {said.pop("name"): said for said in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("methods", [METHODS[start::4] for start in range(4)], ids=" ".join)
def test_methods_keep_to_their_device(methods):
    found = told(*methods)
    assert {name: said["error"] for name, said in found.items() if "error" in said} == {}
    assert {name: said["gap"] for name, said in found.items()} == dict.fromkeys(methods, 0)
    assert {name for name, said in found.items() if said["waits"]} == ASKING & set(methods)


def test_every_metric_of_a_run_is_the_same_from_another_device():
    assert told("run")["run"] == {"metrics": 53, "other": {}}


def test_the_device_refuses_what_a_gpu_would():
    assert told("device")["device"] == {"refused": ["added", "written", "looked up", "drawn"]}
