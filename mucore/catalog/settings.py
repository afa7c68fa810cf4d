"""Parameters in short: one by its kind, and those that many methods have.

Those by kind take the parameter's help in a call of its own, so that a card has it in two lines:
`real("margin", 0.015, 0.0, 1.0)("How far below the original it stops.")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mucore.catalog.cards import Between, Kind, Parameter

MUBOX_EPOCHS = 200  # MUBox trains 200 epochs; the defaults below were run on such models

# of a search: passes over the retain set up to a third of the training, the cap of all methods
RETAIN_EPOCHS = Between(1, "max(1, recipe_epochs / 3)")

Described = Callable[[str], Parameter]  # what it takes is the help


def setting(name: str, kind: Kind, default: Any, *bounds: float | None, **others: Any) -> Described:
    """A parameter that waits for its help; `bounds` are its lowest and highest value."""
    return lambda help: Parameter(name, kind, default, *bounds, help=help, **others)


def integer(name: str, default: int | None, *bounds: int | None, **others: Any) -> Described:
    return setting(name, "int", default, *bounds, **others)


def real(name: str, default: float | None, *bounds: float | None, **others: Any) -> Described:
    return setting(name, "float", default, *bounds, **others)


def choice(name: str, default: str | None, choices: tuple[str, ...], **others: Any) -> Described:
    return setting(name, "choice", default, choices=choices, **others)


def switch(name: str, default: bool, **others: Any) -> Described:
    return setting(name, "bool", default, **others)


def lr(
    default: float, *, name: str = "lr", help: str = "Learning rate.", **others: Any
) -> Parameter:
    return real(name, default, 1e-6, 1.0, log=True, **others)(help)


def epochs(
    default: int, over: str, *, scaled: bool, name: str = "epochs", **others: Any
) -> Parameter:
    return integer(name, default, 0, 500, unit="epochs", scales_with_epochs=scaled, **others)(
        f"Passes over {over}."
    )


def batch(default: int, name: str = "batch_size", of: str = "samples", **others: Any) -> Parameter:
    return integer(name, default, 1, 4096, log=True, **others)(f"Batch size, in {of}.")


def momentum(default: float = 0.9) -> Parameter:
    return real("momentum", default, 0.0, 0.999)("Momentum of SGD.")


def decay(default: float = 5e-4) -> Parameter:
    return real("weight_decay", default, 0.0, 1.0)("Weight decay of the optimiser.")


def sgd(batch_size: int) -> tuple[Parameter, ...]:
    """What many methods train with."""
    return momentum(), decay(), batch(batch_size)


def clip(default: float | None) -> Parameter:
    return real("grad_clip", default, 1e-6, 1e6, log=True, optional=True)(
        "Largest gradient norm; none: no clipping."
    )


def bn(default: str) -> Parameter:
    return choice("bn", default, ("train", "frozen"))(
        "Batch norm: batch statistics, or the original's running ones."
    )
