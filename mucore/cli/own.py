"""The command that judges networks of a user's own from files; the numbers are those of
`mucore.evaluate`.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from mucore.cli.base import WHOLE, Device, Json
from mucore.cli.printing import print_table, to_json
from mucore.errors import BadValue, said

if TYPE_CHECKING:
    from torch import Tensor, nn

    from mucore.datasets import Splits
    from mucore.engine.data import Samples
    from mucore.evaluate import Report

PATHS = ("npz:", "folder:")
Files = Annotated[str, Parameter(help="Weight files, one a training seed, separated by commas.")]
Named = Annotated[str, Parameter(help="A model's name, timm:NAME, torchvision:NAME, FILE.py:NAME.")]
Data = Annotated[str, Parameter(help="A data set's name, npz:PATH or folder:PATH.")]
Listed = Annotated[str, Parameter(help="A file of rows of the training data, a mask, or set:NAME.")]
Pixels = Annotated[
    str,
    Parameter(help="mucore, 0..1, -1..1 or MEAN/STD, if no file tells.", allow_leading_hyphen=True),
]
Layer = Annotated[str, Parameter(help="The layer whose input are the features.")]


def evaluate(
    *,
    unlearned: Files,
    original: Files = "",
    retrained: Files = "",
    model: Named,
    data: Data,
    forget: Listed,
    preprocess: Pixels = "",
    head: Layer = "",
    batch_size: Annotated[int, WHOLE] = 256,
    out: Path | None = None,
    keep: bool = False,
    device: Device = "auto",
    as_json: Json = False,
) -> None:
    """Judge networks that were unlearned elsewhere, from their files: metrics, gaps to Retrain, a
    verdict. Nothing is stored, but with --out or --keep.

    Parameters
    ----------
    out
        A pack of it, a file that ends in .zip.
    keep
        Put it among the home's results, for the pages.
    """
    import mucore.api as mu
    from mucore import datasets
    from mucore.engine.data import on_device
    from mucore.forget_sets import identity
    from mucore.forget_sets.saved import is_reference
    from mucore.models.checkpoint_pixels import loaded
    from mucore.models.checkpoints import preprocess_of
    from mucore.runs import make_recipe

    given = {"unlearned": unlearned, "original": original, "retrained": retrained}
    files = {role: [*map(Path, filter(None, text.split(",")))] for role, text in given.items()}
    every = [*chain(*files.values())]
    pixels = preprocess or max(map(preprocess_of, every), default="")
    pixels = pixels or _recognised(every[0], model, data)
    # rows are those of who trained on every published image: none is held out of training
    changes = {"validation_from": "test"} | ({"preprocess": pixels} if pixels else {})
    recipe = make_recipe("standard", changes)
    splits = datasets.load(data, **recipe.cut())
    train = on_device(splits, "train", "cpu")

    def networks(role: str) -> Any:
        found = []
        for path in files[role]:
            found.append(_built(model, splits))
            for note in loaded(path, found[-1], train, recipe.preprocess, str(path)).notes:
                print(f"{path}: {note}", file=sys.stderr)
        return found or None

    listed = forget if is_reference(forget) else Path(forget)
    rows = identity.chosen(listed, data)
    tested = ["test", *["validation"] * (splits.validation.source is splits.test.source)]
    report = mu.evaluate(
        **{role: networks(role) for role in files},
        train=_inputs(train),
        test=_inputs(*(on_device(splits, name, "cpu") for name in tested)),
        forget=identity.to_ids(splits, rows),
        head=head,
        device=device,
        batch_size=batch_size,
    )
    named = {"data": _short(data), "model": _short(model)}
    if out is not None:
        report.save(out, **named)
    kept = report.keep(**named).id if keep else None
    _print(report, as_json, {"comparison": kept, "preprocess": recipe.preprocess})


def _recognised(path: Path, model: str, data: str) -> str:
    """What pixels were when the weights in a file were trained, by its first batch norm; "" for
    what mucore makes of them.
    """
    from mucore import datasets
    from mucore.engine.data import on_device
    from mucore.models import load_checkpoint
    from mucore.models.checkpoint_pixels import recognised
    from mucore.runs import make_recipe
    from mucore.runs.preprocess import USUAL

    splits = datasets.load(data, **make_recipe("standard").cut())
    network = _built(model, splits)
    load_checkpoint(path, network)
    right = recognised(network, on_device(splits, "train", "cpu"), USUAL)
    if right:
        print(f"Its first batch norm says preprocess {right}, which is used.", file=sys.stderr)
    return right


def _short(name: str) -> str:
    """A name of data or of a network without its path: "mine.npz", "timm:vit"."""
    return Path(name.partition(":")[2]).name if name.startswith(PATHS) else Path(name).name


def _built(name: str, splits: Splits) -> nn.Module:
    """A network of its name for the data. Raises `BadValue` where there is none, or none such."""
    channels, height, _ = splits.shape
    kind, _, rest = name.partition(":")
    if not rest:
        from mucore.models import build

        return build(name, in_channels=channels, classes=splits.classes, image_size=height, seed=0)
    try:
        if kind == "timm":
            import timm

            return timm.create_model(rest, num_classes=splits.classes, in_chans=channels)
        if kind == "torchvision":
            from torchvision.models import get_model

            return get_model(rest, weights=None, num_classes=splits.classes)
        file, _, function = name.rpartition(":")
        sys.path.insert(0, str(Path(file).resolve().parent))  # for what stands beside it
        return runpy.run_path(file)[function]()
    except Exception as error:  # of any kind: the code is the user's, or of another library
        raise BadValue(
            f"{name} makes no network: {type(error).__name__}, {said(str(error), 200)}. Name a "
            "function or class in FILE.py that takes no arguments."
        ) from error


def _inputs(*parts: Samples) -> tuple[Tensor, Tensor]:
    """Samples (n, c, h, w) as networks eat them, and their labels (n,)."""
    import torch

    from mucore.engine.run import Run

    x = [batch.x for part in parts for batch in part.batches(Run(seed=0), 512)]
    return torch.cat(x), torch.cat([part.labels for part in parts])


def _print(report: Report, as_json: bool, more: Mapping[str, Any]) -> None:
    """`more` is the number of the comparison that was kept, and what pixels became."""
    table = report.table()
    if as_json:
        parts = ("about", "forgotten", "caveats", "missing")
        found = {"verdict": report.verdict.content(), "metrics": table.to_dict("records")}
        print(to_json(found | {**more} | {part: getattr(report, part) for part in parts}, indent=2))
        return
    print(report)
    if (comparison := more["comparison"]) is not None:
        print(f"Kept as comparison {comparison}.")
    print_table([*table], [[_cell(each) for each in row] for row in table.itertuples(index=False)])
    missing = [f"{metric}: {why}" for metric, why in report.missing.items()]
    for title, lines in {"Read beside it:": report.caveats, "Missing:": missing}.items():
        if lines:
            print(title, *lines, sep="\n- ")


def _cell(value: Any) -> str:
    """A number to four digits, an interval, a name; "" for none."""
    if isinstance(value, tuple):
        return " to ".join(map(_cell, value))
    none = value is None or value != value
    return "" if none else value if isinstance(value, str) else f"{value:.4g}"
