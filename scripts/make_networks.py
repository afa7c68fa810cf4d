"""Write mucore/catalog/networks.json: what each model takes for each size of image.

    python scripts/make_networks.py

tests/catalog/test_networks.py holds the file against the networks.
"""

from __future__ import annotations

import json
import sys
from dataclasses import astuple
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "tests"))

from mucore.catalog import networks


def main() -> None:
    measure = import_module("network_figures").measure
    lines = []
    for model, shapes in networks.shapes().items():
        found = {
            f"{channels}x{side}": astuple(measure(model, channels, side))
            for channels, side in shapes
        }
        inner = ",\n".join(f"  {json.dumps(key)}: {json.dumps(row)}" for key, row in found.items())
        lines.append(f" {json.dumps(model)}: {{\n{inner}\n }}")
        print(model, flush=True)
    networks.FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
