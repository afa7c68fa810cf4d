"""Where the files lie that come with the program and are no code: embedded images, demo results,
the papers' numbers, and what docs/fidelity.md says of them.
"""

from pathlib import Path

_HERE = Path(__file__).resolve()
_CHECKOUT = _HERE.parents[1]
# A wheel brings them in a folder of this package, laid out as the repository (pyproject.toml).
ROOT = _CHECKOUT if (_CHECKOUT / "pyproject.toml").is_file() else _HERE.parent / "_shipped"
DATA = ROOT / "data"
