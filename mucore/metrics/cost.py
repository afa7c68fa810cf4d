"""Cost of a run. A cost is a mapping with `seconds`, `steps`, `reads` (samples by "role/forward" or
"role/backward"), `prepared_seconds`, `prepared_for_request_seconds`, `persistent_bytes`,
`scratch_bytes`, `peak_memory_bytes`, `device`, `precision`, `threads` and `shared_device`;
evaluation is excluded from all of it.

Source: MUBox (Li, Thuraisingham, Wei; SACMAT 2025), Table 2 (run time relative to Retrain, extra
    storage); the rest is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mucore.errors import BadValue

Cost = Mapping[str, Any]
CONDITIONS = ("device", "precision", "threads")


def comparable(*, unlearned: Cost, retrained: Cost) -> bool:
    """Whether two runs were timed on the same device model, precision and number of threads."""
    return not _different(unlearned, retrained)


def rte(*, unlearned: Cost, retrained: Cost) -> float:
    """Run time relative to Retrain: seconds / seconds; below 1 is faster. Raises `BadValue` where
    the two cannot be compared.
    """
    if different := _different(unlearned, retrained):
        raise BadValue(
            f"Times compare under equal conditions only, but Retrain ran with {different}. Run "
            "Retrain again under the same conditions."
        )
    if not retrained["seconds"] > 0:
        raise BadValue(
            "Time is compared with Retrain's, but Retrain took no time. Train for one epoch at "
            "least."
        )
    return float(unlearned["seconds"] / retrained["seconds"])


def prepared(*, cost: Cost, what: str) -> float:
    """Seconds that making training records took, outside the run's clock. Raises `BadValue` where
    an earlier version did not count them.
    """
    if what not in cost:
        raise BadValue(
            "An earlier version made this run and did not count preparation. Run it again to get "
            "the number."
        )
    return float(cost[what])


def samples_read(*, cost: Cost) -> float:
    """Samples that passed through the model, each counted at every pass, with or without a
    gradient.
    """
    return float(sum(cost["reads"].values()))


def _different(unlearned: Cost, retrained: Cost) -> str:
    return ", ".join(
        f"{name} {retrained[name]} instead of {unlearned[name]}"
        for name in CONDITIONS
        if unlearned[name] != retrained[name]
    )
