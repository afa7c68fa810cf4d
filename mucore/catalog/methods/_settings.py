"""Parameters that many methods have, written once."""

from __future__ import annotations

from mucore.catalog.cards import Between, Parameter

MUBOX_EPOCHS = 200  # MUBox trains 200 epochs; the defaults below were run on such models

# of a search: passes over the retain set up to a third of the training, the cap of all methods
RETAIN_EPOCHS = Between(1, "max(1, recipe_epochs / 3)")


def lr(
    default: float,
    low: float = 1e-6,
    high: float = 1.0,
    *,
    name: str = "lr",
    help: str = "Learning rate.",
) -> Parameter:
    return Parameter(
        name=name, kind="float", default=default, low=low, high=high, log=True, help=help
    )


def epochs(default: int, over: str, *, scaled: bool) -> Parameter:
    return Parameter(
        name="epochs",
        kind="int",
        default=default,
        low=0,
        high=500,
        help=f"Passes over {over}.",
        unit="epochs",
        scales_with_epochs=scaled,
    )


def batch(default: int, name: str = "batch_size", of: str = "samples") -> Parameter:
    return Parameter(
        name=name,
        kind="int",
        default=default,
        low=1,
        high=4096,
        log=True,
        help=f"Batch size, in {of}.",
    )


def momentum(default: float = 0.9) -> Parameter:
    return Parameter(
        name="momentum", kind="float", default=default, low=0.0, high=0.999, help="Momentum of SGD."
    )


def decay(default: float = 5e-4) -> Parameter:
    return Parameter(
        name="weight_decay",
        kind="float",
        default=default,
        low=0.0,
        high=1.0,
        help="Weight decay of the optimiser.",
    )


def clip(default: float | None) -> Parameter:
    return Parameter(
        name="grad_clip",
        kind="float",
        default=default,
        low=1e-6,
        high=1e6,
        log=True,
        optional=True,
        help="Largest gradient norm; none: no clipping.",
    )


def bn(default: str) -> Parameter:
    return Parameter(
        name="bn",
        kind="choice",
        default=default,
        choices=("train", "frozen"),
        help="Batch norm: batch statistics, or the original's running ones.",
    )
