"""Named random streams: (seed, purpose) -> seed of an independent generator.

Adding a purpose changes no other stream, and no code touches a global generator. The purposes in
use are the arguments of `run.rng(...)` and of `numpy_rng(...)`; `init`, `order/<role>`,
`augment/<role>`, `teacher`, `noise`, `labels`, `subset`, `forget_set` and `attack` are the ones
that several files share.
"""

from __future__ import annotations

import hashlib

import numpy as np


def stream_seed(seed: int, purpose: str) -> int:
    """A 63-bit seed that depends on both arguments and on nothing else (not on the process,
    platform or hash randomisation).
    """
    digest = hashlib.sha256(f"{seed}/{purpose}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def numpy_rng(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng(stream_seed(seed, purpose))
