"""mucore: machine-unlearning methods, scenarios and metrics, computed once and stored.

Importing this package is cheap: it brings neither torch nor pandas. Start at `mucore.api` (Python),
`python -m mucore` (command line) or `mucore.catalog` (what there is).
"""

from mucore import _torchvision_cpu

_torchvision_cpu.install()

__version__ = "0.2.0"
