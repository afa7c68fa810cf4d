"""Networks to draw for, data/draw: a pack of six runs on the digits, whole class 0, and their
weights in half precision. One method forgot, one on its outputs alone, one did nothing, one damaged
the model. Takes some ten seconds.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from mucore.shipped import DATA
from mucore.store import open_store, write_pack

METHODS = "random_labels,ssd,gradient_ascent,finetune"
RUN = (
    *("run", "--dataset", "digits", "--model", "mlp", "--scenario", "class_wise"),
    *("--set", "scenario.class_ids=0", "--methods", METHODS, "--method-preset", "tuned"),
)
FOLDER = DATA / "draw"


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([sys.executable, "-m", "mucore", *RUN, "--home", home], check=True)
        with open_store(home) as store:
            runs = [each for each in store.results() if each.spec.get("scenario")]
            keys = [each.key for each in runs]
            write_pack(store, FOLDER, keys=keys, outputs=keys, comparisons=False)
            (FOLDER / "weights").mkdir(exist_ok=True)
            for each in runs:
                record = store.get_model(each.model_key)
                assert record is not None and record.weights is not None
                arrays = store.artifacts.get_arrays(record.weights)
                half: dict[str, Any] = {
                    name: array.astype(np.float16) for name, array in arrays.items()
                }
                np.savez_compressed(FOLDER / "weights" / f"{each.key}.npz", **half)


if __name__ == "__main__":
    main()
