"""What scripts/tune.py found in the cards' `search`: the values of the preset `tuned`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOUND = Path(__file__).with_name("tuned.json")  # written by scripts/tune.py --write


def found() -> Mapping[str, Mapping[str, Any]]:
    """The tuned values of each method; those of no method where nothing was ever tuned."""
    return json.loads(FOUND.read_text())["methods"] if FOUND.is_file() else {}
