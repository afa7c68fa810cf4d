"""Exact copies among training images, as a forget set sees them: an image whose twin stays is
forgotten in vain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Copies:
    """`forgotten` are forgotten samples that have an identical image among those that stay, `twins`
    the retained ones; `doubles` are forgotten samples whose image another forgotten one has, too.
    All are sorted ids, int64.

    `groups` names the images that are on both sides: forgotten ids and retained ids, by the first
    forgotten one.
    """

    forgotten: np.ndarray
    twins: np.ndarray
    doubles: np.ndarray
    groups: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


def find_copies(digests: np.ndarray, ids: np.ndarray, forget: np.ndarray) -> Copies:
    """`digests` (n,) name the images of the training samples `ids` (n,), equal ones being equal
    images; `forget` are ids among them.
    """
    image = np.unique(digests, return_inverse=True)[1]
    leaving = np.isin(ids, forget)
    count = int(image.max(initial=-1)) + 1
    gone = np.bincount(image[leaving], minlength=count)
    left = np.bincount(image[~leaving], minlength=count)
    both = (gone > 0) & (left > 0)
    places = np.flatnonzero(both[image])
    groups: dict[int, tuple[list[int], list[int]]] = {}
    for place in places[np.argsort(ids[places])]:
        groups.setdefault(int(image[place]), ([], []))[0 if leaving[place] else 1].append(
            int(ids[place])
        )
    return Copies(
        forgotten=np.sort(ids[leaving & both[image]]),
        twins=np.sort(ids[~leaving & both[image]]),
        doubles=np.sort(ids[leaving & (gone > 1)[image]]),
        groups=tuple(sorted((tuple(one), tuple(other)) for one, other in groups.values())),
    )
