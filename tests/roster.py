"""The roster of methods as tests run it: what each does on the toy problems, and short settings.

A new method needs its line here; toy.py and methods/test_conformance.py read it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Expected:
    """How a method behaves on the toys."""

    # epochs and batches fit for a toy, where the authors' take long; all else is the authors'
    short: Mapping[str, Any] = field(default_factory=dict)
    # Parameters under which nothing is learned; with `epochs=0`, too, nothing may change. None:
    # weights are replaced whatever the strength.
    zero: Mapping[str, Any] | None
    stochastic: bool = True
    # class-wise, the perceptron: parameters under which FA <= 0.05 and RA >= 0.9
    forgets: Mapping[str, Any] | None = None
    # on the forgotten class with the short settings; False: it must not rise
    lowers_accuracy: bool = True
    # the problem on which that is seen: the perceptron has no convolution
    direction_on: str = "mlp"


ROSTER: Mapping[str, Expected] = {
    "advanced_neggrad": Expected(
        short={"epochs": 2, "batch_size": 64, "lr": 0.005}, zero={"lr": 0.0}
    ),
    "amnesiac": Expected(
        short={"repair_epochs": 4, "batch_size": 64, "lr": 0.05}, zero=None, forgets={}
    ),
    "amun": Expected(
        short={"epochs": 2, "batch_size": 64}, zero={"lr": 0.0}, lowers_accuracy=False
    ),
    "bad_teacher": Expected(short={"epochs": 1, "batch_size": 64, "lr": 0.001}, zero={"lr": 0.0}),
    "boundary_expanding": Expected(
        short={"epochs": 3, "batch_size": 32, "lr": 0.001},
        zero={"lr": 0.0},
        forgets={"lr": 0.01, "epochs": 5, "stop_share": None},
    ),
    "boundary_shrink": Expected(
        short={"epochs": 3, "batch_size": 32, "lr": 0.001},
        zero={"lr": 0.0},
        forgets={"lr": 0.01, "epochs": 5},
    ),
    "cf_k": Expected(
        short={"epochs": 2, "batch_size": 64, "lr": 0.1}, zero={"lr": 0.0}, lowers_accuracy=False
    ),
    "contrastive": Expected(
        short={"epochs": 3, "batch_size": 32, "class_batch_size": 32},
        zero={"lr": 0.0},
        forgets={"lr": 0.05, "epochs": 10},
    ),
    "ct": Expected(short={"epochs": 2}, zero={"lr": 0.0}, direction_on="conv"),
    "delete": Expected(
        short={"epochs": 3, "batch_size": 32, "lr": 0.001},
        zero={"lr": 0.0},
        forgets={"lr": 0.01, "epochs": 5},
    ),
    "duck": Expected(
        short={"epochs": 3, "batch_size": 64, "class_batch_size": 64, "retain_batches": 5},
        zero={"lr": 0.0, "class_lr": 0.0},
        forgets={"class_lr": 0.003, "epochs": 10},
    ),
    "eu_k": Expected(short={"epochs": 3, "batch_size": 64}, zero=None),
    "fcs": Expected(
        short={"epochs": 2, "batch_size": 64, "forget_batch_size": 32},
        zero={"lr": 0.0, "forget_lr": 0.0, "contrast_lr": 0.0},
        lowers_accuracy=False,
    ),
    "finetune": Expected(
        short={"epochs": 2, "batch_size": 64}, zero={"lr": 0.0}, lowers_accuracy=False
    ),
    "first_order": Expected(
        short={"tau": 0.01, "batch_size": 64}, zero={"tau": 0.0}, stochastic=False
    ),
    "fisher": Expected(short={"batch_size": 64}, zero=None),
    "gkt": Expected(
        short={"batches": 4, "check_every": 2, "batch_size": 64, "student_steps": 3}, zero=None
    ),
    "gradient_ascent": Expected(
        short={"epochs": 3, "batch_size": 32, "lr": 0.001},
        zero={"lr": 0.0, "stop_loss": None},
        lowers_accuracy=False,
    ),
    "head_distillation": Expected(
        short={"batch_size": 64, "epochs": 5}, zero={"lr": 0.0}, forgets={"epochs": 40}
    ),
    "l1_sparse": Expected(
        short={"epochs": 2, "batch_size": 64}, zero={"lr": 0.0}, lowers_accuracy=False
    ),
    "l2ul": Expected(
        short={"copies": 2, "attack_steps": 5, "iterations": 4, "lr": 0.001}, zero={"lr": 0.0}
    ),
    "l_codec": Expected(
        short={"perturbations": 40, "cap": 5, "group": 32, "l2_reg": 0.2},
        zero={"l2_reg": 1e30, "epsilon": None},
        lowers_accuracy=False,
    ),
    "lotus": Expected(short={"epochs": 2, "batch_size": 64, "lr": 0.001}, zero={"lr": 0.0}),
    "msg": Expected(short={"epochs": 2}, zero={"lr": 0.0, "share": 0.0}, direction_on="conv"),
    "munba": Expected(short={"epochs": 2, "batch_size": 64}, zero={"lr": 0.0}),
    "neggrad_plus": Expected(
        short={"epochs": 2, "batch_size": 64, "retain_weight": 0.9}, zero={"lr": 0.0}
    ),
    "niu": Expected(
        short={"noise_epochs": 1, "fine_epochs": 1},
        zero={"lr": 0.0, "last_lr": 0.0, "sigma": 0.0, "reset_output": False},
    ),
    "ntk": Expected(short={"retain_samples": 60}, zero={"scale": "fixed", "kappa": 0.0}),
    "pgu": Expected(short={"epochs": 5, "batch_size": 64}, zero={"lr": 0.0}, lowers_accuracy=False),
    "pseudo_labels": Expected(
        short={"epochs": 2, "batch_size": 32, "lr": 0.001},
        zero={"lr": 0.0},
        forgets={"lr": 0.01, "epochs": 5},
    ),
    "random_labels": Expected(short={"epochs": 2, "batch_size": 64}, zero={"lr": 0.0}),
    "rum": Expected(
        short={"medium_epochs": 1, "high_epochs": 2, "batch_size": 64},
        zero={"medium": "nothing", "high": "nothing"},
    ),
    "salun": Expected(
        short={"epochs": 2, "batch_size": 64},
        zero={"lr": 0.0},
        forgets={"lr": 0.1, "epochs": 5, "label_pool": "others"},
    ),
    "scar": Expected(
        short={"epochs": 4, "batch_size": 64, "class_surrogate_batches": 2},
        zero={"lr": 0.0},
        forgets={"lr": 0.005, "epochs": 30},
    ),
    "scrub": Expected(
        short={
            "epochs": 3,
            "msteps": 2,
            "retain_batch_size": 64,
            "forget_batch_size": 32,
            "lr": 0.005,
        },
        zero={"lr": 0.0},
    ),
    "scrub_rewind": Expected(
        short={
            "epochs": 3,
            "msteps": 2,
            "retain_batch_size": 64,
            "forget_batch_size": 32,
            "lr": 0.005,
        },
        zero={"lr": 0.0},
    ),
    "second_order": Expected(
        short={"scale": 10.0, "zeta": 10.0, "hvp_batch_size": 256},
        zero={"zeta": 0.0},
        stochastic=False,
    ),
    "sfron": Expected(
        short={"iterations": 20, "batch_size": 64}, zero={"lr": 0.0}, forgets={"lr": 0.05}
    ),
    "sisa": Expected(
        short={"shards": 3, "slices": 2, "epochs": 6}, zero=None, stochastic=False, forgets={}
    ),
    "ssd": Expected(short={"batch_size": 64, "alpha": 2.0}, zero={"alpha": float("inf")}),
    "unrolling": Expected(
        short={"epochs": 2, "batch_size": 64}, zero={"lr": 0.0}, lowers_accuracy=False
    ),
    "unsir": Expected(
        short={"batch_size": 64, "noise_batches": 3, "class_noise_steps": 10},
        zero={"impair_lr": 0.0, "repair_lr": 0.0},
    ),
}
