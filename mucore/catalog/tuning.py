"""Where the tuning looks, method by method, and what it found: data for scripts/tune.py and for the
preset `tuned` of the cards.

The ranges are those of the methods' papers and codes, epochs over the retain set cut to a fifth of
a training of 15 epochs. A parameter that is not named stays at the authors' value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOUND = Path(__file__).with_name("tuned.json")  # written by scripts/tune.py --write


@dataclass(frozen=True)
class Between:
    """A number from low to high, both included; whole where the parameter is."""

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Among:
    """One of a few values."""

    values: tuple[Any, ...]


def among(*values: Any) -> Among:
    return Among(values)


def log(low: float, high: float) -> Between:
    return Between(low, high, log=True)


RETAIN_EPOCHS = Between(1, 3)
BN = among("frozen", "train")
SCRUB = {
    "lr": log(1e-4, 5e-2),
    "epochs": Between(2, 4),
    "msteps": Between(1, 3),
    "alpha": among(0.001, 0.01, 0.1, 0.5, 1.0),
    "retain_batch_size": among(64, 128),
    "forget_batch_size": among(16, 64, 256, 512),
}

SPACES: dict[str, dict[str, Between | Among]] = {
    "gradient_ascent": {
        "lr": log(1e-6, 1e-2),
        "epochs": Between(1, 10),
        "stop_loss": among(1.0, 2.0, 3.0),
        "bn": BN,
    },
    "neggrad_plus": {
        "lr": log(1e-4, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "retain_weight": among(0.9, 0.95, 0.99, 0.999, 0.9999),
        "batch_size": among(64, 128, 256),
    },
    "advanced_neggrad": {
        "lr": log(1e-5, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "momentum": among(0.0, 0.9),
        "batch_size": among(64, 128, 256),
    },
    "unrolling": {
        "lr": log(1e-4, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "kappa": log(0.1, 1e3),
        "batch_size": among(64, 128, 256),
    },
    "amnesiac": {
        "lr": log(1e-3, 1e-1),
        "repair_epochs": RETAIN_EPOCHS,
        "batch_size": among(64, 128, 256),
    },
    "ssd": {
        "alpha": log(1.0, 100.0),
        "lam": among(0.1, 0.5, 1.0),
        "fisher": among("batch", "sample"),
        "order": among("shuffled", "retain_then_forget"),
        "batch_size": among(128),  # one for both scenarios, where the authors have two
    },
    "l_codec": {
        "l2_reg": log(0.01, 0.1),
        "epsilon": among(0.1, None),
        "cap": among(10, 50, 200),
        "perturbations": among(50, 100, 250),
    },
    "first_order": {
        "tau": log(1e-6, 1.0),
        "steps": among(1, 5, 10),
        "param_scope": among("all", "last_block", "head"),
    },
    "second_order": {
        "solver": among("cg_ggn", "cg_hessian"),
        "damping": log(1e-3, 10.0),
        "zeta": log(1e-2, 1e3),
        "hvp_samples": among(500, 1000, 2000),
        "iterations": among(10, 20, 50),
    },
    "fisher": {"alpha": log(1e-10, 1e-5), "power": among("half", "quarter")},
    "ntk": {
        "mu": log(0.01, 1.0),
        "scale": among("trapezium", "fixed"),
        "kappa": log(1.0, 100.0),
        "retain_samples": among(100, 200, 500),
        "iterations": among(10, 30, 100),
    },
    "bad_teacher": {
        "lr": log(1e-5, 1e-2),
        "epochs": Between(1, 5),
        "retain_fraction": among(0.1, 0.3, 1.0),
        "temperature": among(1.0, 2.0, 4.0),
        "batch_size": among(64, 128, 256),
    },
    "scrub": SCRUB,
    "scrub_rewind": SCRUB,
    "delete": {"lr": log(1e-5, 1e-1), "epochs": Between(5, 20), "bn": BN},
    "lotus": {
        "lr": log(1e-5, 1e-2),
        "epochs": Between(1, 10),
        "alpha": among(1.0, 2.0, 4.0, 8.0),
        "retain_fraction": among(0.1, 0.3, 1.0),
    },
    "gkt": {
        "batches": Between(5, 60),
        "batch_size": among(32, 64, 128),
        "epsilon": log(1e-4, 0.1),
        "beta": among(5.0, 50.0, 250.0),
    },
    "random_labels": {
        "lr": log(1e-4, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "mode": among("sequential", "mixed_fixed", "mixed_fresh", "forget_only"),
        "batch_size": among(64, 128, 256),
    },
    "pseudo_labels": {"lr": log(1e-5, 1e-1), "epochs": Between(1, 25), "bn": BN},
    "boundary_shrink": {
        "epsilon": among(4 / 255, 8 / 255, 0.1),
        "lr": log(1e-6, 1e-2),
        "epochs": Between(5, 20),
        "bn": BN,
    },
    "boundary_expanding": {"lr": log(1e-6, 1e-2), "epochs": Between(5, 20), "bn": BN},
    "unsir": {
        "class_noise_steps": Between(20, 80),
        "impair_lr": log(1e-4, 2e-2),
        "repair_lr": log(1e-4, 2e-2),
        "instance_lr": log(1e-4, 1e-1),
        "instance_epochs": Between(1, 3),
    },
    "amun": {
        "lr": log(1e-4, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "decay_every": among(1, 5),
        "sets": among("all", "no_retain", "no_forget"),
        "attack_steps": among(10, 20, 50),
    },
    "munba": {
        "lr": log(1e-3, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "batch_size": among(64, 128, 256),
        "bn": BN,
    },
    "finetune": {"lr": log(1e-4, 1e-1), "epochs": RETAIN_EPOCHS, "batch_size": among(64, 128, 256)},
    "salun": {
        "lr": log(5e-4, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "density": among(0.1, 0.3, 0.5, 0.7, 0.9),
        "label_pool": among("all", "others"),
        "batch_size": among(64, 128, 256),
    },
    "l1_sparse": {
        "lr": log(1e-3, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "alpha": log(1e-6, 1e-2),  # the papers' upper end is 1e-3; fewer steps need more
        "prune": among(0.0, 0.5, 0.8, 0.95),
        "batch_size": among(64, 128, 256),
    },
    "cf_k": {
        "lr": log(1e-4, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "k": Between(1, 4),
        "batch_size": among(64, 128, 256),
    },
    "eu_k": {
        "lr": log(1e-2, 0.3),
        "epochs": Between(2, 8),
        "k": Between(1, 3),
        "batch_size": among(64, 128, 256),
    },
    "rum": {
        "low": among("nothing", "finetune"),
        "medium_lr": log(1e-3, 0.1),
        "medium_epochs": Between(1, 2),
        "high": among("salun", "neggrad_plus"),
        "high_lr": log(1e-3, 0.1),
        "high_epochs": Between(1, 2),
    },
    "pgu": {
        "lr": log(1e-3, 0.5),
        "lr_end": log(1e-3, 0.5),
        "epochs": Between(10, 100, log=True),
        "retained_var": Between(0.8, 0.99),
        "entropy_weight": among(0.0, 0.1, 0.2, 0.5),
        "batch_size": among(128),
        "class_stop": among("validation"),
    },
    "sfron": {
        "lr": log(1e-3, 1e-1),
        "iterations": Between(50, 400, log=True),
        "alpha": log(0.1, 1e3),
        "gamma": among(0.3, 1.0, 3.0),
    },
    "duck": {
        "lr": log(1e-5, 2e-3),
        "class_lr": log(1e-5, 2e-3),
        "epochs": Between(2, 10),
        "lambda_1": log(0.1, 5.0),
        "lambda_2": log(0.1, 5.0),
        "retain_batches": among(5, 10, 20, 40),
    },
    "contrastive": {
        "lr": log(1e-4, 1e-2),
        "temperature": Between(0.1, 1.0),
        "lambda_unlearn": log(0.5, 10.0),
        "lambda_ce": log(0.5, 2.0),
        "repeats": Between(1, 8),
    },
    "scar": {
        "lr": log(1e-5, 2e-3),
        "epochs": Between(5, 30),
        "lambda_2": log(0.05, 10.0),
        "delta": among(0.25, 0.5, 1.0),
        "surrogate_batches": among(1, 3, 5),
    },
    "fcs": {
        "lr": log(1e-4, 1e-1),
        "forget_lr": log(1e-4, 1e-1),
        "contrast_lr": log(1e-4, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "temperature": Between(0.5, 5.0),
    },
    "msg": {
        "lr": log(1e-4, 1e-1),
        "epochs": RETAIN_EPOCHS,
        "share": Between(0.05, 0.9),
        "kept_factor": among(0.05, 0.1, 0.3, 1.0),
    },
    "ct": {"lr": log(1e-3, 1e-1), "epochs": RETAIN_EPOCHS, "batch_size": among(64, 128)},
    "niu": {
        "lr": log(1e-4, 5e-2),
        "last_lr": log(1e-4, 5e-2),
        "noise_epochs": Between(1, 2),
        "chosen_tensors": Between(3, 18),
        "noise_share": Between(0.1, 1.0),
        "sigma": log(0.005, 0.3),
    },
}


def found() -> Mapping[str, Mapping[str, Any]]:
    """The tuned values of each method; those of no method where nothing was ever tuned."""
    return json.loads(FOUND.read_text())["methods"] if FOUND.is_file() else {}
