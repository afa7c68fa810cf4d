"""Write dashboard/assets/opening.json.gz: the scenes that pages open on, played.

    python scripts/make_opening.py

Start moves by the first, two moons and a cluster that is a class of its own; the Playground opens
on the second, one of its examples. Both are what the playground plays, so that pages show them
before PyTorch is loaded. Of references that nothing moves by, the end alone is kept.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import torch

from dashboard.frames.playground import OPENS_ON, preset_draft, scene_of
from mucore.playground.scene import Scene
from mucore.playground.stage import play
from mucore.points import draw, from_bytes, to_bytes
from mucore.rng import numpy_rng

FILE = Path(__file__).resolve().parents[1] / "dashboard" / "assets" / "opening.json.gz"
MOONS, CLUSTER = 160, 34  # points of both moons, and of the cluster
SCALE, SHIFT, MIDDLE, SPREAD = 0.85, (-0.08, -0.22), (0.62, 0.62), 0.1  # in coordinates


def three_classes() -> Scene:
    """Two moons below, and a cluster above them, which is to be forgotten."""
    moons = draw("moons", seed=0)[0]
    kept = slice(2, 2 + MOONS)  # without the two outliers
    xy = SCALE * moons.xy[kept] + np.array(SHIFT)
    cluster = MIDDLE + SPREAD * numpy_rng(0, "opening").standard_normal((CLUSTER, 2))
    places = from_bytes(to_bytes(np.concatenate([xy, cluster]))).round(4)
    labels = [*moons.labels[kept].tolist(), *[2] * CLUSTER]
    own = [(x, y, label) for (x, y), label in zip(places.tolist(), labels, strict=True)]
    forget = list(range(MOONS, MOONS + CLUSTER))
    return Scene.read(
        {"points": "own", "own": own, "forget": forget, "methods": [{"id": "finetune"}]}
    )


def main() -> None:
    torch.set_num_threads(1)
    made = []
    for scene, moving in ((three_classes(), ("retrain",)), (scene_of(preset_draft(OPENS_ON)), ())):
        events = list(play(scene))
        still = {"original", "retrain"} - set(moving)
        kept = [
            each
            for each in events
            if each["kind"] != "frame" or each["who"] not in still or each["share"] == 1
        ]
        made.append({"scene": scene.model_dump(mode="json"), "events": kept})
        print([each for each in events if each["kind"] in ("done", "error")])
    FILE.write_bytes(gzip.compress(json.dumps(made).encode(), mtime=0))


if __name__ == "__main__":
    main()
