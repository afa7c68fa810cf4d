"""The command that judges networks of a user's own, by `mucore.api.evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from mucore.cli.base import WHOLE, Device, Json
from mucore.cli.printing import print_frame, to_json


def evaluate(
    *,
    unlearned: str,
    original: str = "",
    retrained: str = "",
    model: str = "",
    data: str = "",
    forget: str = "",
    preprocess: Annotated[str, Parameter(allow_leading_hyphen=True)] = "",
    head: str = "",
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
    unlearned
        Files, one a training seed, separated by commas: weights, or .npz of outputs.
    original
        Likewise.
    retrained
        Likewise.
    model
        A model's name, timm:NAME, torchvision:NAME or FILE.py:NAME. Outputs need none, nor data.
    data
        A data set's name, npz:PATH or folder:PATH.
    forget
        A file of rows of the training data, a mask, or set:NAME.
    preprocess
        What pixels become, if no file tells: 0..1, -1..1, MEAN/STD, mucore (the training data's own
        mean and deviation) or inside (the network scales them: 0..1, or by a layer in its file).
    head
        The layer whose input are the features.
    batch_size
        Samples that a network is asked at once.
    out
        A pack of it, a file that ends in .zip.
    keep
        Put it among the home's results, for the pages.
    """
    import mucore.api as mu

    files = {"unlearned": unlearned, "original": original, "retrained": retrained}
    given: Any = {role: [*filter(None, text.split(","))] or None for role, text in files.items()}
    given |= {"train": data or None, "forget": forget or None, "model": model or None}
    given |= {"preprocess": preprocess, "head": head, "device": device, "batch_size": batch_size}
    report = mu.evaluate(**given)
    if out is not None:
        report.save(out)
    comparison = report.keep().id if keep else None
    if as_json:
        found: dict[str, Any] = {"metrics": report.table().to_dict("records")}
        found |= {"verdict": report.verdict.content(), "preprocess": report.asked.preprocess}
        parts = ("about", "forgotten", "caveats", "missing", "pictures")
        found |= {"comparison": comparison} | {part: getattr(report, part) for part in parts}
        print(to_json(found, indent=2))
        return
    print(report)
    if comparison is not None:
        print(f"Kept as comparison {comparison}.")
    print_frame(report.table())
    for why in dict.fromkeys(report.missing.values()):
        names = (metric for metric, reason in report.missing.items() if reason == why)
        print(f"Missing {', '.join(names)}: {why}")
    if out is not None:
        print(f"Saved. It opens by: mucore app {out}")
