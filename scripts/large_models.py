"""What every method takes on large models, as the section "Large models" of docs/benchmarks.md.

    python scripts/large_models.py            print it
    python scripts/large_models.py --measure  print it with one step of each network, measured here
    python scripts/large_models.py --write    put it into docs/benchmarks.md

Memory and work come from the formulas on the cards (mucore/runner/estimate/memory.py); no network
is made. A measured step is one of `fit` in a process of its own, whose peak of resident memory is
compared with what a plan says.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docs_text import table

from mucore import catalog
from mucore.catalog.networks import network
from mucore.runner.estimate.large import SETTINGS, rows
from mucore.runner.estimate.memory import FLOAT, WORKING

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
HEAD = "## Large models"
GB = 1e9
# batches that a machine of 8 GB can take
MEASURED = (
    ("resnet9-small", "fashion-mnist-10k", 256),
    ("resnet18", "cifar100", 64),
    ("resnet18", "cifar100", 256),
    ("resnet50", "tiny-imagenet", 64),
    ("resnet50", "tiny-imagenet", 128),
    ("vit-b-16", "imagenet", 4),
    ("vit-b-16", "imagenet", 8),
)


def section(measured: list[list[str]]) -> str:
    found = {(row.method, row.dataset): row for row in rows()}
    lines = []
    for method in dict.fromkeys(method for method, _ in found):
        card, cells = catalog.method(method), []
        for dataset, _ in SETTINGS:
            row = found[method, dataset]
            cells += [
                f"{row.memory.total / GB:.1f}",
                f"{(row.memory.method + row.memory.record) / GB:.2f}",
                f"{row.work.retrains:.3f}",
            ]
        lines.append([card.title, *cells])
    head = ["Method"]
    for dataset, model in SETTINGS:
        what = f"{catalog.model(model).title}, {catalog.dataset(dataset).title}"
        head += [f"{what}: GB", "of that its own", "Retrains"]
    parts = [
        HEAD,
        f"Written by `python scripts/large_models.py {'--measure ' if measured else ''}--write`: "
        "what a plan says, without making a network. Authors' settings, the standard recipe (15 "
        "epochs, batches of 64), one class to be forgotten. GB is all that lies in memory at "
        "once; of it, what the method holds for itself and its record of training stand apart. "
        "The rest is the images (those of ImageNet stay in their files), two networks, gradient, "
        "optimiser, a copy of the weights, and above all what a batch leaves behind for its "
        "gradient: where a number is large, it is the authors' batch size, which can be set. "
        "Retrains are samples that pass the network, with a gradient counted three times, as a "
        "share of Retrain's; rules that stop a method early are taken never to speak, and passes "
        "over made-up images count.",
        table(head, lines),
    ]
    if measured:
        parts += [
            "One epoch of two steps of SGD with momentum in a process of its own, weights with the "
            f"channels innermost. Said is three copies of the weights and {WORKING} times what a "
            "batch leaves behind by tensors without content.",
            table(["Network", "Batch", "Said (GB)", "Peak growth (GB)", "Said / was"], measured),
        ]
    return "\n\n".join(parts) + "\n"


def measure() -> list[list[str]]:
    lines = []
    for model, dataset, batch in MEASURED:
        done = subprocess.run(
            [sys.executable, __file__, "--step", model, dataset, str(batch)],
            capture_output=True,
            text=True,
            check=True,
        )
        said, was = said_of(model, dataset, batch), float(done.stdout)
        title = f"{catalog.model(model).title}, {catalog.dataset(dataset).title}"
        lines.append(
            [title, str(batch), f"{said / GB:.2f}", f"{was / GB:.2f}", f"{said / was:.2f}"]
        )
        print(lines[-1], file=sys.stderr, flush=True)
    return lines


def said_of(model: str, dataset: str, batch: int) -> float:
    card = catalog.dataset(dataset)
    assert card.shape is not None and card.classes is not None
    figures = network(model, card.shape)
    weights = FLOAT * (figures.parameters + card.classes * (figures.features + 1))
    return 3 * weights + WORKING * batch * figures.graph  # beside the network itself


def step(model: str, dataset: str, batch: int) -> None:
    """Print by how many bytes resident memory grew in two steps."""
    import torch

    from mucore import models
    from mucore.engine.data import Samples, TensorImages
    from mucore.engine.loop import Optimizer, Phase, fit
    from mucore.engine.run import Run

    card = catalog.dataset(dataset)
    assert card.shape is not None and card.classes is not None
    channels, side, _ = card.shape
    built = models.build(model, in_channels=channels, classes=card.classes, image_size=side, seed=0)
    network = models.channels_last(built)
    index = torch.arange(2 * batch)
    pixels = torch.randint(256, (len(index), *card.shape), dtype=torch.uint8)
    images = TensorImages(pixels, [0.5] * channels, [0.2] * channels, "cpu")
    data = Samples(images, index, index % card.classes, index, "train")
    optimizer, run = Optimizer(lr=0.01, momentum=0.9), Run(seed=0)
    # the run samples it: the system's own record of the most begins with that of the parent process
    with run.clock():
        fit(network, [Phase(data=data, batch_size=batch)], run, epochs=1, optimizer=optimizer)
    print(run.cost.peak_memory_bytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--step", nargs=3)
    asked = parser.parse_args()
    if asked.step:
        step(asked.step[0], asked.step[1], int(asked.step[2]))
        return
    text = section(measure() if asked.measure else [])
    if not asked.write:
        print(text)
        return
    page = PAGE.read_text(encoding="utf-8")
    old = re.search(rf"{HEAD}\n.*?(?=\n## |\Z)", page, flags=re.DOTALL)
    page = page.replace(old[0], text) if old else f"{page.rstrip()}\n\n{text}"
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
