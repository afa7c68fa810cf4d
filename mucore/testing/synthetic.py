"""A store of many results, to measure the speed of reading it: those of the demo, again and again
with other seeds. Never shown to anybody.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

from mucore import shipped
from mucore.runs import RunSpec
from mucore.store import Store, open_store
from mucore.store.pack import open_pack
from mucore.store.records import Result

_SEEDS_APART = 1000  # no run of the demo has such a training seed


def synthetic_store(home: Path, count: int) -> Store:
    """A store in the folder `home` with `count` results, without predictions, and a comparison of
    them all; the caller closes it.
    """
    with open_pack(shipped.DATA / "demo") as demo:
        real = [(RunSpec.model_validate(each.spec), each) for each in demo.results()]
    repeated = (_again(*each, turn) for turn in itertools.count() for each in real)
    results = list(itertools.islice(repeated, count))
    store = open_store(home)
    store.put_results(results)
    store.create_comparison(
        "Everything", "Repeated, to measure speed.", {}, [result.key for result in results]
    )
    return store


def _again(spec: RunSpec, result: Result, turn: int) -> Result:
    seed = spec.training_seed + turn * _SEEDS_APART
    other = spec.model_copy(update={"training_seed": seed})
    return replace(
        result,
        key=other.key,
        model_key=other.model_key,
        spec=other.model_dump(mode="json"),
        outputs=None,
        weights=None,
        demo=False,
    )
