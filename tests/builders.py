"""Valid records for tests, with real keys and made-up numbers.

`make_spec_row` gives a checked `RunSpec`, `make_result` a `Result` around one, `full_store` a store
in a folder with a whole comparison in it. Numbers come from a seeded generator: the same call gives
the same records. Nothing here is ever shown to a user.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa

from mucore import catalog
from mucore.outputs import Outputs, SplitOutputs, confusion
from mucore.runs import REVISION, Recipe, RunSpec, make_spec
from mucore.store import schema
from mucore.store.records import Measured, Model, Result

if TYPE_CHECKING:
    from mucore.store import Store

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def value(metrics: Mapping[str, Measured], name: str) -> float:
    """A metric that must be there; fails with its reason otherwise."""
    found = metrics[name].value
    assert found is not None, metrics[name].error
    return found


# Per metric: a typical value of the retrained model, and how far methods stray from it.
TYPICAL: Mapping[str, tuple[float, float]] = {
    "ta": (0.88, 0.03),
    "ra": (0.99, 0.02),
    "fa": (0.50, 0.25),
    "va": (0.88, 0.03),
    "tra": (0.90, 0.03),
    "tfa": (0.40, 0.20),
    "mia_correctness": (0.50, 0.15),
    "mia_confidence": (0.55, 0.15),
    "mia_entropy": (0.52, 0.15),
    "mia_m_entropy": (0.53, 0.15),
    "mia_prob": (0.54, 0.15),
    "mia_confidence_attack_accuracy": (0.55, 0.05),
    "mia_confidence_auc": (0.56, 0.05),
    "mia_confidence_tpr_01": (0.01, 0.005),
    "mia_confidence_tpr_1": (0.03, 0.01),
    "l2": (12.0, 3.0),
    "l2_normalised": (0.4, 0.1),
}


def make_spec_row(
    *,
    dataset: str = "digits",
    model: str = "mlp",
    scenario: str | None = "one_class",
    method: str = "finetune",
    recipe: Recipe | None = None,
    scenario_parameters: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    training_seed: int = 0,
    unlearning_seed: int = 0,
    evaluation_seed: int = 0,
    mia_samples: int = 100,
) -> RunSpec:
    """A checked spec on a recipe of two epochs. `scenario=None` gives the original's training
    job.
    """
    return make_spec(
        dataset=dataset,
        model=model,
        recipe=recipe or Recipe(epochs=2, batch_size=64, lr=0.1, revision=REVISION),
        scenario=scenario,
        method="original" if scenario is None else method,
        scenario_parameters=scenario_parameters,
        parameters=parameters if scenario is not None else None,
        training_seed=training_seed,
        unlearning_seed=unlearning_seed,
        evaluation_seed=evaluation_seed,
        mia_samples=mia_samples,
    )


def make_result(
    spec: RunSpec | None = None,
    /,
    *,
    dataset: str = "digits",
    model: str = "mlp",
    scenario: str | None = "one_class",
    method: str = "finetune",
    training_seed: int = 0,
    unlearning_seed: int = 0,
    metrics: Mapping[str, float | None | Measured] | None = None,
    gaps: Mapping[str, float] | None = None,
    **changes: Any,
) -> Result:
    """A result of `spec`, or of the spec that the names describe.

    `metrics` gives values by metric id (None: missing, with an error sentence), `gaps` their gaps;
    `changes` sets any field of `Result`.
    """
    spec = spec or make_spec_row(
        dataset=dataset,
        model=model,
        scenario=scenario,
        method=method,
        training_seed=training_seed,
        unlearning_seed=unlearning_seed,
    )
    gaps = gaps or {}
    measured: dict[str, Measured] = {}
    for name, value in (
        metrics if metrics is not None else {"ta": 0.9, "ra": 0.99, "fa": 0.5}
    ).items():
        if isinstance(value, Measured):
            measured[name] = value
        elif value is None:
            measured[name] = Measured(None, error=f"{name} could not be computed in this test.")
        else:
            measured[name] = Measured(value, gap=gaps.get(name))
    fields: dict[str, Any] = {
        "key": spec.key,
        "model_key": spec.model_key,
        "spec": spec.model_dump(mode="json"),
        "status": "ok",
        "stop_reason": None,
        "metrics": measured,
        "cost": make_cost(),
        "losses": (1.5, 0.5),
        "diagnostics": {"weight_change": 0.25},
        "forget_hash": None if spec.scenario is None else "f" * 16,
        "forget_count": 0 if spec.scenario is None else 100,
        "retain_count": 1000 if spec.scenario is None else 900,
        "data_hash": "d" * 16,
        "versions": {"mucore": "0.1.0", "numpy": np.__version__},
        "device": "cpu",
        "started": START,
        "finished": START + timedelta(seconds=2),
    }
    return Result(**(fields | changes))


def make_model(model_key: str, **changes: Any) -> Model:
    """The row of a model; `changes` sets any field of `Model`."""
    fields: dict[str, Any] = {
        "spec": {},
        "weights": None,
        "status": "ok",
        "stop_reason": None,
        "cost": {},
        "losses": (),
        "diagnostics": {},
        "notes": (),
        "device": "cpu",
        "precision": "fp32",
        "created": START,
    }
    return Model(model_key=model_key, **fields | changes)


def execute_all(home: Path, specs: Iterable[RunSpec]) -> None:
    """Compute runs, references first, into the store of a home."""
    from mucore.runner.execute import execute
    from mucore.runner.session import Session
    from mucore.store import open_store

    with open_store(home) as store:
        session = Session(store, "cpu")
        for spec in specs:
            execute(spec, session)


def make_cost(**changes: Any) -> dict[str, Any]:
    """The cost mapping of a run; `seconds`, bytes and samples."""
    return {
        "seconds": 2.0,
        "steps": 30,
        "reads": {"retain/backward": 1800, "forget/forward": 100},
        "prepared_seconds": 0.0,
        "prepared_for_request_seconds": 0.0,
        "persistent_bytes": 0,
        "scratch_bytes": 4096,
        "peak_memory_bytes": 1 << 20,
        "device": "cpu",
        "precision": "fp32",
        "threads": 1,
        "shared_device": False,
    } | changes


def make_outputs(
    seed: int = 0,
    *,
    splits: Sequence[str] = ("forget", "retain", "test"),
    samples: int = 12,
    classes: int = 3,
) -> Outputs:
    """Random outputs with features in all splits but the last."""
    generator = np.random.default_rng(seed)
    made: dict[str, SplitOutputs] = {}
    for number, name in enumerate(splits):
        logits = generator.normal(size=(samples, classes)).astype(np.float32)
        labels = generator.integers(0, classes, samples)
        made[name] = SplitOutputs(
            logits=logits,
            labels=labels,
            ids=np.arange(number * samples, (number + 1) * samples),
            confusion=confusion(labels, logits.argmax(1), classes),
            features=None
            if name == splits[-1]
            else generator.normal(size=(samples // 2, 5)).astype(np.float16),
        )
    return Outputs(made)


def full_results(
    *,
    methods: Sequence[str] = ("finetune", "gradient_ascent", "salun"),
    scenarios: Sequence[str] = ("one_class", "class_wise"),
    seeds: Sequence[int] = (0, 1),
    dataset: str = "digits",
    model: str = "mlp",
) -> list[Result]:
    """The results of a comparison, references first: per seed the original's training, then per
    scenario original, retrain and methods.

    Methods whose card refuses a scenario are left out of it, as the planner would. Gaps are value
    minus Retrain's of the same seed.
    """
    generator = np.random.default_rng(0)
    results: list[Result] = []
    for seed in seeds:
        results.append(
            make_result(
                dataset=dataset,
                model=model,
                scenario=None,
                training_seed=seed,
                metrics={"ta": 0.89, "va": 0.88, "unlearning_seconds": 2.0},
            )
        )
        for scenario in scenarios:
            class_wise = catalog.scenario(scenario).class_wise
            names = [name for name in TYPICAL if class_wise or name not in ("tra", "tfa")]
            reference: dict[str, float] = {}
            for method in ("original", "retrain", *methods):
                allowed = catalog.method(method).scenarios
                if allowed is not None and scenario not in allowed:
                    continue
                values = {
                    name: _draw(generator, name, spread=0.2 if method == "retrain" else 1.0)
                    for name in names
                }
                if method == "retrain":
                    reference = values
                seconds = (
                    30.0 if method in ("original", "retrain") else float(generator.uniform(1, 10))
                )
                gaps = (
                    {name: values[name] - reference[name] for name in names}
                    if method not in ("original", "retrain")
                    else {}
                )
                values |= {"unlearning_seconds": seconds, "rte": seconds / 30.0}
                results.append(
                    make_result(
                        dataset=dataset,
                        model=model,
                        scenario=scenario,
                        method=method,
                        training_seed=seed,
                        metrics=values,
                        gaps=gaps,
                        cost=make_cost(seconds=seconds),
                        finished=START + timedelta(minutes=len(results)),
                    )
                )
    return results


def full_store(
    path: Path | str,
    *,
    methods: Sequence[str] = ("finetune", "gradient_ascent", "salun"),
    scenarios: Sequence[str] = ("one_class", "class_wise"),
    seeds: Sequence[int] = (0, 1),
) -> Store:
    """A store in folder `path` with `full_results` and one comparison named "Everything" of all of
    them. The caller closes it.
    """
    from mucore.store import open_store

    store = open_store(path)
    results = full_results(methods=methods, scenarios=scenarios, seeds=seeds)
    for result in results:
        store.put_result(result)
    grid = {
        "dataset": "digits",
        "model": "mlp",
        "methods": list(methods),
        "scenarios": list(scenarios),
        "training_seeds": list(seeds),
    }
    store.create_comparison(
        "Everything",
        "Made for a test.",
        grid,
        [result.key for result in results if result.spec["scenario"] is not None],
    )
    return store


def _draw(generator: np.random.Generator, metric: str, *, spread: float) -> float:
    centre, width = TYPICAL[metric]
    value = centre + spread * width * float(generator.normal())
    return value if metric.startswith("l2") else min(max(value, 0.0), 1.0)


def attributes_file(path: Path, *, seed: int = 0, train: int = 360, held: int = 120) -> Path:
    """An npz file of 4 by 4 grey images with three yes-or-no labels each, six images a person;
    nobody is in two splits.
    """
    generator = np.random.default_rng(seed)
    shifts = generator.normal(0, 0.06, (3, 16))
    arrays: dict[str, np.ndarray] = {}
    for number, (split, count) in enumerate({"train": train, "val": held, "test": held}.items()):
        labels = generator.integers(0, 2, (count, 3))
        values = 0.5 + (2 * labels - 1) @ shifts + generator.normal(0, 0.1, (count, 16))
        arrays[f"x_{split}"] = (
            (values.clip(0, 1) * 255).round().astype(np.uint8).reshape(count, 4, 4)
        )
        arrays[f"y_{split}"] = labels
        arrays[f"identity_{split}"] = 1000 * number + np.arange(count) // 6
    np.savez(path, allow_pickle=False, **arrays)
    return path


def replay_value(
    forget: list[float],
    *,
    retain: list[float] | None = None,
    test: list[float] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """A replay of as many frames as `forget` has: shares in percent of 100 samples each that are
    right; class 0 goes whole.
    """
    frames = len(forget)
    rng = np.random.default_rng(0)
    made: dict[str, Any] = {
        "steps": np.arange(frames) * 3,
        "work": np.linspace(0, 1, frames),
        "classes": 3,
        "gone": [0],
    }
    made |= {
        "between": frames > 2,
        "same": True,
        "notes": [],
        "totals": {"forget": 100, "retain": 900, "test": 400},
    }
    for name, shares in (
        ("forget", forget),
        ("retain", retain or [99.0] * frames),
        ("test", test or [90.0] * frames),
    ):
        labels = (
            np.zeros(100, np.uint8) if name == "forget" else np.arange(100, dtype=np.uint8) % 2 + 1
        )
        right = np.arange(100) < np.array(shares)[:, None]
        made |= {
            f"{name}/ids": np.arange(100),
            f"{name}/labels": labels,
            f"{name}/predicted": np.where(right, labels, (labels + 1) % 3).astype(np.uint8),
            f"{name}/probability": np.where(right, 0.975, 0.01).astype(np.float16),
        }
    made |= {
        "stayed": np.linspace(1, 0.5, frames, dtype=np.float32),
        "nearest": 0.9,
        "map/points": rng.normal(size=(frames, 8, 2)).astype(np.float16),
        "map/ids": np.arange(8),
        "map/labels": np.array([0, 0, 0, 1, 1, 2, 2, 2]),
        "map/forgotten": np.arange(8) < 3,
    }
    return made | changes


def literal_unbiased(x: np.ndarray, y: np.ndarray) -> float:
    """The U-statistic of HSIC as it is written, from Gram matrices that nobody centred (Song et
    al., 2012).
    """

    def hsic(k: np.ndarray, m: np.ndarray) -> float:
        n, one = len(k), np.ones(len(k))
        k, m = k - np.diag(np.diag(k)), m - np.diag(np.diag(m))
        product = k @ m
        return (
            np.trace(product)
            + (one @ k @ one) * (one @ m @ one) / ((n - 1) * (n - 2))
            - 2 / (n - 2) * (one @ product @ one)
        ) / (n * (n - 3))

    k, m = x @ x.T, y @ y.T
    return hsic(k, m) / math.sqrt(hsic(k, k) * hsic(m, m))


def delete_result(store: Store, key: str) -> None:
    """Forget a result, as nobody but a test does."""
    result = schema.result
    with store.write("results") as connection:
        connection.execute(sa.delete(result).where(result.c.key == key))
