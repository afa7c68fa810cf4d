"""Runs of known similarity to the original and to Retrain, as the store's frames hold them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dashboard import frames
from dashboard.frames import representation as computed
from mucore.verdicts import Judged, Verdict, Word

# CKA to the original, CKA to Retrain, average gap, AGL, AGR of one run each; the original and
# Retrain are alike by 0.9
NUMBERS = {
    "original": (1.0, 0.9, 0.30, 0.2, 0.6),
    "retrain": (0.9, 1.0, 0.0, 1.0, 1.0),
    "finetune": (0.99, 0.91, 0.20, 0.5, 0.8),
    "scrub": (0.98, 0.94, 0.10, 0.8, 0.7),
    "duck": (0.95, 0.97, 0.02, 0.9, 0.9),
    "salun": (0.80, 0.72, 0.01, 0.95, 0.5),
}


METRICS = ("cka_original_test", "cka_retrain_test", "average_gap_classes", "agl", "agr")


def line(
    method: str, seed: int = 0, status: str = "ok", parameters: str = "{}", scenario: str = "{}"
) -> dict:
    return {
        "key": f"{method}-{seed}",
        "method": method,
        "method_preset": "authors",
        "parameters": parameters,
        "scenario": "class_wise",
        "scenario_parameters": scenario,
        "training_seed": seed,
        "unlearning_seed": 0,
        "evaluation_seed": 0,
        "status": status,
    }


def long(values: Sequence[tuple[str, str, float | None]], error: str | None = None) -> pd.DataFrame:
    return pd.DataFrame(
        [(*each, None, error if each[2] is None else None) for each in values],
        columns=["key", "metric", "value", "gap", "error"],
    )


def rows() -> tuple[frames.Row, ...]:
    lines = [*(line(method) for method in NUMBERS), line("sisa")]
    values: list[tuple[str, str, float | None]] = [
        (f"{method}-0", name, value)
        for method, numbers in NUMBERS.items()
        for name, value in zip(METRICS, numbers, strict=True)
    ]
    values += [("sisa-0", "cka_original_test", None), ("sisa-0", "cka_retrain_test", None)]
    return computed.similarity_rows(
        pd.DataFrame(lines), long(values, "An <ensemble> has no features."), "test"
    )


def cka(**pairs: tuple[float, float]) -> list[tuple[str, str, float | None]]:
    """Values of runs, key with "_" for "-": CKA to the original and to Retrain on the test set."""
    return [
        (key.replace("_", "-"), f"cka_{name}_test", value)
        for key, both in pairs.items()
        for name, value in zip(("original", "retrain"), both, strict=True)
    ]


def judgements(**lines: tuple[Word, float]) -> dict[str, Judged]:
    """By key of the first run of a method: its word and its distance to Retrain."""
    return {
        f"{method}-0": Judged(
            setting=("digits", "mlp", "{}", "class_wise", "{}"),
            method=method,
            parameters="{}",
            keys=(f"{method}-0",),
            verdict=Verdict(word=word, metric="", sentence="", shown=True),
            distances={0: distance},
        )
        for method, (word, distance) in lines.items()
    }
