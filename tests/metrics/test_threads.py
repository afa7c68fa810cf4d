"""Metrics on one thread of each BLAS, those that are loaded after the first look included."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# Prints the threads of each BLAS before, inside and after, in a process that has NumPy's alone
# when it first looks for libraries.
CODE = """
import json
import sys

from threadpoolctl import ThreadpoolController, get_cached_controller

from mucore import metrics
from mucore.outputs import Outputs


def threads():
    every = ThreadpoolController().lib_controllers
    return {lib.filepath: lib.num_threads for lib in every if lib.user_api == "blas"}


first = get_cached_controller()
assert "scipy.linalg" not in sys.modules and len(threads()) == 1
inside = []
metrics.TABLE.update(dict.fromkeys(metrics.TABLE, lambda _: float(inside.append(threads()) or 0)))
inputs = metrics.MetricInputs(
    outputs=Outputs({}), original=None, retrained=None, classes=10, weights=None,
    retrained_weights=None, cost={}, retrain_cost=None, retrain_metrics=None, evaluation_seed=0,
    mia_samples=10,
)
for _ in range(2):
    found = metrics.measure(inputs, scenario="one_class", method="finetune")
    short = [name for name, each in found.items() if each.error]
    assert all(metrics.catalog.metric(name).least for name in short)
again = get_cached_controller()
print(json.dumps([inside, threads(), first is not again, again is get_cached_controller()]))
"""


def test_every_blas_runs_on_one_thread_whenever_it_was_loaded():
    alone = {name: "2" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=ROOT,
        env=os.environ | alone,
        capture_output=True,
        text=True,
        check=True,
    )
    inside, after, seen_anew, kept = json.loads(done.stdout)
    assert len(inside) > 20 and all(each == dict.fromkeys(after, 1) for each in inside)
    assert len(after) == 2 and set(after.values()) == {2}  # NumPy's and SciPy's, as they were
    assert seen_anew and kept
