"""mucore: machine-unlearning methods, scenarios and metrics, computed once and stored.

Importing this package is cheap: it brings neither torch nor pandas. Start at `mucore.api` (Python),
`python -m mucore` (command line) or `mucore.catalog` (what there is).
"""

import os

from mucore import _torchvision_cpu

_torchvision_cpu.install()
# Threads of OpenMP that have nothing to do wait busily for a while before they sleep. As they come
# that while is so long that several trainings on the same cores take many times their processor
# time; not at all makes a training that is alone half as fast. A tenth of it costs nothing alone
# (docs/records/benchmarks-2026-11.md, Threads that wait). GNU's OpenMP, which PyTorch's wheels for
# Linux bring, reads it when PyTorch is loaded; set either variable yourself to choose otherwise.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "30000")

__version__ = "0.2.0"
