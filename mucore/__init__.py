"""mucore: machine-unlearning methods, scenarios and metrics, computed once and stored.

Importing this package is cheap: it brings neither torch nor pandas. Start at `mucore.api` (Python),
`python -m mucore` (command line) or `mucore.catalog` (what there is).
"""

import os

from mucore import _torchvision_cpu

_torchvision_cpu.install()
# Threads of OpenMP that have nothing to do wait asleep. As they come they wait busily: beside other
# work on the same cores a training of two threads then took ten times its processor time and twenty
# times its time on the wall. Read when PyTorch is loaded; set it yourself to choose otherwise.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

__version__ = "0.2.0"
