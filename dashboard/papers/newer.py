"""Papers beyond the five whose whole tables stand beside ours, and benchmarks that are described in
words because their tables could not be had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dashboard.papers.tables import Printed, every


@dataclass(frozen=True)
class Beside:
    """A paper of which tables stand beside ours on Results: `id` as in data/papers/tables.csv."""

    id: str
    citation: str
    remark: str

    @property
    def tables(self) -> tuple[Printed, ...]:
        return tuple(one for one in every() if one.paper == self.id)


@dataclass(frozen=True)
class Described:
    """A benchmark or a measure without a table here: what it does, and what differs here."""

    title: str
    citation: str
    does: str
    here: str


BESIDE: Final = (
    Beside(
        "salun",
        "Fan et al.: SalUn, ICLR 2024",
        "Its average gap, over four numbers, is not ours: the distance to Retrain here counts "
        "membership attacks once.",
    ),
    Beside(
        "l1-sparse",
        "Jia, Liu, Ram et al.: Model Sparsity Can Simplify Machine Unlearning, NeurIPS 2023",
        "Its sparse network has no counterpart here; its pattern, that gaps shrink with sparsity, "
        "can be read off the two tables.",
    ),
    Beside(
        "lotus",
        "Spartalis et al.: LoTUS, CVPR 2025",
        "The other lines are runs of its authors, not the numbers of the methods' own papers.",
    ),
)
DESCRIBED: Final = (
    Described(
        "DeepUnlearn",
        "Cadet et al.: Deep Unlearn, 2024, arXiv 2410.01276",
        "Compares 18 methods. Each has 100 trials for a data set, model and training seed; rates "
        "and decay between 1e-5 and 0.1, epochs up to a fifth of the training's; the trial with "
        "the smallest error over retain, forget and validation accuracy and a membership attack "
        "wins; ten seeds are reported.",
        "Here up to 60 settings with an equal cap of work, judged on three seeds, and test seeds "
        "that the search never saw: three of its ten reported seeds are the ones it searched on. "
        "Its attack aims at one half, ours at Retrain's value. Its tables could not be had, so "
        "its order of methods is not shown.",
    ),
    Described(
        "EasyDUB",
        "Rinberg et al., 2026, arXiv 2602.16400",
        "Measures KLoM: how far the margins of many unlearned networks are distributed from those "
        "of as many retrained ones. Untouched originals have 9.26 at the 95th percentile of the "
        "forget set and 0.32 of the retain set (100 networks, CIFAR-10, ResNet-9), Retrain 0 by "
        "definition.",
        "KLoM is not among the metrics here. The nearest is the page Forgetting quality, which "
        "compares many models, too. What it prints for its floor is contradicted by the figure "
        "beside it, which shows 0.65 to 0.7 for the retain set.",
    ),
    Described(
        "IAM",
        "Wang et al., USENIX Security 2025, arXiv 2506.06112",
        "Asks of measures of unlearning how well they tell forgotten samples from others when the "
        "forgetting was exact, and how well they follow partial forgetting.",
        "IAM itself is not among the metrics here, and its tables rank measures, not methods, so "
        "there is no line to stand beside. Agreement of metrics on Trade-offs asks a related "
        "question of the metrics that are here.",
    ),
)
