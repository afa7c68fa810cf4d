"""A store of made-up results, as wide as one of real runs, to measure the speed of reading it.
Never shown to anybody.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np

from mucore import catalog
from mucore.catalog.cards import MethodCard, MetricCard
from mucore.outputs import Outputs, SplitOutputs, confusion
from mucore.spec import RunSpec, make_recipe, make_spec
from mucore.store import Store, open_store
from mucore.store.rows import Measured, Result
from mucore.suite.description import load

# Data set, model, scenario and its forget sets: the budgets of MUBox's figures, single forget sets
# elsewhere, and persons.
SETTINGS: Final[Sequence[tuple[str, str, str, Sequence[Mapping[str, Any]]]]] = (
    (
        "fashion-mnist-10k",
        "resnet9-small",
        "one_class",
        [{"budget": each} for each in (0.02, 0.05, 0.1, 0.2)],
    ),
    (
        "fashion-mnist-10k",
        "resnet9-small",
        "all_classes",
        [{"budget": each} for each in (0.02, 0.05, 0.1, 0.2)],
    ),
    (
        "fashion-mnist-10k",
        "resnet9-small",
        "class_wise",
        [{"class_ids": (0,)}, {"class_ids": (0, 1)}],
    ),
    ("fashion-mnist-10k", "resnet9-small", "worst_case", [{"budget": 0.02}]),
    ("fashion-mnist-10k", "resnet9-small", "best_case", [{"budget": 0.02}]),
    (
        "fashion-mnist-10k",
        "resnet9-small",
        "label_flip",
        [{"budget": each} for each in (0.02, 0.1)],
    ),
    ("fashion-mnist-10k", "resnet9-small", "backdoor", [{"budget": each} for each in (0.02, 0.1)]),
    ("faces", "mlp", "identities", [{"count": 60}]),
)
SUITE: Final = "mucore-bench-1"  # whose hashes its tasks have, or its board would refuse them
UNLEARNING_SEEDS: Final = 2
SPLITS: Final = {"forget": 200, "retain": 9800, "validation": 1000, "test": 2000}  # samples
WIDTH: Final = 256  # of the features
START: Final = datetime(2026, 1, 1, tzinfo=UTC)


def synthetic_store(home: Path, count: int) -> Store:
    """A store in the folder `home` with `count` made-up results and a comparison of them all; the
    caller closes it.

    Every method of the catalogue in every one of `SETTINGS`, one training seed after another, with
    every metric of the scenario from a seeded generator. The runs of the first data set and
    training seed 0 have predictions.
    """
    store = open_store(home)
    kept = [store.artifacts.put_outputs(_outputs(seed)) for seed in range(3)]
    results = list(itertools.islice(_results(kept), count))
    store.put_results(results)
    store.create_comparison(
        "Everything", "Made up, to measure speed.", {}, [result.key for result in results]
    )
    return store


def _results(kept: Sequence[str]) -> Iterator[Result]:
    """Results without end; Retrain stands before the methods, which have gaps to it. `kept` are
    artifacts of predictions.
    """
    rng = np.random.default_rng(0)
    recipe = make_recipe("standard")
    frozen = {(task.dataset, task.scenario): task for task in load(SUITE).tasks}
    settings: list[tuple[list[MetricCard], list[tuple[RunSpec, np.ndarray]]]] = []
    for dataset, model, scenario, several in SETTINGS:
        metrics = [
            card
            for card in catalog.metrics()
            if card.group != "experiment" and not card.downstream and _serves(card, scenario)
        ]
        methods = [
            "original",
            *(card.id for card in catalog.methods() if _runs(card, dataset, scenario)),
        ]
        for parameters in several:
            specs = [
                make_spec(
                    dataset=dataset,
                    model=model,
                    recipe=recipe,
                    scenario=scenario,
                    method=method,
                    scenario_parameters=parameters,
                )
                for method in methods
            ]
            settings.append((metrics, [(spec, rng.random(len(metrics))) for spec in specs]))
    counts = {split: _counts(rng, samples).tolist() for split, samples in SPLITS.items()}
    number = itertools.count()
    for seed in itertools.count():
        for metrics, lines in settings:
            predicted = lines[0][0].dataset == SETTINGS[0][0]  # the labels are those of ten classes
            retrain: np.ndarray | None = None
            for first, typical in lines:
                reference = first.method in ("original", "retrain")
                for again in range(1 if reference else UNLEARNING_SEEDS):
                    spec = first.model_copy(
                        update={"training_seed": seed, "unlearning_seed": again}
                    )
                    shares = np.clip(typical + rng.normal(0, 0.02, len(metrics)), 0, 1)
                    values = np.array(
                        [_scaled(card, share) for card, share in zip(metrics, shares, strict=True)]
                    )
                    gaps = None if reference or retrain is None else values - retrain
                    retrain = values if spec.method == "retrain" else retrain
                    finished = START + timedelta(minutes=next(number))
                    task = frozen.get((first.dataset, spec.scenario or ""))
                    yield Result(
                        key=spec.key,
                        model_key=spec.model_key,
                        spec=spec.model_dump(mode="json"),
                        status="ok",
                        stop_reason=None,
                        metrics={
                            card.id: Measured(
                                float(value), gap=None if gaps is None else float(gaps[place])
                            )
                            for place, (card, value) in enumerate(zip(metrics, values, strict=True))
                        },
                        cost={"seconds": 1.0, "steps": 10, "reads": {"retain/backward": 9800}},
                        losses=tuple(np.linspace(2, 0.1, recipe.epochs).tolist()),
                        confusion=counts,
                        data_hash=task.data_hash if task else "",
                        forget_hash=task.forget_hash if task else "f" * 16,
                        forget_count=SPLITS["forget"],
                        retain_count=SPLITS["retain"],
                        versions={"mucore": "0"},
                        device="cpu",
                        outputs=kept[("original", "retrain").index(spec.method) if reference else 2]
                        if predicted and seed == 0
                        else None,
                        started=finished - timedelta(seconds=1),
                        finished=finished,
                    )


def _runs(card: MethodCard, dataset: str, scenario: str) -> bool:
    return (
        card.family != "own"
        and catalog.dataset(dataset).task in card.tasks
        and _serves(card, scenario)
    )


def _serves(card: MethodCard | MetricCard, scenario: str) -> bool:
    return card.scenarios is None or scenario in card.scenarios


def _scaled(card: MetricCard, share: float) -> float:
    """A share in 0..1 as a value that the metric could have."""
    top = {
        "fraction": card.high or 1.0,
        "ratio": 2.0,
        "distance": 30.0,
        "log10": 8.0,
        "seconds": 60.0,
        "count": 1e6,
        "bytes": 1e8,
    }
    return share * top[card.unit]


def _counts(rng: np.random.Generator, samples: int, classes: int = 10) -> np.ndarray:
    labels = rng.integers(0, classes, samples)
    return confusion(
        labels,
        np.where(rng.random(samples) < 0.9, labels, rng.integers(0, classes, samples)),
        classes,
    )


def _outputs(seed: int, classes: int = 10) -> Outputs:
    """Predictions of one model on every split, with features; ids and labels are the same for every
    seed.
    """
    rng = np.random.default_rng(seed)
    made, start = {}, 0
    for split, samples in SPLITS.items():
        labels = np.arange(samples) % classes
        logits = rng.normal(size=(samples, classes)).astype(np.float32)
        logits[np.arange(samples), labels] += 3
        made[split] = SplitOutputs(
            logits=logits,
            labels=labels,
            ids=np.arange(start, start + samples),
            confusion=confusion(labels, logits.argmax(1), classes),
            features=rng.normal(size=(min(samples, 4000), WIDTH)).astype(np.float16),
        )
        start += samples
    return Outputs(made)
