"""Cost of a run. A cost is a mapping with `seconds`, `processor_seconds` (of a run on a CPU),
`steps`, `reads` (samples by "role/forward" or "role/backward"), `prepared_seconds`,
`prepared_for_request_seconds`, `persistent_bytes`, `scratch_bytes`, `peak_memory_bytes`, `device`,
`precision`, `threads` and `shared_device`; evaluation is excluded from all of it.

Source: MUBox (Li, Thuraisingham, Wei; SACMAT 2025), Table 2 (run time relative to Retrain, extra
    storage); the rest is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mucore.errors import BadValue

Cost = Mapping[str, Any]
CONDITIONS = ("device", "precision", "threads", "clock")
# Passes through a network that a sample costs, by whether its gradient is computed: the backward
# pass multiplies each layer's weights twice, with the inputs' and with the outputs' gradients.
PASSES = {"forward": 1, "backward": 3}


def comparable(*, unlearned: Cost, retrained: Cost) -> bool:
    """Whether two runs were timed on the same device model, precision and number of threads, by the
    same clock.
    """
    return not _different(unlearned, retrained)


def taken(cost: Cost) -> float | None:
    """Seconds of a run: the processor's, summed over its threads, where a CPU did the work, so that
    other programs do not count; else those on the wall. None for what was made elsewhere.
    """
    processor = cost.get("processor_seconds")
    return cost["seconds"] if processor is None else processor


def clock(cost: Cost) -> str:
    """Which clock `taken` reads; results of mucore 0.2 and earlier have the wall's alone."""
    return "wall" if cost.get("processor_seconds") is None else "processor"


def rte(*, unlearned: Cost, retrained: Cost) -> float:
    """Run time relative to Retrain: seconds / seconds, as `taken` has them; below 1 is faster.
    Raises `BadValue` where the two cannot be compared.
    """
    if different := _different(unlearned, retrained):
        raise BadValue(
            f"Times compare under equal conditions only, but Retrain ran with {different}. Run "
            "Retrain again under the same conditions."
        )
    own, reference = taken(unlearned), taken(retrained)
    assert own is not None and reference is not None, "what was made elsewhere has no relative time"
    if not reference > 0:
        raise BadValue(
            "Time is compared with Retrain's, but Retrain took no time. Train for one epoch at "
            "least."
        )
    return float(own / reference)


def work(*, cost: Cost) -> float:
    """Passes through the network of all samples that were read: one forward, three where the
    gradient was computed as well. The same on every machine.
    """
    return float(
        sum(PASSES[name.rpartition("/")[2]] * count for name, count in cost["reads"].items())
    )


def relative_work(*, unlearned: Cost, retrained: Cost) -> float:
    """`work` divided by Retrain's. Raises `BadValue` where Retrain did none."""
    reference = work(cost=retrained)
    if not reference > 0:
        raise BadValue(
            "Work is compared with Retrain's, but Retrain read no sample. Train for one epoch at "
            "least."
        )
    return work(cost=unlearned) / reference


def samples_read(*, cost: Cost) -> float:
    """Samples that passed through the model, each counted at every pass, with or without a
    gradient.
    """
    return float(sum(cost["reads"].values()))


def _different(unlearned: Cost, retrained: Cost) -> str:
    one, other = ({**cost, "clock": clock(cost)} for cost in (unlearned, retrained))
    return ", ".join(
        f"{name} {other[name]} instead of {one[name]}"
        for name in CONDITIONS
        if one[name] != other[name]
    )
