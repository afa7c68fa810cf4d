"""A user's own images: `npz:PATH` and `folder:PATH`. Nothing in them is ever unpickled or
executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from mucore.datasets.files import centred, pooled
from mucore.datasets.splits import Source, Split, Splits, assemble, hold_out_part, split_of
from mucore.errors import BadValue
from mucore.userfiles import datasets, npz
from mucore.userfiles.images import GREY, UNREADABLE, Listing, check_classes
from mucore.userfiles.sizes import TEST_SHARE, VALIDATION_SHARE


def load_npz(name: str, root: Path) -> Splits:
    """The arrays of an npz file as a data set. Raises `BadFile`, `BadValue`."""
    arrays, class_names = npz.arrays(datasets.path_of(name))
    parts = {
        split: split_of(
            x=arrays[f"x_{split}"],
            y=arrays[f"y_{split}"],
            identities=arrays.get(f"identity_{split}"),
        )
        for split in npz.SPLITS
        if f"x_{split}" in arrays
    }
    return _assemble(name, parts, class_names, notes=[], natural=False)


def load_folder(name: str, root: Path) -> Splits:
    """The images of a folder or a zip archive as a data set; classes sorted by name, those named by
    whole numbers as numbers. Raises `BadFile`, `BadValue`.
    """
    listing = datasets.listing(name)
    report = listing.place.report
    parts = {split: _decoded(listing, split) for split in npz.SPLITS if listing.of(split)}
    report.refuse(listing.place.path, datasets.settings_of(name).skip)
    check_classes(listing, parts["train"].labels)
    return _assemble(name, parts, listing.class_names, notes=report.sentences, natural=True)


def _assemble(
    name: str,
    parts: dict[str, Split],
    class_names: Sequence[str],
    *,
    notes: list[str],
    natural: bool,
) -> Splits:
    division: list[str] = []
    for split, kind, share, told in (
        ("test", "test", TEST_SHARE, notes),
        ("val", "validation", VALIDATION_SHARE, division),
    ):
        if split not in parts:
            whole = parts["train"]
            parts["train"], parts[split] = _held_out(whole, share, kind)
            told.append(
                f"No {kind} data given: {len(parts[split]):,} of {len(whole):,} training images "
                "are held out for it, "
                + ("drawn by class" if whole.identities is None else "whole persons drawn")
                + " with seed 0."
            )
    return assemble(
        name,
        train=parts["train"],
        validation=parts["val"],
        test=parts["test"],
        class_names=class_names,
        natural=natural,
        data_hash=datasets.data_hash(name),
        notes=notes,
        division_notes=division,
        task="attributes" if parts["train"].labels.ndim == 2 else "classes",
    )


def _held_out(train: Split, share: float, kind: str) -> tuple[Split, Split]:
    kept, held = hold_out_part(train, share)
    is_lost = train.labels.ndim == 1 and len(train.labels.unique()) > len(kept.labels.unique())
    if is_lost or not len(kept):
        raise BadValue(
            f"No {kind} data given, and {share:.0%} of the {len(train):,} training images, or of "
            f"their persons, held out leave none of a class. Give {kind} data, or more images."
        )
    return kept, held


def _decoded(listing: Listing, split: str) -> Split:
    """A split's images (n, side, side, channels), those that cannot be decoded in the report."""
    found = listing.of(split)
    pixels = np.empty((len(found), listing.side, listing.side, listing.channels), np.uint8)
    kept = []
    for number, image in enumerate(pooled(lambda each: _pixels(listing, each.file), found)):
        if image is None:
            listing.place.report.broken[UNREADABLE].append(found[number].file)
        else:
            pixels[number] = image
            kept.append(number)
    names = tuple(found[number].file for number in kept)
    persons = [found[number].person for number in kept]
    return split_of(
        x=pixels[kept] if len(kept) < len(found) else pixels,
        y=np.array([found[number].label for number in kept], np.int64),
        identities=None if None in persons else np.array(persons),
        source=Source(len(names), names),
    )


def _pixels(listing: Listing, file: str) -> np.ndarray | None:
    """Pixels (side, side, c) uint8 as the image is seen; deep grey ones are scaled from 16 to 8
    bits.
    """
    try:
        with listing.place.open(file) as stream, Image.open(stream) as image:
            # a large JPEG is decoded at a fraction of its size, never below twice what is asked
            image.draft(None, (2 * listing.side, 2 * listing.side))
            ImageOps.exif_transpose(image, in_place=True)
            if image.mode[0] == "I":
                grey = (np.asarray(image).astype(np.int64) >> 8).clip(0, 255)
                image = Image.fromarray(grey.astype(np.uint8))
            image = image.convert("L" if image.mode in GREY else "RGB")
            found = np.asarray(centred(image, listing.side, listing.side))
    except Exception:  # Pillow raises many kinds for what is damaged
        return None
    return found[..., None] if found.ndim == 2 else found
